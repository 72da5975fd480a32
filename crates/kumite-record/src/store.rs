//! The results of many runs in one SQLite file, which another process may read while a run writes to it.
//!
//! Everything that was passed to a call is on the disk when the call returns, so a run that is killed loses at most
//! the trial in flight. A run that has ended is sealed: rows that are removed or changed later are noticed when the
//! run is read.

mod place;
mod seal;

pub use place::NotRescued;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, TransactionBehavior, params};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{
    Check, Claim, Comparison, Contender, Histogram, LoadResult, Machine, Run, SelfCheck, Trial, Warning,
    judge_outputs,
};

/// The version of a store, kept in SQLite's `user_version`. It grows when a table changes, or the meaning of what a
/// table keeps.
const VERSION: u32 = 6;

const TABLES: &str = "
    CREATE TABLE run (
        id         TEXT PRIMARY KEY,
        experiment TEXT NOT NULL,
        started    TEXT NOT NULL,
        run        TEXT NOT NULL,
        machine    TEXT NOT NULL,
        trials     INTEGER,
        digest     TEXT
    ) STRICT;
    CREATE TABLE contender (
        run       TEXT NOT NULL REFERENCES run(id) ON DELETE CASCADE,
        name      TEXT NOT NULL,
        contender TEXT NOT NULL,
        PRIMARY KEY (run, name)
    ) STRICT;
    CREATE TABLE trial (
        run   TEXT NOT NULL REFERENCES run(id) ON DELETE CASCADE,
        seq   INTEGER NOT NULL,
        trial TEXT NOT NULL,
        PRIMARY KEY (run, seq)
    ) STRICT;
    CREATE TABLE histogram (
        run  TEXT NOT NULL,
        seq  INTEGER NOT NULL,
        name TEXT NOT NULL,
        hdr  BLOB NOT NULL,
        PRIMARY KEY (run, seq, name),
        FOREIGN KEY (run, seq) REFERENCES trial(run, seq) ON DELETE CASCADE
    ) STRICT;
    CREATE TABLE verdict (
        run   TEXT NOT NULL REFERENCES run(id) ON DELETE CASCADE,
        nth   INTEGER NOT NULL,
        claim TEXT NOT NULL,
        PRIMARY KEY (run, nth)
    ) STRICT;
    CREATE TABLE outcome (
        run     TEXT NOT NULL REFERENCES run(id) ON DELETE CASCADE,
        nth     INTEGER NOT NULL,
        outcome TEXT NOT NULL,
        PRIMARY KEY (run, nth)
    ) STRICT;
    CREATE TABLE warning (
        run     TEXT NOT NULL REFERENCES run(id) ON DELETE CASCADE,
        nth     INTEGER NOT NULL,
        warning TEXT NOT NULL,
        PRIMARY KEY (run, nth)
    ) STRICT;
    CREATE TABLE selfchecks (
        started   TEXT NOT NULL,
        kernel    TEXT NOT NULL,
        cpu       TEXT NOT NULL,
        cpus      INTEGER NOT NULL,
        selfcheck TEXT NOT NULL
    ) STRICT;
    CREATE TABLE named (
        name TEXT PRIMARY KEY,
        kept TEXT NOT NULL
    ) STRICT;
";

/// The longest wait for another process that is writing to the file.
const PATIENCE: Duration = Duration::from_secs(10);

/// A document that is kept under a name of the user's choice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Named {
    /// A comparison of commands or of servers.
    Comparison(Box<Comparison>),
    /// The document of `kumite load`.
    Load(Box<LoadResult>),
}

/// The reason why the store could not do what was asked.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The file could not be opened or made.
    #[error("cannot open the results store {path}: {source}{}", remedy(.source.as_ref()))]
    Open {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system or of SQLite, or the text that there is no such file.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The file has another version than this kumite reads.
    #[error(
        "the results store {path} is of version {found}, and this kumite reads version {VERSION}: use the kumite that wrote \
         it, move the file away, or give another by --db FILE"
    )]
    OtherVersion {
        /// The path of the file.
        path: PathBuf,
        /// The version that the file has; 0 if the file was opened for reading only, and no kumite has made tables in
        /// it.
        found: u32,
    },
    /// No run has the name for its id, or for the beginning of its id; or `last` was asked for and there is no run.
    #[error("no run '{id}' in the results store {path}; `kumite list --runs` shows those that are there")]
    NoSuchRun {
        /// The name that was asked for.
        id: String,
        /// The path of the file.
        path: PathBuf,
    },
    /// The ids of several runs begin with the name.
    #[error("'{id}' is the beginning of {} runs: {}", .matches.len(), .matches.join(", "))]
    Ambiguous {
        /// The name that was asked for.
        id: String,
        /// The ids of the runs that begin with the name.
        matches: Vec<String>,
    },
    /// SQLite could not read or write the file. For example, the file is damaged, another process was writing to it for
    /// more than 10 s, or a new row has an id or a name that is there already.
    #[error("the results store {path}: {source}{}", remedy(.source))]
    Sqlite {
        /// The path of the file.
        path: PathBuf,
        /// The error of SQLite.
        source: rusqlite::Error,
    },
    /// The store's file was removed, moved or replaced while it was open. This is noticed after a change.
    #[error("the results store {path} was removed, moved or replaced while it was written to; {}", kept(.rescued))]
    Gone {
        /// The place where the file was.
        path: PathBuf,
        /// The file that the store's content was written to, or the reason why it could not be.
        rescued: Result<PathBuf, NotRescued>,
    },
    /// A run that has ended does not have the rows that it ended with.
    #[error(
        "the results store {path}: run {id} ended with {then} trials, and {}: rows were removed or changed since; use a copy \
         of the file from before that, or measure again",
        found(*.then, *.now)
    )]
    Changed {
        /// The path of the file.
        path: PathBuf,
        /// The id of the run.
        id: String,
        /// The number of trials that the run ended with.
        then: u32,
        /// The number of trials that are there now; the same as `then` if rows were changed and no trial is missing.
        now: u32,
    },
    /// A value of a row could not be read or written, or contradicts the id that the row is kept under.
    #[error("the results store {path}: {what}: {reason}")]
    Row {
        /// The path of the file.
        path: PathBuf,
        /// The kind of the row, such as `trial`; of a histogram its name, too, and when it is read the number of its
        /// trial.
        what: String,
        /// The fault, in words.
        reason: String,
    },
}

fn kept(rescued: &Result<PathBuf, NotRescued>) -> String {
    match rescued {
        Ok(file) => {
            let file = file.display();
            format!(
                "all that it had is in {file} now: with --db {file}, `kumite resume` goes on with a run that was begun"
            )
        }
        Err(why) => format!("what it had could not be written to another: {why}"),
    }
}

fn found(then: u32, now: u32) -> String {
    match now {
        _ if now == then => "what is kept of it now is something else".to_owned(),
        0 => "none is there".to_owned(),
        1 => "1 is there".to_owned(),
        _ => format!("{now} are there"),
    }
}

/// The remedy for an error of the system or SQLite, as a clause to append. Empty if none is known.
fn remedy(error: &(dyn std::error::Error + 'static)) -> &'static str {
    use rusqlite::ErrorCode::{
        CannotOpen, DatabaseCorrupt, DiskFull, NotADatabase, PermissionDenied, ReadOnly,
    };
    use std::io::ErrorKind;
    let sqlite = error.downcast_ref::<rusqlite::Error>().and_then(rusqlite::Error::sqlite_error_code);
    let system = error.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
    match (sqlite, system) {
        (Some(DiskFull), _) | (_, Some(ErrorKind::StorageFull)) => {
            "; free some space: `kumite resume` goes on with a run that was begun"
        }
        (Some(ReadOnly | CannotOpen | PermissionDenied), _)
        | (_, Some(ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied)) => {
            "; --db FILE names one that can be written to"
        }
        (Some(DatabaseCorrupt | NotADatabase), _) => {
            "; --db FILE names another, and `sqlite3 FILE .recover` saves what can be saved of this one"
        }
        _ => "",
    }
}

/// A run with everything that the store keeps of it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRun {
    /// The run itself, with its plan.
    pub run: Run,
    /// The machine that the run was executed on.
    pub machine: Machine,
    /// Every contender of the experiment.
    pub contenders: Vec<Contender>,
    /// The trials of the run with their histograms, in the order in which they began.
    pub trials: Vec<Trial>,
    /// The claims with their verdicts, in the order of the experiment.
    pub claims: Vec<Claim>,
    /// The checks with the run's answers, in the order of the experiment.
    pub checks: Vec<Check>,
    /// Doubts about the run or its cells; empty where there are none.
    pub warnings: Vec<Warning>,
}

/// The rows that a run has when it begins, as JSON.
struct Beginning<'a> {
    run: &'a Run,
    row: String,
    machine: String,
    contenders: Vec<(&'a str, String)>,
}

impl Beginning<'_> {
    fn insert(&self, db: &Connection) -> rusqlite::Result<()> {
        let Beginning { run, row, machine, contenders } = self;
        db.execute(
            "INSERT INTO run (id, experiment, started, run, machine) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![run.id, run.experiment, run.started.to_string(), row, machine],
        )?;
        for (name, contender) in contenders {
            db.execute(
                "INSERT INTO contender (run, name, contender) VALUES (?1, ?2, ?3)",
                params![run.id, name, contender],
            )?;
        }
        Ok(())
    }
}

/// The rows of a trial and its histograms.
struct TrialRows<'a> {
    run: &'a str,
    seq: u32,
    row: String,
    histograms: Vec<(&'a str, Vec<u8>)>,
}

impl TrialRows<'_> {
    fn insert(&self, db: &Connection) -> rusqlite::Result<()> {
        let TrialRows { run, seq, row, histograms } = self;
        db.execute("INSERT INTO trial (run, seq, trial) VALUES (?1, ?2, ?3)", params![run, seq, row])?;
        for (name, bytes) in histograms {
            db.execute(
                "INSERT INTO histogram (run, seq, name, hdr) VALUES (?1, ?2, ?3, ?4)",
                params![run, seq, name, bytes],
            )?;
        }
        Ok(())
    }
}

/// The rows that a run gets when it ends: table, column and values.
struct Findings<'a> {
    run: &'a str,
    columns: [(&'static str, &'static str, Vec<String>); 3],
}

impl Findings<'_> {
    fn replace(&self, db: &Connection) -> rusqlite::Result<()> {
        for (table, column, found) in &self.columns {
            db.execute(&format!("DELETE FROM {table} WHERE run = ?1"), params![self.run])?;
            let insert = format!("INSERT INTO {table} (run, nth, {column}) VALUES (?1, ?2, ?3)");
            for (nth, one) in (0_i64..).zip(found) {
                db.execute(&insert, params![self.run, nth, one])?;
            }
        }
        Ok(())
    }
}

/// The results of many runs in one SQLite file (WAL). Everything is committed before a call returns. Beside the errors
/// that a method names, every method fails if SQLite fails, or if a row has another form than this kumite writes.
pub struct Store {
    path: PathBuf,
    /// The identity of the file when it was opened. None for a store in memory, one that is only read, and one whose
    /// file is not made yet; then it is not watched for being removed.
    file: Option<place::File>,
    /// The file was not there when the store was opened: it is made for the first change. Until then `db` is an empty
    /// store in memory.
    is_to_be_made: bool,
    db: Connection,
}

impl Store {
    /// Opens a store. If the file is not there, the store is empty, and the first change makes the file and its folder;
    /// a command that keeps nothing makes no file. An error if the file could not be made, cannot be opened, or is of
    /// another version.
    pub fn open(path: &Path) -> Result<Store, StoreError> {
        if std::fs::symlink_metadata(path).is_ok() {
            return Store::open_file(path);
        }
        place::can_be_made(path)
            .map_err(|error| StoreError::Open { path: path.to_owned(), source: error.into() })?;
        Ok(Store { path: path.to_owned(), is_to_be_made: true, ..Store::in_memory()? })
    }

    /// Opens the file of a store, which is made if it is not there.
    fn open_file(path: &Path) -> Result<Store, StoreError> {
        let failed = |source: Box<dyn std::error::Error + Send + Sync>| StoreError::Open {
            path: path.to_owned(),
            source,
        };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|error| failed(error.into()))?;
        }
        let db = Connection::open(path).map_err(|error| failed(error.into()))?;
        Store::prepare(path.to_owned(), db).map_err(|error| match error {
            StoreError::Sqlite { source, .. } => failed(source.into()),
            other => other,
        })
    }

    /// Opens a store whose file must be there already, for commands that only read. An error if there is no such file,
    /// and where [`open`](Self::open) has one.
    pub fn open_existing(path: &Path) -> Result<Store, StoreError> {
        if !path.is_file() {
            return Err(StoreError::Open {
                path: path.to_owned(),
                source: "there is no such file; `kumite run` makes it, --db FILE names another".into(),
            });
        }
        Store::open(path)
    }

    /// Opens a store for reading only. Every method that writes fails. An error if the file is not there, cannot be
    /// read, or is of another version.
    pub fn open_read_only(path: &Path) -> Result<Store, StoreError> {
        let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
            .map_err(|error| StoreError::Open { path: path.to_owned(), source: error.into() })?;
        let store = Store { path: path.to_owned(), file: None, is_to_be_made: false, db };
        match version(&store.db).map_err(|source| store.sqlite(source))? {
            VERSION => Ok(store),
            found => Err(StoreError::OtherVersion { path: store.path, found }),
        }
    }

    /// Makes a store in memory, which is lost when it is dropped. An error if SQLite cannot make it.
    pub fn in_memory() -> Result<Store, StoreError> {
        let path = PathBuf::from(":memory:");
        let db = Connection::open_in_memory()
            .map_err(|source| StoreError::Sqlite { path: path.clone(), source })?;
        Ok(Store { file: None, ..Store::prepare(path, db)? })
    }

    /// The path of the file that was opened; `:memory:` for a store in memory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder of the store's file; `.` for a store in memory. The paths of trials' logs are relative to this
    /// folder.
    pub fn folder(&self) -> &Path {
        // A file name alone has an empty parent, and the file is in the current folder.
        self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }

    fn prepare(path: PathBuf, mut db: Connection) -> Result<Store, StoreError> {
        let sqlite = |source| StoreError::Sqlite { path: path.clone(), source };
        db.busy_timeout(PATIENCE).map_err(sqlite)?;
        journal(&db).map_err(sqlite)?;
        db.pragma_update(None, "foreign_keys", true).map_err(sqlite)?;
        let found = make_tables(&mut db).map_err(sqlite)?;
        if found != VERSION {
            return Err(StoreError::OtherVersion { path, found });
        }
        let file = place::File::at(&path);
        Ok(Store { path, file, is_to_be_made: false, db })
    }

    /// Writes a new run, with the machine that it is executed on and its contenders. An error if there is a run with
    /// the same id.
    pub fn begin(
        &mut self,
        run: &Run,
        machine: &Machine,
        contenders: &[Contender],
    ) -> Result<(), StoreError> {
        let beginning = self.beginning(run, machine, contenders)?;
        self.change(|db| beginning.insert(db))
    }

    /// Writes a trial of `run`, with its histograms. An error if there is no such run, or if it has a trial with the
    /// same `seq`.
    pub fn commit(&mut self, run: &str, trial: &Trial) -> Result<(), StoreError> {
        let rows = self.trial_rows(run, trial)?;
        self.change(|db| rows.insert(db))
    }

    /// Writes the end of a run that was begun, and its findings; a second call replaces what the first wrote. A run
    /// with the time `finished` is sealed; a run without it may go on. An error if there are findings and no such run;
    /// without findings, nothing is kept of it then.
    pub fn finish(
        &mut self,
        run: &Run,
        claims: &[Claim],
        checks: &[Check],
        warnings: &[Warning],
    ) -> Result<(), StoreError> {
        let row = self.to_json("run", run)?;
        let findings = self.findings(&run.id, claims, checks, warnings)?;
        self.change(|db| {
            db.execute("UPDATE run SET run = ?2 WHERE id = ?1", params![run.id, row])?;
            findings.replace(db)?;
            seal::seal(db, &run.id, run.finished.is_some())
        })
    }

    /// Reads a whole run by its full id, with its histograms. An error if there is no such run, or if its rows are
    /// not those that it ended with.
    pub fn read(&self, id: &str) -> Result<StoredRun, StoreError> {
        let mut trials = self.trials(id)?;
        for trial in &mut trials {
            trial.sample.histograms = self.histograms(id, trial.seq)?;
        }
        Ok(StoredRun {
            run: self.run(id)?,
            machine: self.machine(id)?,
            contenders: self.contenders(id)?,
            trials,
            claims: self.claims(id)?,
            checks: self.checks(id)?,
            warnings: self.warnings(id)?,
        })
    }

    /// Writes a whole run, in place of any run with the same id. Either all of it is written or nothing. An error if
    /// the store cannot be written.
    pub fn put(&mut self, whole: &StoredRun) -> Result<(), StoreError> {
        let StoredRun { run, machine, contenders, trials, claims, checks, warnings } = whole;
        let beginning = self.beginning(run, machine, contenders)?;
        let trials: Vec<TrialRows> =
            trials.iter().map(|trial| self.trial_rows(&run.id, trial)).collect::<Result<_, _>>()?;
        let findings = self.findings(&run.id, claims, checks, warnings)?;
        self.change(|db| {
            db.execute("DELETE FROM run WHERE id = ?1", params![run.id])?;
            beginning.insert(db)?;
            trials.iter().try_for_each(|rows| rows.insert(db))?;
            findings.replace(db)?;
            seal::seal(db, &run.id, run.finished.is_some())
        })
    }

    /// The id of the run that `name` means: an id, the beginning of one, or `last` for the run that was last begun in
    /// the store or put there. An error if `name` is empty, no run matches, or an incomplete id matches several.
    pub fn find(&self, name: &str) -> Result<String, StoreError> {
        if name == "last" {
            let newest = self
                .db
                .query_row("SELECT id FROM run ORDER BY rowid DESC LIMIT 1", [], |row| row.get(0))
                .optional()
                .map_err(|source| self.sqlite(source))?;
            return newest
                .ok_or_else(|| StoreError::NoSuchRun { id: name.to_owned(), path: self.path.clone() });
        }
        let ids = self.column("SELECT id FROM run ORDER BY started", [])?;
        if ids.iter().any(|id| id == name) {
            return Ok(name.to_owned());
        }
        let mut matches: Vec<String> = ids.into_iter().filter(|id| id.starts_with(name)).collect();
        match (name.is_empty(), matches.len()) {
            (false, 1) => Ok(matches.remove(0)),
            (true, _) | (_, 0) => Err(StoreError::NoSuchRun { id: name.to_owned(), path: self.path.clone() }),
            _ => Err(StoreError::Ambiguous { id: name.to_owned(), matches }),
        }
    }

    /// Reads all runs, the oldest first, without their trials and findings. An error if any of them cannot be read.
    pub fn runs(&self) -> Result<Vec<Run>, StoreError> {
        let ids = self.column("SELECT id FROM run ORDER BY started, rowid", [])?;
        ids.iter().map(|id| self.run(id)).collect()
    }

    /// Reads a run by its full id, without its trials and findings. An error if there is no such run.
    pub fn run(&self, id: &str) -> Result<Run, StoreError> {
        let run: Run = self
            .rows("run", "SELECT run FROM run WHERE id = ?1", [id])?
            .pop()
            .ok_or_else(|| StoreError::NoSuchRun { id: id.to_owned(), path: self.path.clone() })?;
        match run.id == id {
            true => Ok(run),
            false => Err(self.row("run", &format!("it is kept as '{id}', and has the id '{}'", run.id))),
        }
    }

    /// Checks that a run that has ended still has the rows that it ended with, and returns [`StoreError::Changed`] if
    /// not. A run that has not ended passes, and so does an id without a run. Methods that read trials make this check,
    /// too.
    pub fn check(&self, id: &str) -> Result<(), StoreError> {
        match seal::then_and_now(&self.db, id).map_err(|source| self.sqlite(source))? {
            Some((then, now)) if then != now => Err(StoreError::Changed {
                path: self.path.clone(),
                id: id.to_owned(),
                then: then.trials,
                now: now.trials,
            }),
            _ => Ok(()),
        }
    }

    /// The machine that a run was executed on. An error if there is no such run.
    pub fn machine(&self, run: &str) -> Result<Machine, StoreError> {
        self.rows("machine", "SELECT machine FROM run WHERE id = ?1", [run])?
            .pop()
            .ok_or_else(|| StoreError::NoSuchRun { id: run.to_owned(), path: self.path.clone() })
    }

    /// The contenders of a run, in the order in which [`begin`](Self::begin) or [`put`](Self::put) was given them.
    /// Empty if there is no such run. An error if the store cannot be read.
    pub fn contenders(&self, run: &str) -> Result<Vec<Contender>, StoreError> {
        self.rows("contender", "SELECT contender FROM contender WHERE run = ?1 ORDER BY rowid", [run])
    }

    /// The trials of a run, in the order in which they began, without their histograms. Empty if there is no such
    /// run; an error if the rows are not those that the run ended with.
    pub fn trials(&self, run: &str) -> Result<Vec<Trial>, StoreError> {
        self.check(run)?;
        let mut trials: Vec<Trial> =
            self.rows("trial", "SELECT trial FROM trial WHERE run = ?1 ORDER BY seq", [run])?;
        // A trial is committed before it is known what the others write.
        judge_outputs(&mut trials);
        Ok(trials)
    }

    /// The histograms of the trial with this `seq` in a run, by name. Empty if the trial has no histogram, or there is
    /// no such trial. An error if the store cannot be read.
    pub fn histograms(&self, run: &str, seq: u32) -> Result<BTreeMap<String, Histogram>, StoreError> {
        let mut query = self
            .db
            .prepare("SELECT name, hdr FROM histogram WHERE run = ?1 AND seq = ?2")
            .map_err(|source| self.sqlite(source))?;
        let rows = query
            .query_map(params![run, seq], |row| Ok((row.get::<_, String>(0)?, row.get::<_, Vec<u8>>(1)?)))
            .map_err(|source| self.sqlite(source))?;
        rows.map(|row| {
            let (name, bytes) = row.map_err(|source| self.sqlite(source))?;
            let histogram = Deserializer::new().deserialize(&mut bytes.as_slice()).map_err(|error| {
                self.row(&format!("histogram {name} of trial {seq}"), &format!("{error:?}"))
            })?;
            Ok((name, histogram))
        })
        .collect()
    }

    /// The claims of a run with the verdicts that were judged when it ended; empty if it has not ended. An error if the
    /// store cannot be read.
    pub fn claims(&self, run: &str) -> Result<Vec<Claim>, StoreError> {
        self.rows("claim", "SELECT claim FROM verdict WHERE run = ?1 ORDER BY nth", [run])
    }

    /// The checks of a run with the answers that were judged when it ended; empty if it has not ended. An error if the
    /// store cannot be read.
    pub fn checks(&self, run: &str) -> Result<Vec<Check>, StoreError> {
        self.rows("check", "SELECT outcome FROM outcome WHERE run = ?1 ORDER BY nth", [run])
    }

    /// The warnings of a run, as they were when it ended; empty if it has not ended. An error if the store cannot be
    /// read.
    pub fn warnings(&self, run: &str) -> Result<Vec<Warning>, StoreError> {
        self.rows("warning", "SELECT warning FROM warning WHERE run = ?1 ORDER BY nth", [run])
    }

    /// Keeps a self-check, for the machine that it was made on. Earlier ones stay. An error if the store cannot be
    /// written.
    pub fn keep_selfcheck(&mut self, check: &SelfCheck) -> Result<(), StoreError> {
        let row = self.to_json("selfcheck", check)?;
        let Machine { kernel, cpu, cpus, .. } = &check.machine;
        let cpus = *cpus as i64;
        self.change(|db| {
            db.execute(
                "INSERT INTO selfchecks (started, kernel, cpu, cpus, selfcheck) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![check.started.to_string(), kernel, cpu, cpus, row],
            )?;
            Ok(())
        })
    }

    /// The latest self-check of the same machine: the same kernel, processor and number of CPUs. `None` if there is
    /// none. An error if the store cannot be read.
    pub fn latest_selfcheck(&self, machine: &Machine) -> Result<Option<SelfCheck>, StoreError> {
        let mut found = self.rows(
            "selfcheck",
            "SELECT selfcheck FROM selfchecks WHERE kernel = ?1 AND cpu = ?2 AND cpus = ?3
             ORDER BY started DESC, rowid DESC LIMIT 1",
            params![machine.kernel, machine.cpu, machine.cpus as i64],
        )?;
        Ok(found.pop())
    }

    /// Keeps a document under a name. An error if a document has that name already: it is not replaced.
    pub fn keep(&mut self, name: &str, kept: &Named) -> Result<(), StoreError> {
        let row = self.to_json("named", kept)?;
        self.change(|db| {
            db.execute("INSERT INTO named (name, kept) VALUES (?1, ?2)", params![name, row])?;
            Ok(())
        })
    }

    /// Reads the document that is kept under this name; `None` if there is none. An error if the store cannot be read.
    pub fn named(&self, name: &str) -> Result<Option<Named>, StoreError> {
        Ok(self.rows("named", "SELECT kept FROM named WHERE name = ?1", [name])?.pop())
    }

    /// The names under which documents are kept, in the order in which they were kept. An error if the store cannot be
    /// read.
    pub fn names(&self) -> Result<Vec<String>, StoreError> {
        self.column("SELECT name FROM named ORDER BY rowid", [])
    }

    fn beginning<'a>(
        &self,
        run: &'a Run,
        machine: &Machine,
        contenders: &'a [Contender],
    ) -> Result<Beginning<'a>, StoreError> {
        let contenders = contenders
            .iter()
            .map(|contender| Ok((contender.name.as_str(), self.to_json("contender", contender)?)))
            .collect::<Result<_, StoreError>>()?;
        let (row, machine) = (self.to_json("run", run)?, self.to_json("machine", machine)?);
        Ok(Beginning { run, row, machine, contenders })
    }

    fn trial_rows<'a>(&self, run: &'a str, trial: &'a Trial) -> Result<TrialRows<'a>, StoreError> {
        let histograms = trial
            .sample
            .histograms
            .iter()
            .map(|(name, histogram)| {
                let mut bytes = Vec::new();
                V2Serializer::new()
                    .serialize(histogram, &mut bytes)
                    .map_err(|error| self.row(&format!("histogram {name}"), &format!("{error:?}")))?;
                Ok((name.as_str(), bytes))
            })
            .collect::<Result<_, StoreError>>()?;
        Ok(TrialRows { run, seq: trial.seq, row: self.to_json("trial", trial)?, histograms })
    }

    fn findings<'a>(
        &self,
        run: &'a str,
        claims: &[Claim],
        checks: &[Check],
        warnings: &[Warning],
    ) -> Result<Findings<'a>, StoreError> {
        let columns = [
            ("verdict", "claim", self.all_to_json("claim", claims)?),
            ("outcome", "outcome", self.all_to_json("check", checks)?),
            ("warning", "warning", self.all_to_json("warning", warnings)?),
        ];
        Ok(Findings { run, columns })
    }

    fn change(&mut self, work: impl FnOnce(&Connection) -> rusqlite::Result<()>) -> Result<(), StoreError> {
        if self.is_to_be_made {
            *self = Store::open_file(&self.path)?;
        }
        let path = &self.path;
        let sqlite = |source| StoreError::Sqlite { path: path.clone(), source };
        let change = self.db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(sqlite)?;
        work(&change).map_err(sqlite)?;
        change.commit().map_err(sqlite)?;
        self.is_still_there()
    }

    /// Returns an error if the file was removed or replaced, since SQLite goes on writing to a file without a name.
    /// The store's content is then written to a new file.
    fn is_still_there(&self) -> Result<(), StoreError> {
        let is_there = self.file.is_none() || self.file == place::File::at(&self.path);
        let gone =
            || StoreError::Gone { path: self.path.clone(), rescued: place::rescue(&self.db, &self.path) };
        if is_there { Ok(()) } else { Err(gone()) }
    }

    fn column(&self, query: &str, params: impl rusqlite::Params) -> Result<Vec<String>, StoreError> {
        let read = || -> rusqlite::Result<Vec<String>> {
            self.db.prepare(query)?.query_map(params, |row| row.get(0))?.collect()
        };
        read().map_err(|source| self.sqlite(source))
    }

    fn rows<T: DeserializeOwned>(
        &self,
        what: &str,
        query: &str,
        params: impl rusqlite::Params,
    ) -> Result<Vec<T>, StoreError> {
        self.column(query, params)?
            .iter()
            .map(|row| serde_json::from_str(row).map_err(|error| self.row(what, &error.to_string())))
            .collect()
    }

    fn all_to_json(&self, what: &str, values: &[impl Serialize]) -> Result<Vec<String>, StoreError> {
        values.iter().map(|value| self.to_json(what, value)).collect()
    }

    fn to_json(&self, what: &str, value: &impl Serialize) -> Result<String, StoreError> {
        serde_json::to_string(value).map_err(|error| self.row(what, &error.to_string()))
    }

    fn sqlite(&self, source: rusqlite::Error) -> StoreError {
        StoreError::Sqlite { path: self.path.clone(), source }
    }

    fn row(&self, what: &str, reason: &str) -> StoreError {
        StoreError::Row { path: self.path.clone(), what: what.to_owned(), reason: reason.to_owned() }
    }
}

/// Switches to write-ahead logging, so that readers do not keep a writer waiting. SQLite does not wait for other
/// processes here, so this function does, at most [`PATIENCE`]; then it is the error that SQLite gave last.
fn journal(db: &Connection) -> rusqlite::Result<()> {
    let until = Instant::now() + PATIENCE;
    loop {
        match db.pragma_update(None, "journal_mode", "wal") {
            Err(error)
                if matches!(
                    error.sqlite_error_code(),
                    Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
                ) && Instant::now() < until =>
            {
                std::thread::sleep(Duration::from_millis(5));
            }
            done => return done,
        }
    }
}

fn version(db: &Connection) -> rusqlite::Result<u32> {
    db.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Makes the tables of a store that has none, and returns the version that the store has then. If several processes
/// try at once, one makes them and the others find them made.
fn make_tables(db: &mut Connection) -> rusqlite::Result<u32> {
    if version(db)? == 0 {
        let change = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if version(&change)? == 0 {
            change.execute_batch(TABLES)?;
            change.pragma_update(None, "user_version", VERSION)?;
        }
        change.commit()?;
    }
    version(db)
}
