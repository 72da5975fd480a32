//! Devices, to which states are written.

mod gcapi;
mod log;
mod uinput;

use std::error::Error;
use std::time::Duration;

use crate::{DeviceError, PadState};
pub use gcapi::Gcapi;
pub use log::Log;
pub use uinput::Uinput;

/// Opens a device, on the thread that plays. The page calls it again after the device has failed.
pub type OpenDevice = dyn FnMut() -> Result<Box<dyn Device>, OpenError> + Send;

/// The reason why a device cannot be opened.
pub type OpenError = Box<dyn Error + Send + Sync>;

/// A device, which keeps a state until it is given another.
pub trait Device {
    /// Announces the next state, while there is time for what need not be done on the clock. A release that comes
    /// before its time is not announced.
    fn prepare(&mut self, _next: PadState) {}

    /// Gives the device a state. `since_start` is the time since the start of the play. An error if the device does not
    /// take the state.
    fn write(&mut self, state: PadState, since_start: Duration) -> Result<(), DeviceError>;

    /// A description of the device for the user, such as what it is connected to; none if there is nothing to say.
    fn description(&self) -> Option<String> {
        None
    }
}
