//! Why a place in the cache could not be used.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// The reason why a place in the cache could not be used.
#[derive(Debug, Error)]
pub enum Error {
    /// Something could not be done with a file or a folder of the cache.
    #[error("cannot {doing} {}: {source}", path.display())]
    File {
        /// The verb for the attempt, such as `make`.
        doing: &'static str,
        /// The file or folder; for the lock or the mark of a build, the build's folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },

    /// kumite was told to stop before it had its turn at a build.
    #[error("it was interrupted while another kumite was at it")]
    Waiting,
}

impl Error {
    pub(crate) fn cannot(doing: &'static str, path: &Path) -> impl Fn(io::Error) -> Error + Copy {
        move |source| Error::File { doing, path: path.to_owned(), source }
    }
}
