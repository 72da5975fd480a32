//! The log of a call: the lines around what a function wrote, and its end.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// The most bytes of a log that a caller gets: its end.
pub(crate) const TAIL_BYTES: usize = 4096;

/// The figures of a REPORT line.
pub(crate) struct Report<'a> {
    pub request_id: &'a str,
    pub duration: Duration,
    pub billed: Duration,
    pub memory_mb: u32,
    pub max_memory_bytes: u64,
    /// The length of the init phase; none unless the call was cold and the phase was done.
    pub init: Option<Duration>,
    /// `timeout` or `error`; none if the call succeeded.
    pub status: Option<&'a str>,
}

/// The log of a call: what the function wrote, between the START line and the END and REPORT lines.
pub(crate) fn of_call(wrote: &str, report: &Report) -> String {
    let id = report.request_id;
    let end_of_line = if wrote.is_empty() || wrote.ends_with('\n') { "" } else { "\n" };
    format!(
        "START RequestId: {id} Version: $LATEST\n{wrote}{end_of_line}END RequestId: {id}\n{}",
        report.line()
    )
}

/// The INIT_REPORT line of an init phase that failed; `status` is `timeout` or `error`.
pub(crate) fn init_report(took: Duration, status: &str) -> String {
    format!("INIT_REPORT Init Duration: {:.2} ms\tPhase: init\tStatus: {status}\n", ms(took))
}

impl Report<'_> {
    fn line(&self) -> String {
        let mut line = format!(
            "REPORT RequestId: {}\tDuration: {:.2} ms\tBilled Duration: {} ms\tMemory Size: {} MB\tMax Memory Used: {} MB",
            self.request_id,
            ms(self.duration),
            self.billed.as_millis(),
            self.memory_mb,
            self.max_memory_bytes.div_ceil(1 << 20),
        );
        if let Some(init) = self.init {
            line += &format!("\tInit Duration: {:.2} ms", ms(init));
        }
        if let Some(status) = self.status {
            line += &format!("\tStatus: {status}");
        }
        line + "\n"
    }
}

/// The end of a log in base64, as callers get it. It begins with a whole character.
pub(crate) fn tail(log: &str) -> String {
    let from = log.ceil_char_boundary(log.len().saturating_sub(TAIL_BYTES));
    BASE64_STANDARD.encode(&log[from..])
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_as_people_know_it() {
        let mut report = Report {
            request_id: "8f5f-1",
            duration: Duration::from_micros(14_531_570),
            billed: Duration::from_millis(14_600),
            memory_mb: 128,
            max_memory_bytes: 27 << 20,
            init: None,
            status: None,
        };
        let short = report.line();
        assert_eq!(
            short,
            "REPORT RequestId: 8f5f-1\tDuration: 14531.57 ms\tBilled Duration: 14600 ms\tMemory Size: 128 MB\tMax Memory Used: 27 MB\n"
        );
        report.init = Some(Duration::from_micros(123_456));
        report.status = Some("timeout");
        let longer = report.line();
        assert_eq!(
            longer.strip_prefix(short.trim_end()),
            Some("\tInit Duration: 123.46 ms\tStatus: timeout\n")
        );
    }

    #[test]
    fn a_caller_gets_the_last_4_kib_of_a_log() {
        let decoded = |log: &str| BASE64_STANDARD.decode(tail(log)).unwrap();
        assert_eq!(decoded("short"), b"short");
        let long = "a".repeat(5000) + "b";
        assert_eq!(decoded(&long).len(), TAIL_BYTES);
        assert_eq!(decoded(&long).last(), Some(&b'b'));
    }

    #[test]
    fn no_character_is_cut() {
        for (character, before, length) in [
            ("ü", "", 4096),
            ("ü", "a", 4096),
            ("ü", "aa", 4096),
            ("ü\n", "", 4096),
            ("ü\n", "a", 4096),
            ("x€", "", 4096),
            ("€", "", 4095),
            ("😀", "a", 4096),
        ] {
            let log = format!("{before}{}", character.repeat(3000));
            let decoded = String::from_utf8(BASE64_STANDARD.decode(tail(&log)).unwrap()).unwrap();
            assert!(log.ends_with(&decoded), "{character}");
            assert_eq!(decoded.len(), length, "{character} {before}");
        }
    }
}
