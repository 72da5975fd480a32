//! The width and the colours of a terminal. Without colours the text is the same.

use anstyle::AnsiColor;

/// The width and the colours of the terminal that texts are made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// True to use colours; nothing is said by colour alone.
    pub color: bool,
    /// The number of columns on a line; fewer than 40 count as 40.
    pub width: usize,
}

impl Style {
    /// The text in a style, or unchanged if colours are off.
    pub(crate) fn paint(self, style: anstyle::Style, text: &str) -> String {
        if self.color { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    /// The text in bold, or unchanged if colours are off.
    pub(crate) fn bold(self, text: &str) -> String {
        self.paint(anstyle::Style::new().bold(), text)
    }

    /// The text broken into lines, each indented by `indent` columns and with a line feed at its end.
    pub(crate) fn wrap(self, text: &str, indent: usize) -> String {
        let width = self.width.max(40).saturating_sub(indent);
        let margin = " ".repeat(indent);
        textwrap::wrap(text, width)
            .iter()
            .map(|line| format!("{margin}{line}").trim_end().to_owned() + "\n")
            .collect()
    }
}

/// The style of a verdict, by its word in files.
pub(crate) fn color(verdict: &str) -> anstyle::Style {
    let color = match verdict {
        "holds" => AnsiColor::Green,
        "fails" => AnsiColor::Red,
        "undecided" | "depends-on-sitting" => AnsiColor::Yellow,
        _ => AnsiColor::BrightBlack,
    };
    color.on_default().bold()
}
