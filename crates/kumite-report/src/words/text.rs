//! Texts that others wrote: names, reasons, logs.

/// Replaces characters that would act on the reader's screen instead of being read: control characters, which a
/// terminal obeys and XML forbids, and characters that turn the direction of writing. Line breaks stay; tabs become
/// spaces; white space at the end is removed.
pub fn clean(text: &str) -> String {
    text.replace("\r\n", "\n").trim_end().chars().map(harmless).collect()
}

fn harmless(c: char) -> char {
    match c {
        '\n' => '\n',
        '\t' => ' ',
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}

/// Replaces control characters, and characters that turn the direction of writing, for a terminal. Line breaks, tabs
/// and white space at the end stay.
pub fn plain(text: &str) -> String {
    text.replace("\r\n", "\n").chars().map(|c| if c == '\t' { c } else { harmless(c) }).collect()
}

/// Replaces control characters as [`plain`] does, but keeps the sequences that set colours. These move nothing
/// and hide nothing.
pub fn plain_but_colours(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = plain(parts.next().unwrap_or_default());
    let rest = parts.map(|part| {
        let codes = part.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(part.len());
        match part[codes..].strip_prefix('m') {
            Some(rest) => format!("\x1b[{}m{}", &part[..codes], plain(rest)),
            None => format!("\u{fffd}[{}", plain(part)),
        }
    });
    [first].into_iter().chain(rest).collect()
}

/// A text on one line, without control characters and with single spaces.
pub fn one_line(text: &str) -> String {
    clean(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Cuts the middle out of a text longer than `width` characters, and puts `…` there, which makes at most `width`
/// characters. If `width` is 0, `…` alone is left. The end stays, because similar claims often differ at the end.
pub fn cut(text: &str, width: usize) -> String {
    let letters: Vec<char> = text.chars().collect();
    if letters.len() <= width {
        return text.to_owned();
    }
    let kept = width.saturating_sub(1);
    let (begin, end) = (&letters[..kept - kept / 3], &letters[letters.len() - kept / 3..]);
    let (begin, end): (String, String) = (begin.iter().collect(), end.iter().collect());
    format!("{}…{}", begin.trim_end_matches([' ', ',', '.', ';']), end.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_left_but_our_colours() {
        let hostile = "a\u{1b}]0;title\u{7}b\u{1b}[2Jc\u{9b}31md\re\u{202e}f\u{8}\tg\r\nh\n";
        let expected = "a\u{fffd}]0;title\u{fffd}b\u{fffd}[2Jc\u{fffd}31md\u{fffd}e\u{fffd}f\u{fffd}\tg\nh\n";
        assert_eq!(plain(hostile), expected);
        assert_eq!(plain_but_colours(hostile), expected);
        let coloured = "\u{1b}[1;31mred\u{1b}[0m \u{1b}[mplain";
        assert_eq!(plain_but_colours(coloured), coloured);
        assert_eq!(plain(coloured), "\u{fffd}[1;31mred\u{fffd}[0m \u{fffd}[mplain");
        for cut in ["\u{1b}", "\u{1b}[", "\u{1b}[3", "\u{1b}[3;"] {
            assert!(!plain_but_colours(cut).contains('\u{1b}'), "{cut:?}");
        }
    }

    #[test]
    fn what_is_cut_says_so() {
        assert_eq!(cut("abc def", 7), "abc def");
        assert_eq!(cut("abcdefghij, on all cores", 16), "abcdefghij…cores");
        assert_eq!(cut("abc, defghi", 6), "abc…i");
    }
}
