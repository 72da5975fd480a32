//! Excerpts of a macro, with a caret below a fault.

use textwrap::core::display_width;

/// The most characters that are shown before the caret, and from it on.
const SHOWN: usize = 50;

/// A line, or the part of it around `column`, and a caret below that column. Both count from 1.
pub(super) fn excerpt(text: &[u8], line: usize, column: usize) -> String {
    let text = String::from_utf8_lossy(text).replace("\r\n", "\n").replace('\r', "\n");
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let line = text.split('\n').nth(line - 1).unwrap_or_default();
    let skipped = (column - 1).saturating_sub(SHOWN);
    let mut characters = line.chars().skip(skipped);
    let before: String = characters.by_ref().take(column - 1 - skipped).map(visible).collect();
    let from: String = characters.by_ref().take(SHOWN).map(visible).collect();
    let start = if skipped > 0 { "…" } else { "" };
    let end = if characters.next().is_some() { "…" } else { "" };
    let blanks = " ".repeat(display_width(start) + display_width(&before));
    format!("  {start}{before}{from}{end}\n  {blanks}^")
}

/// A character that is as wide as the given one looks, and that no terminal obeys.
fn visible(character: char) -> char {
    match character {
        '\t' => ' ',
        '\'' | '"' | '\\' => character,
        _ if character.escape_debug().len() > 1 => '\u{fffd}',
        _ => character,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_is_under_the_column() {
        assert_eq!(excerpt(b"2 1\r\n\t3,xx 1\r\n", 2, 4), "   3,xx 1\n     ^");
        assert_eq!(excerpt("\u{feff}\u{30d1},x 1".as_bytes(), 1, 3), "  \u{30d1},x 1\n     ^");
        assert_eq!(excerpt(b"2\r2,mk", 2, 5), "  2,mk\n      ^");
        assert_eq!(excerpt(b"\n", 2, 1), "  \n  ^");
        assert_eq!(excerpt(b"a\xff\x1b[2J\0", 1, 2), "  a\u{fffd}\u{fffd}[2J\u{fffd}\n   ^");
    }

    #[test]
    fn a_long_line_is_shown_in_part() {
        let line = format!("{}xy{}", "a".repeat(1_000_000), "b".repeat(1_000_000));
        let shown = format!("  …{}xy{}…\n  {}^", "a".repeat(49), "b".repeat(49), " ".repeat(51));
        assert_eq!(excerpt(line.as_bytes(), 1, 1_000_002), shown);
    }
}
