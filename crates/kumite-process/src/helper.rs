//! What the helper process of a [`crate::Runner`] is told.

use std::env;
use std::ffi::CString;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use crate::owner::MARKER;
use crate::wire::Wire;

/// The hidden argument with which a program of ours is the helper, and calls [`crate::runner_main`].
pub const HELPER: &str = "--runner-helper";

/// The variable that varies the size of the environment.
pub(crate) const PADDING: &str = "KUMITE_PADDING";

/// The kinds of output, as numbers.
pub(crate) const NULL: u64 = 0;
pub(crate) const INHERIT: u64 = 1;
pub(crate) const FILE: u64 = 2;
pub(crate) const PIPE: u64 = 3;
pub(crate) const FILES: u64 = 4;

/// A job as the kernel wants it.
pub(crate) struct Prepared {
    pub program: CString,
    pub args: Vec<CString>,
    pub env: Vec<CString>,
    pub dir: PathBuf,
    pub stdin: Option<PathBuf>,
    pub output: Sink,
}

pub(crate) enum Sink {
    Null,
    Inherit,
    File(PathBuf),
    Files { stdout: PathBuf, stderr: PathBuf },
    Pipe,
}

/// One run.
pub(crate) struct RunOrder {
    pub job: usize,
    pub forked: bool,
    pub cores: Vec<usize>,
    /// The last entry of its environment.
    pub padding: CString,
}

pub(crate) fn jobs(from: &mut impl Read) -> io::Result<Vec<Prepared>> {
    // All that a command starts must carry the name of our tree.
    let marker = env::var_os(MARKER).unwrap_or_default();
    let marker = CString::new([MARKER.as_bytes(), b"=", marker.as_bytes()].concat())?;
    let count = from.count()?;
    let job = |_| {
        let program = CString::new(from.string()?.as_bytes())?;
        let args = from.strings()?;
        let mut env = from.strings()?;
        env.push(marker.clone());
        let dir = from.path()?.unwrap_or_default();
        let stdin = from.path()?;
        let output = match (from.number()?, from.path()?, from.path()?) {
            (FILE, Some(path), _) => Sink::File(path),
            (FILES, Some(stdout), Some(stderr)) => Sink::Files { stdout, stderr },
            (INHERIT, ..) => Sink::Inherit,
            (PIPE, ..) => Sink::Pipe,
            _ => Sink::Null,
        };
        Ok(Prepared { program, args, env, dir, stdin, output })
    };
    (0..count).map(job).collect()
}

/// Those that are to run at the same time; `None` at the end.
pub(crate) fn orders(from: &mut impl Read) -> io::Result<Option<Vec<RunOrder>>> {
    let count = match from.count() {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        count => count?,
    };
    let order = |_| {
        let (job, forked) = (from.count()?, from.number()? != 0);
        let padding = format!("{PADDING}={}", "x".repeat(from.count()?));
        let cores = from.count()?;
        let cores = (0..cores).map(|_| from.count()).collect::<io::Result<_>>()?;
        Ok(RunOrder { job, forked, cores, padding: CString::new(padding)? })
    };
    (0..count).map(order).collect::<io::Result<_>>().map(Some)
}
