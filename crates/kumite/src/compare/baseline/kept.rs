//! A baseline in the form of its file.

use std::fmt;
use std::path::PathBuf;

use kumite_record::{Comparison, KeptProgram};
use serde::{Deserialize, Serialize};

use super::flags::KeptFlags;

/// The version of the file's form. It is raised when an earlier kumite would misread a new file.
pub const FORM: u32 = 1;

/// A command that was saved, with its figures of that day.
#[derive(Serialize, Deserialize)]
pub struct Baseline {
    pub form: u32,
    /// The folder in which the command was run, relative to the project's folder.
    pub folder: PathBuf,
    /// The command as it was typed, with parameters filled in.
    pub command: String,
    /// The commit or the program by which the command is measured again, if there is one.
    pub source: Source,
    pub flags: KeptFlags,
    /// All figures of that day.
    pub comparison: Comparison,
}

/// The commit or the program by which a command is measured again, if there is one.
#[derive(Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Source {
    /// A commit of the project's repository, which is built again.
    Revision {
        commit: String,
        /// The command that builds the commit. None for none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        build: Option<String>,
        /// The names of further variables that the build reads.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        build_env: Vec<String>,
    },
    /// A copy of the program that ran.
    Program {
        program: KeptProgram,
        /// The name of the copy's folder, which is in the baseline's folder.
        folder: String,
        /// The name of the copy's file.
        file: String,
    },
    /// Neither: the command cannot be measured again, and only its figures are there.
    Nothing { why: Unkept },
}

/// The reason why no program was kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Unkept {
    /// The command needs a shell, or is looked for on PATH: anything may run.
    NoPath { command: String },
    /// The file is no program of the machine but a script, which starts others.
    Script { word: String },
    /// The program loads a library of the project, which is not kept.
    Library { word: String, library: PathBuf },
    /// The command names the folder of its revision, which is not there on another day.
    Folder { command: String },
}

impl fmt::Display for Unkept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unkept::NoPath { command } => write!(
                f,
                "`{command}` does not begin with the path of a program, or needs a shell, so that other programs may run \
                 on another day: give such a path (./tool, --input FILE in place of <), or commit it and give --rev HEAD"
            ),
            Unkept::Script { word } => write!(
                f,
                "{word} is a script, and the programs that it starts may be others on another day: commit it and give --rev \
                 HEAD"
            ),
            Unkept::Library { word, library } => write!(
                f,
                "{word} loads {}, which may be another on another day: commit it and give --rev HEAD, or link it statically",
                library.display()
            ),
            Unkept::Folder { command } => write!(
                f,
                "`{command}` names the folder of files that are in no commit: commit them and give --rev HEAD"
            ),
        }
    }
}
