//! Figures of a README that are to be those of its run.
//!
//! Such a figure has after it what it is, which Markdown does not show: `1.43<!-- claim ID effect.value -->`,
//! `25,300<!-- cell CONTENDER AXIS=VALUE METRIC -->`, `holds<!-- claim ID verdict -->`, `20261123-070322-7cd1<!-- run id -->`,
//! `60<!-- run trials -->`, `14<!-- run minutes -->`. A cell that names the axis within trials, such as `call=2`, is a part.
//! After the metric may stand `low`, `high` or `n`, and `/1000` at the end divides.

use std::ops::Range;

use anyhow::{Result, anyhow, bail};
use serde_json::Value;

use super::minutes;

const KINDS: [&str; 4] = ["claim ", "cell ", "run ", "machine "];

/// A figure, and what in a run it is.
#[derive(Debug)]
pub struct Mark {
    pub line: usize,
    pub shown: String,
    /// Where that is in the text.
    place: Range<usize>,
    of: String,
}

/// A figure whose value is another one now.
#[derive(Debug, PartialEq)]
pub struct Change {
    pub line: usize,
    pub was: String,
    /// None if it is no number, and words around it may say the same.
    pub is: Option<String>,
    pub of: String,
}

impl Mark {
    /// Why it is not what the first of the runs that has such a figure says, if it is not.
    pub fn wrong(&self, runs: &[&Value]) -> Option<String> {
        let Mark { shown, of, .. } = self;
        let why = match value_in(runs, of) {
            Ok(value) if is_shown(&value, shown) => return None,
            Ok(value) => format!("the run has {value}"),
            Err(why) => format!("{why:#}"),
        };
        Some(format!("{shown} ({of}): {why}"))
    }
}

/// All of a document.
pub fn marks(text: &str) -> Vec<Mark> {
    let of_comment = |(start, _): (usize, &str)| {
        let (of, _) = text[start..].strip_prefix("<!-- ")?.split_once(" -->")?;
        KINDS.iter().any(|kind| of.starts_with(kind)).then_some(())?;
        let before = text[..start].rsplit('\n').next().unwrap_or(text);
        let before = before.rsplit(" -->").next().unwrap_or(before);
        let shown = before.split_whitespace().next_back().unwrap_or(before);
        let shown = shown.trim_start_matches(['(', '*', '`', '|', '–']).trim_end_matches(['*', '`']);
        let shown = shown.rsplit('–').next().unwrap_or(shown);
        let begin = shown.as_ptr() as usize - text.as_ptr() as usize;
        Some(Mark {
            line: text[..start].matches('\n').count() + 1,
            shown: shown.to_owned(),
            place: begin..begin + shown.len(),
            of: of.to_owned(),
        })
    };
    text.match_indices("<!-- ").filter_map(of_comment).collect()
}

/// The document with the figures that the runs have now, as exactly as they were written; and which are others.
pub fn renewed(text: &str, runs: &[&Value]) -> (String, Vec<Change>) {
    let (mut renewed, mut from, mut changes) = (String::new(), 0, Vec::new());
    for mark in marks(text).into_iter().filter(|mark| mark.wrong(runs).is_some()) {
        let is = value_in(runs, &mark.of).ok().and_then(|value| written_as(value.as_f64()?, &mark.shown));
        renewed += &text[from..mark.place.start];
        renewed += is.as_ref().unwrap_or(&mark.shown);
        from = mark.place.end;
        changes.push(Change { line: mark.line, was: mark.shown, is, of: mark.of });
    }
    (renewed + &text[from..], changes)
}

/// What the first of the runs that has it says, else why the first has not.
fn value_in(runs: &[&Value], to: &str) -> Result<Value> {
    let mut all = runs.iter().map(|run| value(run, to));
    let first = all.next().unwrap_or_else(|| Err(anyhow!("there is no run")));
    first.or_else(|why| all.find_map(Result::ok).ok_or(why))
}

fn value(run: &Value, to: &str) -> Result<Value> {
    let (path, divisor) =
        match to.rsplit_once('/').and_then(|(path, by)| Some((path, by.parse::<f64>().ok()?))) {
            Some((path, divisor)) => (path, divisor),
            None => (to, 1.0),
        };
    let words: Vec<&str> = path.split_whitespace().collect();
    let value = match words.as_slice() {
        ["run", "minutes"] => minutes(run)?.into(),
        ["run", "trials"] => run["trials"].as_array().map(Vec::len).into(),
        [part @ ("run" | "machine"), key] => run[*part][*key].clone(),
        ["claim", id, key] => {
            let claim = entry(run, "claims", |claim| claim["id"] == *id)?;
            key.split('.').fold(claim, |value, key| &value[key]).clone()
        }
        ["cell", contender, rest @ ..] => {
            let is_point = |word: &&&str| word.contains('=');
            let point: Vec<(&str, &str)> =
                rest.iter().filter(is_point).filter_map(|word| word.split_once('=')).collect();
            let rest: Vec<&str> = rest.iter().filter(|word| !is_point(word)).copied().collect();
            let is_at = |cell: &Value| {
                point.iter().all(|(axis, value)| cell["point"][*axis].to_string().trim_matches('"') == *value)
            };
            // A part of a trial is named by the axis within it.
            let within = run["run"]["within"]["axis"].as_str();
            let is_part = point.iter().any(|(axis, _)| Some(*axis) == within);
            let cells = if is_part { "parts" } else { "cells" };
            let cell = entry(run, cells, |cell| cell["contender"] == *contender && is_at(cell))?;
            let (metric, key) = match rest.as_slice() {
                [metric] => (metric, "estimate"),
                [metric, key] => (metric, *key),
                _ => bail!("write: cell CONTENDER AXIS=VALUE … METRIC"),
            };
            cell["metrics"][*metric][key].clone()
        }
        _ => {
            bail!("write: claim ID KEY, cell CONTENDER AXIS=VALUE … METRIC, run KEY or machine KEY");
        }
    };
    match value.as_f64() {
        _ if value.is_null() => Err(anyhow!("the run has no such value")),
        Some(number) => Ok((number / divisor).into()),
        None => Ok(value),
    }
}

/// The only entry of that list that is meant.
fn entry<'a>(run: &'a Value, list: &str, is_meant: impl Fn(&Value) -> bool) -> Result<&'a Value> {
    let meant: Vec<&Value> =
        run[list].as_array().into_iter().flatten().filter(|entry| is_meant(entry)).collect();
    match meant.as_slice() {
        [entry] => Ok(entry),
        [] => Err(anyhow!("the run has no such entry in {list}")),
        several => Err(anyhow!("{} entries of {list} are such: name more axes", several.len())),
    }
}

/// True if the text is the value, rounded to the digits that are written.
pub fn is_shown(value: &Value, shown: &str) -> bool {
    let Some(value) = value.as_f64() else {
        return value
            .as_str()
            .is_some_and(|value| value == shown || value.replace('-', " ").ends_with(shown));
    };
    let plain = plain(shown);
    let Ok(number) = plain.parse::<f64>() else { return false };
    (value - number).abs() <= last_digit(&plain, value) / 2.0 * (1.0 + 1e-9)
}

/// A number with as many digits, and written in the same way.
fn written_as(value: f64, shown: &str) -> Option<String> {
    let plain = plain(shown);
    let was = plain.parse::<f64>().ok()?;
    let text = match plain.split_once('.') {
        Some((_, decimals)) => format!("{:.*}", decimals.len(), value.abs()),
        None => {
            let step = last_digit(&plain, value);
            format!("{:.0}", (value.abs() / step).round() * step)
        }
    };
    // Below a thousand nothing tells how thousands are written.
    let has_commas = shown.contains(',') || was.abs() < 1000.0;
    let text = if has_commas { with_commas(&text) } else { text };
    let minus = if shown.starts_with('-') { "-" } else { "−" };
    let is_negative = value < 0.0 && text.contains(|digit| ('1'..='9').contains(&digit));
    Some(if is_negative { format!("{minus}{text}") } else { text })
}

fn with_commas(number: &str) -> String {
    let (whole, rest) = number.split_at(number.find('.').unwrap_or(number.len()));
    let mut text = String::new();
    for (nth, digit) in whole.chars().enumerate() {
        if nth > 0 && (whole.len() - nth) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text + rest
}

fn plain(shown: &str) -> String {
    shown.replace(',', "").replace('−', "-")
}

/// The worth of the last digit that is written of this value.
fn last_digit(plain: &str, value: f64) -> f64 {
    match plain.split_once('.') {
        Some((_, decimals)) => 0.1f64.powi(decimals.len() as i32),
        // The zeros at the end of a whole number may be rounded, or its digits. Three digits are never rounded away: 160 is
        // not 164.9.
        None => {
            let zeros = (plain.len() - plain.trim_end_matches('0').len()) as i32;
            let third_digit = value.abs().max(100.0).log10().floor() as i32 - 2;
            10f64.powi(zeros.min(third_digit))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::run;
    use super::*;

    #[test]
    fn a_figure_is_that_of_the_run_rounded_as_it_is_written() {
        let text = "It is 1.43<!-- claim a-b effect.value --> (25,300<!-- cell a n=1 t_us -->, 25.26<!-- cell a n=1 t_us/1000 -->;\n\
                    2–0.049<!-- cell a n=2 m=all t_us -->), difference<!-- claim a-b verdict -->, `7<!-- run seed -->`; \
                    2<!-- run trials --> trials in 14<!-- run minutes --> minutes, 13.6<!-- run minutes -->.";
        let found = marks(text);
        assert_eq!(found.iter().map(|mark| mark.line).collect::<Vec<_>>(), [1, 1, 1, 2, 2, 2, 2, 2, 2]);
        for mark in found {
            assert_eq!(mark.wrong(&[&run()]), None);
            assert_eq!(text[mark.place.clone()], mark.shown);
        }
        assert_eq!(renewed(text, &[&run()]), (text.to_owned(), Vec::new()));
    }

    #[test]
    fn a_figure_that_the_first_run_has_not_is_that_of_the_second() {
        let mut second = run();
        second["cells"][0]["metrics"]["t_us"]["estimate"] = 1.into();
        second["cells"][1]["contender"] = "b".into();
        let text = "25,260<!-- cell a n=1 t_us -->, 9<!-- cell b n=2 t_us/0.01 -->, 3<!-- cell c t_us -->";
        let (is, changes) = renewed(text, &[&run(), &second]);
        assert_eq!(is, text.replace('9', "5"));
        assert_eq!(changes.iter().map(|of| of.is.as_deref()).collect::<Vec<_>>(), [Some("5"), None]);
        let why = marks(text)[2].wrong(&[&run(), &second]).unwrap();
        assert_eq!(why, "3 (cell c t_us): the run has no such entry in cells");
    }

    #[test]
    fn another_figure_is_found_out() {
        for (shown, to) in [
            ("1.42", "claim a-b effect.value"),
            ("1.4", "run seed"),
            ("25,200", "cell a n=1 t_us"),
            ("25,000", "cell a n=1 t_us"),
            ("holds", "claim a-b verdict"),
        ] {
            assert!(!is_shown(&value(&run(), to).unwrap(), shown), "{shown} {to}");
        }
        for to in [
            "claim b effect.value",
            "claim a-b effect.bound.high",
            "cell a t_us",
            "cell a n=3 t_us",
            "cell a",
            "nothing",
            "cell a n=1 x_us",
        ] {
            assert!(value(&run(), to).is_err(), "{to}");
        }
        assert!(marks("<!-- a comment --> 1<!-- claimed -->").is_empty());
    }

    #[test]
    fn a_figure_that_is_another_now_is_written_as_the_old_one_was_and_words_are_left() {
        let text = "1.9<!-- claim a-b effect.value --> (of 24,000<!-- cell a n=1 t_us -->), so it\n**holds**<!-- claim a-b verdict -->, \
                    14<!-- run minutes -->.";
        let (is, changes) = renewed(text, &[&run()]);
        let expected = "1.4<!-- claim a-b effect.value --> (of 25,300<!-- cell a n=1 t_us -->), so it\n**holds**<!-- claim a-b verdict -->, \
                    14<!-- run minutes -->.";
        assert_eq!(is, expected);
        let told: Vec<_> = changes.iter().map(|of| (of.line, of.was.as_str(), of.is.as_deref())).collect();
        assert_eq!(told, [(1, "1.9", Some("1.4")), (1, "24,000", Some("25,300")), (2, "holds", None)]);
    }

    #[test]
    fn a_number_keeps_its_digits_commas_and_minus() {
        for (value, shown, expected) in [
            (1.4268, "1.39", "1.43"),
            (25_260.0, "9,900", "25,300"),
            (25_260.0, "990", "25,260"),
            (25_260.0, "9911", "25260"),
            (1_234_567.8, "1,000.5", "1,234,567.8"),
            (-3.25, "−1.5", "−3.2"),
            (-3.25, "-1.5", "-3.2"),
            (0.0, "−1.5", "0.0"),
            (-0.01, "1.5", "0.0"),
            (7.0, "100", "7"),
            (164.9, "160", "165"),
        ] {
            assert_eq!(written_as(value, shown).as_deref(), Some(expected), "{value} as {shown}");
        }
        assert_eq!(written_as(1.0, "holds"), None);
    }
}
