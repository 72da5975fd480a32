//! Where there is no uinput.

use std::time::Duration;

use crate::{Device, DeviceError, PadState};

/// A gamepad through uinput. There is none here.
#[derive(Debug)]
pub enum Uinput {}

impl Uinput {
    /// An error: uinput is Linux's.
    pub fn create() -> Result<Uinput, DeviceError> {
        Err(DeviceError::OnlyLinux)
    }
}

impl Device for Uinput {
    fn write(&mut self, _: PadState, _: Duration) -> Result<(), DeviceError> {
        match *self {}
    }
}
