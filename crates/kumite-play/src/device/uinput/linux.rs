//! A gamepad through `/dev/uinput`, laid out as the kernel's Documentation/input/gamepad.rst asks, so that programs
//! know its buttons.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use input_linux::sys::{BUS_VIRTUAL, input_event};
use input_linux::{
    AbsoluteAxis, AbsoluteEvent, AbsoluteInfo, AbsoluteInfoSetup, EventKind, EventTime, InputId, Key,
    KeyEvent, KeyState, SynchronizeEvent, SynchronizeKind, UInputHandle,
};

use crate::{Control, Device, DeviceError, PadState};

const PATH: &str = "/dev/uinput";
const NAME: &str = "kumite";
/// The time in which programs notice a new gamepad. `READ` is the time in which they read its last state before it is
/// removed.
const NOTICED: Duration = Duration::from_secs(1);
const READ: Duration = Duration::from_millis(100);

/// The buttons and their keys: the action pad by its directions, the right triggers, the right stick, and the menu
/// pad.
const BUTTONS: [(Control, Key); 9] = [
    (Control::Cross, Key::ButtonSouth),
    (Control::Circle, Key::ButtonEast),
    (Control::Triangle, Key::ButtonNorth),
    (Control::Square, Key::ButtonWest),
    (Control::R1, Key::ButtonTR),
    (Control::R2, Key::ButtonTR2),
    (Control::R3, Key::ButtonThumbr),
    (Control::Share, Key::ButtonSelect),
    (Control::Options, Key::ButtonStart),
];

/// The axes of the direction pad, each with the control at -1 and that at 1.
const AXES: [(AbsoluteAxis, Control, Control); 2] =
    [(AbsoluteAxis::Hat0X, Control::Left, Control::Right), (AbsoluteAxis::Hat0Y, Control::Up, Control::Down)];

/// The axes of the left stick, which is never moved. The kernel sizes a report by the number of axes: without these,
/// all controls at once would be two reports.
const STICK: [AbsoluteAxis; 2] = [AbsoluteAxis::X, AbsoluteAxis::Y];

/// A gamepad, which programs see from its creation until this is dropped. Everything is released before the gamepad is
/// removed.
pub struct Uinput {
    uinput: UInputHandle<File>,
    node: Option<PathBuf>,
    /// The last state; none if the last write failed.
    state: Option<PadState>,
}

impl Uinput {
    /// Makes a gamepad, and waits for a second, so that programs notice it before it is played on. An error if the
    /// kernel refuses, mostly for lack of rights to `/dev/uinput`.
    pub fn create() -> Result<Uinput, DeviceError> {
        let gamepad = Uinput::create_at(Path::new(PATH))?;
        std::thread::sleep(NOTICED);
        Ok(gamepad)
    }

    fn create_at(path: &Path) -> Result<Uinput, DeviceError> {
        let make = || {
            let uinput = UInputHandle::new(File::options().write(true).open(path)?);
            uinput.set_evbit(EventKind::Key)?;
            for (_, key) in BUTTONS {
                uinput.set_keybit(key)?;
            }
            uinput.set_evbit(EventKind::Absolute)?;
            let range = AbsoluteInfo { minimum: -1, maximum: 1, ..AbsoluteInfo::default() };
            let axes = AXES.map(|(axis, ..)| axis).into_iter().chain(STICK);
            let axes: Vec<_> = axes.map(|axis| AbsoluteInfoSetup { axis, info: range }).collect();
            for setup in &axes {
                uinput.set_absbit(setup.axis)?;
            }
            let id = InputId { bustype: BUS_VIRTUAL, ..InputId::default() };
            uinput.create(&id, NAME.as_bytes(), 0, &axes)?;
            Ok(uinput)
        };
        let uinput = make().map_err(|source: io::Error| DeviceError::NoGamepad {
            path: path.to_owned(),
            remedy: remedy(&source),
            source,
        })?;
        let node = uinput.evdev_path().ok();
        Ok(Uinput { uinput, node, state: Some(PadState::RELEASED) })
    }
}

impl Device for Uinput {
    fn write(&mut self, state: PadState, since_start: Duration) -> Result<(), DeviceError> {
        let events = events(self.state, state);
        self.state = None;
        send(&self.uinput, &events)
            .map_err(|source| DeviceError::Gamepad { at_ms: since_start.as_secs_f64() * 1e3, source })?;
        self.state = Some(state);
        Ok(())
    }

    fn description(&self) -> Option<String> {
        let node = self.node.as_ref().map(|node| format!(", {}", node.display()));
        Some(format!("gamepad \"{NAME}\"{}", node.unwrap_or_default()))
    }
}

impl Drop for Uinput {
    fn drop(&mut self) {
        if self.state != Some(PadState::RELEASED) {
            // If that fails too, the kernel lets go of the buttons of a gamepad that is removed.
            let _ = send(&self.uinput, &events(self.state, PadState::RELEASED));
        }
        std::thread::sleep(READ);
    }
}

/// The events of a change from one state to another, as one report; all controls if the state before is not known.
/// Empty if nothing changes.
fn events(before: Option<PadState>, after: PadState) -> Vec<input_event> {
    let time = EventTime::default();
    let buttons = BUTTONS.iter().filter_map(|(control, key)| {
        let is_pressed = after.has(*control);
        let changes = before.is_none_or(|before| before.has(*control) != is_pressed);
        let value = if is_pressed { KeyState::PRESSED } else { KeyState::RELEASED };
        changes.then(|| KeyEvent::new(time, *key, value).into_event().into_raw())
    });
    let axes = AXES.iter().filter_map(|(axis, low, high)| {
        let position = |state: PadState| i32::from(state.has(*high)) - i32::from(state.has(*low));
        let changes = before.is_none_or(|before| position(before) != position(after));
        changes.then(|| AbsoluteEvent::new(time, *axis, position(after)).into_event().into_raw())
    });
    let mut events: Vec<input_event> = buttons.chain(axes).collect();
    if !events.is_empty() {
        events.push(SynchronizeEvent::new(time, SynchronizeKind::Report, 0).into_event().into_raw());
    }
    events
}

/// Sends events in one write, so that no program sees half a state.
fn send(uinput: &UInputHandle<impl AsRawFd>, events: &[input_event]) -> io::Result<()> {
    if events.is_empty() || uinput.write(events)? == events.len() {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::WriteZero, "the kernel took only a part of it"))
}

fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "load the kernel's module for it: modprobe uinput",
        io::ErrorKind::PermissionDenied => {
            "permit it by a udev rule, such as KERNEL==\"uinput\", TAG+=\"uaccess\", or be root"
        }
        _ => "is the kernel's module for it loaded? (modprobe uinput)",
    }
}

#[cfg(test)]
mod tests {
    use std::mem::{offset_of, size_of};
    use std::os::unix::net::UnixDatagram;

    use super::*;

    // From the kernel's input-event-codes.h, by number.
    const EV_SYN: u16 = 0;
    const EV_KEY: u16 = 1;
    const EV_ABS: u16 = 3;
    const REPORT: (u16, u16, i32) = (EV_SYN, 0, 0);

    fn sent_events(before: Option<PadState>, after: PadState) -> Vec<(u16, u16, i32)> {
        events(before, after).iter().map(|event| (event.type_, event.code, event.value)).collect()
    }

    #[test]
    fn each_control_has_the_kernels_code() {
        let buttons = [
            (Control::Cross, 0x130),
            (Control::Circle, 0x131),
            (Control::Triangle, 0x133),
            (Control::Square, 0x134),
            (Control::R1, 0x137),
            (Control::R2, 0x139),
            (Control::Share, 0x13a),
            (Control::Options, 0x13b),
            (Control::R3, 0x13e),
        ];
        for (control, code) in buttons {
            let state = PadState::from_iter([control]);
            assert_eq!(
                sent_events(Some(PadState::RELEASED), state),
                [(EV_KEY, code, 1), REPORT],
                "{control:?}"
            );
            assert_eq!(
                sent_events(Some(state), PadState::RELEASED),
                [(EV_KEY, code, 0), REPORT],
                "{control:?}"
            );
        }
        let directions = [
            (Control::Left, 0x10, -1),
            (Control::Right, 0x10, 1),
            (Control::Up, 0x11, -1),
            (Control::Down, 0x11, 1),
        ];
        for (control, code, value) in directions {
            let state = PadState::from_iter([control]);
            assert_eq!(
                sent_events(Some(PadState::RELEASED), state),
                [(EV_ABS, code, value), REPORT],
                "{control:?}"
            );
            assert_eq!(
                sent_events(Some(state), PadState::RELEASED),
                [(EV_ABS, code, 0), REPORT],
                "{control:?}"
            );
        }
    }

    #[test]
    fn only_what_changes_is_sent() {
        let crouch = PadState::from_iter([Control::Down]);
        let kick = crouch.with(Control::Circle);
        assert_eq!(sent_events(Some(kick), kick), []);
        assert_eq!(sent_events(Some(crouch), kick), [(EV_KEY, 0x131, 1), REPORT]);
        let jump = PadState::from_iter([Control::Up, Control::Right]);
        assert_eq!(
            sent_events(Some(kick), jump),
            [(EV_KEY, 0x131, 0), (EV_ABS, 0x10, 1), (EV_ABS, 0x11, -1), REPORT]
        );
    }

    #[test]
    fn all_is_sent_where_it_is_not_known_what_was_before() {
        let told = sent_events(None, PadState::RELEASED);
        assert_eq!(told.len(), 9 + 2 + 1);
        assert!(told.iter().all(|(_, _, value)| *value == 0));
    }

    /// The kernel's `struct input_event` of 64-bit machines: two longs of time, which uinput does not look at, type,
    /// code, value.
    #[cfg(target_pointer_width = "64")]
    #[test]
    fn a_state_is_one_write_of_the_kernels_structs() {
        assert_eq!(
            [
                offset_of!(libc::input_event, time),
                offset_of!(libc::input_event, type_),
                offset_of!(libc::input_event, code),
                offset_of!(libc::input_event, value),
            ],
            [0, 16, 18, 20]
        );
        assert_eq!(size_of::<libc::input_event>(), 24);
        // A datagram is what one write writes.
        let (kernel, ours) = UnixDatagram::pair().unwrap();
        kernel.set_nonblocking(true).unwrap();
        let state = PadState::from_iter([Control::Left, Control::Square]);
        send(&UInputHandle::new(ours), &events(Some(PadState::RELEASED), state)).unwrap();
        let mut bytes = [0; 1024];
        let length = kernel.recv(&mut bytes).unwrap();
        let expected = [(EV_KEY, 0x134_u16, 1_i32), (EV_ABS, 0x10, -1), REPORT];
        let expected: Vec<u8> = expected
            .iter()
            .flat_map(|(kind, code, value)| {
                let time = [0_u8; 16];
                [&time[..], &kind.to_ne_bytes(), &code.to_ne_bytes(), &value.to_ne_bytes()].concat()
            })
            .collect();
        assert_eq!(bytes[..length], expected);
        assert_eq!(kernel.recv(&mut bytes).unwrap_err().kind(), io::ErrorKind::WouldBlock, "one write");
    }

    #[test]
    fn what_refuses_a_gamepad_is_named_with_the_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("uinput");
        let error = |path: &Path| Uinput::create_at(path).err().expect("no uinput").to_string();
        let missing = error(&path);
        let load = remedy(&io::ErrorKind::NotFound.into());
        let gone = "No such file or directory (os error 2)";
        assert_eq!(missing, format!("cannot make a gamepad by {}: {gone}; {load}", path.display()));
        std::fs::write(&path, "").unwrap();
        assert!(error(&path).contains("(modprobe uinput)"), "a file that is no uinput: {}", error(&path));
        let forbidden = remedy(&io::ErrorKind::PermissionDenied.into());
        assert!(forbidden.contains("udev rule"), "{forbidden}");
    }
}
