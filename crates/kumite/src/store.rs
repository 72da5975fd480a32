//! The results store: its place, the names that `--save` gives, and the self-check that runs keep.

use std::path::{Path, PathBuf};

use kumite_host::{cores, machine};
use kumite_record::{Named, NoiseFloor, Store};

use crate::exit::Failure;
use crate::exported::is_name_of_file;

/// The name of the store's file in its folder.
const FILE: &str = "results.db";

#[derive(Clone, clap::Args)]
pub struct Db {
    /// Results store [default: results.db in the nearest .kumite/, here or above, else with the user's data]
    #[arg(long = "db", value_name = "FILE")]
    file: Option<PathBuf>,
}

impl Db {
    /// The path of the results store: the file that --db names, or else [`default_db`].
    pub fn path(&self) -> PathBuf {
        self.file.clone().unwrap_or_else(default_db)
    }
}

/// The default store: in the nearest `.kumite/`, here or above; else with the user's data (`$XDG_DATA_HOME/kumite` or
/// `~/.local/share/kumite`), so that nothing is left in whatever folder the user is in. If the user has no home, in a
/// `.kumite/` here.
pub fn default_db() -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    if let Some(folder) = nearest(&here) {
        return folder.strip_prefix(&here).map_or(folder.clone(), Path::to_owned).join(FILE);
    }
    user_data().unwrap_or(PathBuf::from(".kumite")).join(FILE)
}

/// The folder for what is kept of a project, and the folder of the project; `here` is a folder in the project. They are
/// the nearest `.kumite/`, here or above, and the folder around it. If there is none, the project is the git repository
/// around `here`, or `here` itself. What is kept of it is then in a folder of its own with the user's data; if the user
/// has no home, in a `.kumite/` in the project.
pub fn project_state(here: &Path) -> (PathBuf, PathBuf) {
    if let Some(state) = nearest(here) {
        let project = state.parent().unwrap_or(here).to_owned();
        return (state, project);
    }
    let project = here.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(here).to_owned();
    let Some(data) = user_data() else { return (project.join(".kumite"), project) };
    let digest = blake3::hash(project.as_os_str().as_encoded_bytes()).to_hex();
    let name = project.file_name().unwrap_or_default().to_string_lossy();
    (data.join("projects").join(format!("{name}-{}", &digest[..16])), project)
}

/// The nearest `.kumite/`, here or above.
fn nearest(here: &Path) -> Option<PathBuf> {
    here.ancestors().map(|folder| folder.join(".kumite")).find(|folder| folder.is_dir())
}

/// The folder of kumite's in the user's data.
fn user_data() -> Option<PathBuf> {
    let named = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = named("XDG_DATA_HOME").or_else(|| Some(named("HOME")?.join(".local/share")));
    data.map(|data| data.join("kumite"))
}

/// The flag for the name under which a comparison or a load is kept.
#[derive(clap::Args)]
pub struct Save {
    /// Name to keep the result under in the results store, for `kumite report NAME`
    #[arg(long, value_name = "NAME", value_parser = name)]
    save: Option<String>,
}

/// A name for `--save`. It begins with a letter, since ids of runs begin with a digit, and has no ending by which it
/// would be taken for a file. The error is a message for clap.
fn name(text: &str) -> Result<String, &'static str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if is_name_of_file(text) {
        return Err("it would be taken for a file: leave out .json or .gz");
    }
    match text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(fits) && text != "last" {
        true => Ok(text.to_owned()),
        false => Err("use letters, digits, -, _ and ., begin with a letter, and do not use 'last'"),
    }
}

impl Save {
    /// An error if the name of --save is taken, or if the store cannot be opened.
    pub fn check(&self) -> Result<(), Failure> {
        let Some(name) = &self.save else { return Ok(()) };
        match Store::open(&default_db())?.named(name)? {
            None => Ok(()),
            Some(_) => Err(Failure::Usage(format!("--save {name}: the name is taken, choose another"))),
        }
    }

    /// An error if --save is given, for a result that cannot be kept. `kept` names the results that can, for the
    /// message.
    pub fn refuse(&self, kept: &str) -> Result<(), Failure> {
        match &self.save {
            Some(name) => Err(Failure::Usage(format!(
                "--save {name} keeps {kept}, and not an answer about an objective: write that as --json"
            ))),
            None => Ok(()),
        }
    }

    /// Keeps the result under its name, if --save is given. An error if the store cannot be written.
    pub fn keep(&self, kept: impl FnOnce() -> Named) -> Result<(), Failure> {
        let Some(name) = &self.save else { return Ok(()) };
        Store::open(&default_db())?.keep(name, &kept())?;
        crate::output::note(&format!("kept as {name}: `kumite report {name}` shows it again"));
        Ok(())
    }
}

/// The latest self-check of this machine, in the form that a run or a comparison keeps. `None` if there is none, or if
/// the store cannot be read.
pub fn noise_floor(store: &Store) -> Option<NoiseFloor> {
    let found = store.latest_selfcheck(&machine(cores())).ok().flatten();
    found.as_ref().map(NoiseFloor::from_check)
}
