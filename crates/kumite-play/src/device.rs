//! Devices: states are written to them.

mod gcapi;
mod log;
mod uinput;

use std::error::Error;
use std::time::Duration;

use crate::{DeviceError, PadState};
pub use gcapi::Gcapi;
pub use log::Log;
pub use uinput::Uinput;

/// Opens a device on the thread that will play, and again after it failed.
pub type OpenDevice = dyn FnMut() -> Result<Box<dyn Device>, OpenError> + Send;

/// Why it cannot be opened, in words.
pub type OpenError = Box<dyn Error + Send + Sync>;

/// Something that has a state until it is given another.
pub trait Device {
    /// Says which state it is given next, while there is time for what need not be done on the clock. A release that comes
    /// before its time is not announced.
    fn prepare(&mut self, _next: PadState) {}

    /// Gives it a state. `since_start` is when that is, counted from the start of the play.
    fn write(&mut self, state: PadState, since_start: Duration) -> Result<(), DeviceError>;

    /// A description of the device for whoever plays on it, such as what it is connected to.
    fn description(&self) -> Option<String> {
        None
    }
}
