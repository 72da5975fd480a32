//! The Titan One as a device.

use std::path::Path;
use std::time::Duration;

use super::Device;
use crate::titan_one::TitanOne;
use crate::{DeviceError, PadState};

/// The number of times that the adapter is looked for; `APART` is the time between two of them.
const TRIES: usize = 3;
const APART: Duration = Duration::from_millis(100);

/// A Titan One, an adapter that a console takes for its controller, reached through its maker's library.
///
/// When this is dropped, everything is released, if the adapter takes that state, and the library is unloaded.
#[derive(Debug)]
pub struct Gcapi {
    titan_one: TitanOne,
    description: String,
    /// The number of states that it was given.
    states: usize,
    released: bool,
}

impl Gcapi {
    /// Loads the library, a `.dll` or `.so` for the platform of this program, and looks for the adapter three times,
    /// 100 ms apart. An error if the library cannot be loaded, or no adapter is connected.
    pub fn connect(library: &Path) -> Result<Gcapi, DeviceError> {
        let mut titan_one = TitanOne::load(library)?;
        let is_connected = (0..TRIES).any(|nth| {
            if nth > 0 {
                std::thread::sleep(APART);
            }
            titan_one.is_connected()
        });
        if !is_connected {
            return Err(DeviceError::NotConnected { tries: TRIES });
        }
        let description = describe(
            titan_one.firmware(),
            titan_one.report().map(|report| (report.console, report.controller)),
        );
        Ok(Gcapi { titan_one, description, states: 0, released: true })
    }
}

impl Device for Gcapi {
    fn write(&mut self, state: PadState, since_start: Duration) -> Result<(), DeviceError> {
        self.states += 1;
        let is_taken = self.titan_one.write(state);
        self.released = is_taken && state == PadState::RELEASED;
        if is_taken {
            Ok(())
        } else {
            Err(DeviceError::NotTaken { nth: self.states, at_ms: since_start.as_secs_f64() * 1e3 })
        }
    }

    fn description(&self) -> Option<String> {
        Some(self.description.clone())
    }
}

impl Drop for Gcapi {
    fn drop(&mut self) {
        if !self.released {
            self.titan_one.write(PadState::RELEASED);
        }
    }
}

/// A description of the adapter, and of the console and the controller at its `ends`, given by the header's numbers.
/// The number of the firmware is shown as it is, since its meaning is not documented; not if it is 0.
fn describe(firmware: u16, ends: Option<(u8, u8)>) -> String {
    let mut text = "Titan One".to_owned();
    if firmware != 0 {
        text += &format!(", firmware {firmware:#06x}");
    }
    if let Some((console, controller)) = ends {
        text += match console {
            0 => ", at no console",
            1 => ", at a PlayStation 3",
            2 => ", at an Xbox 360",
            3 => ", at a PlayStation 4",
            4 => ", at an Xbox One",
            _ => ", at a console",
        };
        text += match controller >> 4 {
            0 => ", without a controller",
            1 => ", with a PlayStation 3's controller",
            2 => ", with an Xbox 360's controller",
            3 => ", with a Wii's controller",
            4 => ", with a PlayStation 4's controller",
            5 => ", with an Xbox One's controller",
            _ => ", with a controller",
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_adapter_says_what_is_known_of_it() {
        assert_eq!(describe(0, None), "Titan One");
        assert_eq!(
            describe(0x0115, Some((3, 0x10))),
            "Titan One, firmware 0x0115, at a PlayStation 4, with a PlayStation 3's controller"
        );
        assert_eq!(describe(0, Some((0, 0))), "Titan One, at no console, without a controller");
    }
}
