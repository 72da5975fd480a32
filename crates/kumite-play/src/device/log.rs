//! A device that prints the states that it is given.

use std::io::Write;
use std::time::Duration;

use super::Device;
use crate::{DeviceError, PadState};

/// A log: it prints the time of each state, and its keys in the notation: `133.467 ms  2,mk`. Each line is one write.
#[derive(Debug)]
pub struct Log<W> {
    to: W,
    /// The state that was prepared, and the part of its line behind the time.
    keys: (PadState, Vec<u8>),
    /// The line. It is kept, so that its memory is asked for once.
    line: Vec<u8>,
}

impl<W: Write> Log<W> {
    /// A log that prints to `to`.
    pub fn new(to: W) -> Log<W> {
        Log { to, keys: (PadState::RELEASED, keys(PadState::RELEASED)), line: Vec::with_capacity(128) }
    }
}

fn keys(state: PadState) -> Vec<u8> {
    format!(" ms  {state}\n").into_bytes()
}

impl<W: Write> Device for Log<W> {
    fn prepare(&mut self, next: PadState) {
        if self.keys.0 != next {
            self.keys = (next, keys(next));
        }
    }

    fn write(&mut self, state: PadState, since_start: Duration) -> Result<(), DeviceError> {
        self.prepare(state);
        let us = (since_start + Duration::from_nanos(500)).as_micros() as u64;
        self.line.clear();
        write!(self.line, "{:6}.{:03}", us / 1000, us % 1000)?;
        self.line.extend_from_slice(&self.keys.1);
        Ok(self.to.write_all(&self.line)?)
    }

    fn description(&self) -> Option<String> {
        Some("a log: nothing is pressed".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::{Control, Macro};

    /// A writer that keeps each write apart.
    struct Writes(Vec<String>);

    impl Write for Writes {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.push(String::from_utf8(bytes.to_vec()).map_err(io::Error::other)?);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_state_is_a_line_is_a_write() {
        let schedule = Macro::parse(b"2,mk 8\n3 1\n6,lp,hk,pause 65535\n9 1").unwrap().schedule();
        let mut log = Log::new(Writes(Vec::new()));
        for (due, state) in schedule.due(59.94) {
            log.prepare(state);
            log.write(state, due).unwrap();
        }
        log.write(PadState::RELEASED.with(Control::Cross), Duration::ZERO).unwrap();
        let lines = [
            "     0.000 ms  2,mk\n",
            "   133.467 ms  3\n",
            "   150.150 ms  6,lp,hk,start\n",
            "1093493.493 ms  9\n",
            "1093510.177 ms  5\n",
            "     0.000 ms  lk\n",
        ];
        assert_eq!(log.to.0, lines);
    }

    #[test]
    fn what_cannot_be_written_is_an_error() {
        let mut small = [0_u8; 3];
        let error = Log::new(&mut small[..]).write(PadState::RELEASED, Duration::ZERO).unwrap_err();
        assert!(matches!(&error, DeviceError::Log(why) if why.kind() == io::ErrorKind::WriteZero), "{error}");
    }
}
