//! How a terminal is written to. Colour is an addition: without it the text is the same.

use anstyle::AnsiColor;

/// How a terminal is written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// True if colours are wanted; nothing is said by colour alone.
    pub color: bool,
    /// Columns that fit on a line; fewer than 40 count as 40.
    pub width: usize,
}

impl Style {
    /// The text in that style, where colours are wanted.
    pub(crate) fn paint(self, style: anstyle::Style, text: &str) -> String {
        if self.color { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    /// A heading.
    pub(crate) fn bold(self, text: &str) -> String {
        self.paint(anstyle::Style::new().bold(), text)
    }

    /// The text broken into lines, all of them indented, each with its line feed.
    pub(crate) fn wrap(self, text: &str, indent: usize) -> String {
        let width = self.width.max(40).saturating_sub(indent);
        let margin = " ".repeat(indent);
        textwrap::wrap(text, width)
            .iter()
            .map(|line| format!("{margin}{line}").trim_end().to_owned() + "\n")
            .collect()
    }
}

/// The colour of a verdict, by its word.
pub(crate) fn color(verdict: &str) -> anstyle::Style {
    let color = match verdict {
        "holds" => AnsiColor::Green,
        "fails" => AnsiColor::Red,
        "undecided" | "depends-on-sitting" => AnsiColor::Yellow,
        _ => AnsiColor::BrightBlack,
    };
    color.on_default().bold()
}
