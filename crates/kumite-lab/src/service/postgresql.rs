//! The real PostgreSQL, from an empty cluster.

use std::fs;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use kumite_process::{Spawn, run};
use kumite_record::Metric;
use schemars::JsonSchema;
use serde::Deserialize;

use super::process::Process;
use super::registration::{Registration, schema_of};
use super::user::User;
use super::{Counts, Service, Serving, StartOrder, Variables};
use crate::contender::Install;
use crate::error::{Error, Fault};
use crate::halt::Halt;
use crate::parameter::Parameters;
use crate::port::free_port;
use kumite_process::{how_it_ended, last_lines};

const READY: Duration = Duration::from_secs(30);
const SQL_LIMIT: Duration = Duration::from_secs(120);
/// The longest time that is waited for running queries after their clients have gone.
const SETTLE: Duration = Duration::from_secs(5);
/// The number of connections beside those that contenders may have: kumite's own, and those that the server reserves.
/// The role's limit keeps contenders to theirs.
const OWN_CONNECTIONS: u32 = 10;

/// The rules of access: contenders come over TCP, with name and password, and kumite alone through the socket, whose
/// folder nobody else can enter.
fn hba(clients: &[Ipv4Addr]) -> String {
    let client = |address: &Ipv4Addr| format!("host kumite kumite {address}/32 md5\n");
    "local all postgres trust\n".to_owned() + &clients.iter().map(client).collect::<String>()
}

pub(super) static KIND: Registration = Registration {
    name: "postgresql",
    schema: schema_of::<Postgresql>,
    read: |given| {
        let mut postgresql: Postgresql = given.keys()?;
        if !(1..=1000).contains(&postgresql.connections) {
            let what = format!("write 1 to 1000 connections, not {}", postgresql.connections);
            return Err(given.wrong(&["connections"], what));
        }
        if let Some(setup) = &mut postgresql.setup {
            *setup = given.file("setup", setup)?;
        }
        Ok(Arc::new(postgresql))
    },
};

/// The real PostgreSQL.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Postgresql {
    /// How many connections contenders may have at once; it refuses more.
    #[serde(default = "twenty")]
    #[schemars(range(min = 1, max = 1000))]
    connections: u32,
    /// A file of SQL in the experiment's folder, executed in the contenders' database before each trial.
    setup: Option<PathBuf>,
    /// A pattern of the queries that are counted; all if it is not given.
    #[serde(default = "any")]
    counts: String,
}

fn twenty() -> u32 {
    20
}

fn any() -> String {
    ".".to_owned()
}

struct RunningPostgresql {
    process: Process,
    address: SocketAddrV4,
    password: String,
    counts: String,
    sql: Sql,
}

/// Access to the server as its own user, for SQL in any of its databases.
struct Sql {
    env: Vec<(String, String)>,
    /// The user that the server runs as. None if that is our own user.
    user: Option<User>,
    folder: PathBuf,
    log: PathBuf,
}

impl Service for Postgresql {
    fn needs(&self) -> Vec<String> {
        ["postgres >= 13", "initdb", "psql", "setpriv"].map(str::to_owned).into()
    }

    fn install(&self) -> Install {
        Install { apt: vec!["postgresql".to_owned()], ..Install::default() }
    }

    fn metrics(&self) -> Vec<Metric> {
        vec![Metric::count("queries", "queries that were counted.")]
    }

    fn start(&self, _: &Parameters, order: &StartOrder) -> Result<Box<dyn Serving>, Halt> {
        let user = User::instead_of_root()?;
        let port = free_port(order.host)?;
        let data = order.folder.join("data");
        if let Some(user) = user {
            user.give(&order.folder)?;
        }
        let mut env = order.env.to_vec();
        let set = [("DATA", data.display().to_string()), ("PGHOST", data.display().to_string())];
        let set = set.into_iter().chain([("PGPORT", port.to_string()), ("PGUSER", "postgres".to_owned())]);
        env.extend(set.map(|(name, value)| (name.to_owned(), value)));
        let sql = Sql { env, user, folder: order.folder.clone(), log: order.log.with_extension("sql.log") };
        let init = "initdb -D \"$DATA\" -U postgres -A trust -E UTF8 --locale=C --no-sync";
        sql.run(init, order.stop).map_err(Error::step("cannot make its files"))?;
        let file = data.join("pg_hba.conf");
        let written = fs::write(&file, hba(order.clients)).map_err(Error::at(&file));
        written.map_err(Error::step("cannot be configured"))?;
        let most = self.connections + OWN_CONNECTIONS;
        let command = format!(
            "exec {}postgres -D \"$DATA\" -p {port} -c listen_addresses={} -c unix_socket_directories=\"$DATA\" \
             -c max_connections={most} -c password_encryption=md5 -c fsync=off -c autovacuum=off \
             -c shared_preload_libraries=pg_stat_statements",
            sql.prefix(),
            order.host
        );
        let mut process = Process::start(&command, &order.folder, &sql.env, order)?;
        process.wait_ready(READY, order.stop, || sql.execute("postgres", "select 1", order.stop).is_ok())?;
        let password = password()?;
        let role =
            format!("create role kumite login password '{password}' connection limit {}", self.connections);
        for statement in [role.as_str(), "create database kumite owner kumite"] {
            sql.execute("postgres", statement, order.stop)?;
        }
        sql.execute("kumite", "create extension pg_stat_statements", order.stop)?;
        if let Some(setup) = &self.setup {
            // It may lie where the server's user cannot read.
            let text = fs::read_to_string(setup).map_err(Error::cannot("read", setup))?;
            let within = |error| Error::Within { file: setup.clone(), error: Box::new(error) };
            sql.execute("kumite", &text, order.stop).map_err(within)?;
        }
        let address = SocketAddrV4::new(order.host, port);
        Ok(Box::new(RunningPostgresql { process, address, password, counts: self.counts.clone(), sql }))
    }
}

impl RunningPostgresql {
    /// The number that a query gives. An error if it gives none.
    fn ask(&self, statement: &str) -> Result<f64, Error> {
        let said = self.sql.execute("kumite", statement, &AtomicBool::new(false))?;
        said.trim().parse().map_err(|_| Fault::new(format!("answered {said:?} to {statement}")).into())
    }
}

impl Sql {
    /// Executes a statement, and returns what psql prints: columns without heads, a line for each row. An error if
    /// psql fails, or takes longer than [`SQL_LIMIT`].
    fn execute(&self, database: &str, statement: &str, stop: &AtomicBool) -> Result<String, Error> {
        let file = self.folder.join("statement.sql");
        fs::write(&file, statement).map_err(Error::cannot("write", &file))?;
        if let Some(user) = self.user {
            user.give(&file)?;
        }
        let psql = format!("psql -X -q -A -t -v ON_ERROR_STOP=1 -d {database} -f statement.sql");
        self.run(&psql, stop)
    }

    fn prefix(&self) -> String {
        self.user.map(User::prefix).unwrap_or_default()
    }

    fn run(&self, command: &str, stop: &AtomicBool) -> Result<String, Error> {
        let command = format!("exec {}{command}", self.prefix());
        let spawn = Spawn {
            command: &command,
            dir: &self.folder,
            env: &self.env,
            keeps: None,
            cores: &[],
            log: &self.log,
            group: None,
        };
        let done = run(&spawn, SQL_LIMIT, stop)?;
        if !done.status.success() {
            let how = how_it_ended(done.status);
            return Err(Fault::new(format!("{how}: {}", last_lines(&self.log))).into());
        }
        Ok(String::from_utf8_lossy(&done.stdout).into_owned())
    }
}

impl Serving for RunningPostgresql {
    fn variables(&self) -> Variables {
        let said = [
            ("HOST", self.address.ip().to_string()),
            ("PORT", self.address.port().to_string()),
            ("PASSWORD", self.password.clone()),
        ];
        said.map(|(end, value)| (end.to_owned(), value)).into()
    }

    fn process(&mut self) -> Option<&mut Process> {
        Some(&mut self.process)
    }

    fn begin(&mut self) -> Result<(), Error> {
        self.sql.execute("kumite", "select pg_stat_statements_reset()", &AtomicBool::new(false))?;
        Ok(())
    }

    fn end(mut self: Box<Self>) -> Result<Counts, Error> {
        self.process.runs("before the end")?;
        // A query goes on to its end when its client is gone, and is counted only then.
        let began = Instant::now();
        let active = "select count(*) from pg_stat_activity where usename = 'kumite' and state = 'active'";
        while self.ask(active)? > 0.0 && began.elapsed() < SETTLE {
            std::thread::sleep(Duration::from_millis(20));
        }
        let counted = format!(
            "select coalesce(sum(calls), 0) from pg_stat_statements join pg_roles on oid = userid \
             where rolname = 'kumite' and query ~ {}",
            quoted(&self.counts)
        );
        let queries = self.ask(&counted)?;
        self.process.stop();
        Ok(Counts::from([("queries", queries)]))
    }
}

/// A random password of letters and digits, made anew for each trial.
fn password() -> Result<String, Error> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(Error::step("has no random password"))?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A text as a literal in SQL.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_does_not_end_a_text() {
        assert_eq!(quoted("it's"), "'it''s'");
    }
}
