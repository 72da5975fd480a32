//! The flags for the device that a macro is played on.

use std::io::{self, ErrorKind};
use std::path::PathBuf;

use clap::ValueEnum;
use kumite_play::{DeviceError, Gcapi, Log, OpenDevice, PlayEnd, Uinput};

use crate::exit::Failure;

#[derive(clap::Args)]
pub struct Choice {
    /// Device to play on
    #[arg(long = "device", value_enum, value_name = "DEVICE", default_value_t = DeviceKind::Log)]
    pub kind: DeviceKind,
    /// Library of the Titan One, for --device gcapi
    #[arg(long, value_name = "PATH")]
    library: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum DeviceKind {
    /// Standard output: each state with its time
    Log,
    /// A gamepad of this Linux, through /dev/uinput
    Uinput,
    /// A Titan One, through its library
    Gcapi,
}

impl DeviceKind {
    /// The word for the device in documents.
    pub fn as_str(self) -> &'static str {
        match self {
            DeviceKind::Log => "log",
            DeviceKind::Uinput => "uinput",
            DeviceKind::Gcapi => "gcapi",
        }
    }
}

impl Choice {
    /// The function that opens the device; opening may take long. If `quiet` is true, the log prints nothing. An error
    /// if --library is given for a device that has no library, or is missing for one that needs it.
    pub fn opener(&self, quiet: bool) -> Result<Box<OpenDevice>, Failure> {
        Ok(match (self.kind, self.library.clone()) {
            (DeviceKind::Log | DeviceKind::Uinput, Some(_)) => {
                return Err(Failure::Usage("--library is for --device gcapi".to_owned()));
            }
            (DeviceKind::Gcapi, None) => {
                let what = "--device gcapi needs the Titan One's library: --library PATH";
                return Err(Failure::Usage(what.to_owned()));
            }
            (DeviceKind::Log, None) if quiet => Box::new(|| Ok(Box::new(Log::new(io::sink())))),
            (DeviceKind::Log, None) => Box::new(|| Ok(Box::new(Log::new(io::stdout())))),
            (DeviceKind::Uinput, None) => Box::new(|| Ok(Box::new(Uinput::create()?))),
            (DeviceKind::Gcapi, Some(library)) => Box::new(move || Ok(Box::new(Gcapi::connect(&library)?))),
        })
    }
}

/// True if the play ended because nobody reads the log any more, which is no error.
pub fn is_unread(ended: &PlayEnd) -> bool {
    matches!(ended, PlayEnd::Failed(DeviceError::Log(error)) if error.kind() == ErrorKind::BrokenPipe)
}
