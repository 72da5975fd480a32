//! Progress: a bar on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::output;

const LINE_INTERVAL: Duration = Duration::from_secs(5);

pub struct Progress {
    bar: ProgressBar,
    terminal: bool,
    last_line: Option<Instant>,
}

impl Progress {
    /// Begins to show the progress of `steps` steps on standard error; 0 if their number is not known.
    pub fn new(steps: usize) -> Progress {
        let terminal = std::io::stderr().is_terminal();
        let bar = if terminal { ProgressBar::new(steps as u64) } else { ProgressBar::hidden() };
        let template = if steps > 0 { "{bar:20} {pos}/{len} {wide_msg}" } else { "{spinner} {wide_msg}" };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Progress { bar, terminal, last_line: None }
    }

    /// Shows that `done` of `total` steps are done: on a terminal at once, elsewhere by a line at most every 5 s and
    /// at the end. A `total` of 0 is not shown.
    pub fn step(&mut self, done: usize, total: usize, message: &str) {
        self.bar.set_position(done as u64);
        self.bar.set_message(kumite_report::plain(message));
        if total > 0 {
            self.line(&format!("{done}/{total} {message}"), done == total);
        } else {
            self.line(message, false);
        }
    }

    /// Shows a message beside the bar, on a terminal only.
    pub fn show(&self, message: &str) {
        self.bar.set_message(kumite_report::plain(message));
        self.bar.tick();
    }

    /// Writes a line that stays on the screen.
    pub fn note(&self, text: &str) {
        if self.terminal { self.bar.println(output::wrapped(text)) } else { output::note(text) }
    }

    /// Writes a line that stays on the screen, with its colours but without other control characters.
    pub fn coloured_note(&self, text: &str) {
        let text = kumite_report::plain_but_colours(text);
        if self.terminal { self.bar.println(output::folded(&text)) } else { output::coloured_note(&text) }
    }

    fn line(&mut self, text: &str, now: bool) {
        let due = self.last_line.is_none_or(|last| last.elapsed() >= LINE_INTERVAL);
        if !self.terminal && (due || now) {
            output::note(text);
            self.last_line = Some(Instant::now());
        }
    }

    /// Takes the bar off the screen.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}
