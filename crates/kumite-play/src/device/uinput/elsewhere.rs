//! The gamepad on platforms without uinput.

use std::time::Duration;

use crate::{Device, DeviceError, PadState};

/// A gamepad through uinput. It cannot be made on this platform.
#[derive(Debug)]
pub enum Uinput {}

impl Uinput {
    /// Always an error: uinput is there on Linux only.
    pub fn create() -> Result<Uinput, DeviceError> {
        Err(DeviceError::OnlyLinux)
    }
}

impl Device for Uinput {
    fn write(&mut self, _: PadState, _: Duration) -> Result<(), DeviceError> {
        match *self {}
    }
}
