//! Words that others wrote: names, reasons, logs.

/// Takes out what would act on the reader instead of being read: control characters (a terminal obeys them, XML forbids
/// them) and those that turn the direction of writing. Line breaks stay.
pub fn clean(text: &str) -> String {
    text.replace("\r\n", "\n")
        .trim_end()
        .chars()
        .map(|c| match c {
            '\n' => '\n',
            '\t' => ' ',
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
            c if c.is_control() => '\u{fffd}',
            c => c,
        })
        .collect()
}

/// The same on one line.
pub fn one_line(text: &str) -> String {
    clean(text).split_whitespace().collect::<Vec<_>>().join(" ")
}
