//! The errors of devices. Each names the device, the place and a remedy.

use std::io;
use std::path::{Path, PathBuf};

/// The reason why a device cannot be opened, or takes no state.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// The log cannot be written.
    #[error("cannot write the log: {0}")]
    Log(#[from] io::Error),
    /// The Titan One's library does not exist, or is no file.
    #[error("no file {}: it should be the Titan One's library, gcdapi.dll", path.display())]
    NoLibrary {
        /// The path that was given, made absolute.
        path: PathBuf,
    },
    /// A file cannot be loaded as a library.
    #[error(
        "cannot load {}: {}; a library is needed that is for the same platform as this program, {}-bit {}",
        path.display(), system_reason(error, path), usize::BITS, std::env::consts::OS
    )]
    NotALibrary {
        /// The path of the file.
        path: PathBuf,
        /// The error of the linker, which names the file once more.
        error: libloading::Error,
    },
    /// A library lacks a function of the Titan One's.
    #[error("{} is not the Titan One's library, or another version of it: it has no {name}", path.display())]
    NotTheTitanOnes {
        /// The path of the library.
        path: PathBuf,
        /// The name of the function.
        name: &'static str,
    },
    /// The library does not start.
    #[error("{}: gcdapi_Load failed; does another program use the Titan One?", path.display())]
    NotLoaded {
        /// The path of the library.
        path: PathBuf,
    },
    /// The library does not see an adapter.
    #[error("no Titan One is connected (tried {tries} times); plug it in, and end programs that use it")]
    NotConnected {
        /// The number of times that the adapter was looked for.
        tries: usize,
    },
    /// The adapter did not take a state.
    #[error(
        "the Titan One did not take state {nth}, at {at_ms:.1} ms: gcapi_Write failed; is it still plugged in?"
    )]
    NotTaken {
        /// The number of the state since the adapter was connected to, counted from 1.
        nth: usize,
        /// The time since the start of the play, in ms.
        at_ms: f64,
    },
    /// The gamepad cannot be made: there is no uinput, it may not be used, or it refuses what is asked of it.
    #[error("cannot make a gamepad by {}: {source}; {remedy}", path.display())]
    NoGamepad {
        /// The path of uinput.
        path: PathBuf,
        /// The error of the kernel.
        source: io::Error,
        /// The remedy, in a phrase.
        remedy: &'static str,
    },
    /// The kernel did not take a state, or only a part of it.
    #[error("the gamepad did not take the state at {at_ms:.1} ms: {source}")]
    Gamepad {
        /// The time since the start of the play, in ms.
        at_ms: f64,
        /// The error of the kernel; ours if it took only a part.
        source: io::Error,
    },
    /// There is no uinput on this platform.
    #[error("a gamepad can be made on Linux only, this is {}", std::env::consts::OS)]
    OnlyLinux,
}

/// The system's reason why a file could not be loaded, without the names of its function and of the file.
fn system_reason(error: &libloading::Error, path: &Path) -> String {
    let said = std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string);
    let file = format!("{}: ", path.display());
    said.strip_prefix(&file).unwrap_or(&said).to_owned()
}
