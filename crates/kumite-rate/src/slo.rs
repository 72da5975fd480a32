//! Service level objectives for a server: `p99 < 10ms and errors < 0.1%`.

use std::fmt;
use std::time::Duration;

use crate::part::{PartError, PartName, Sessions};

/// A service level objective: one or more conditions, all of which a trial must meet.
#[derive(Clone, Debug, PartialEq)]
pub struct Slo {
    pub(crate) conditions: Vec<Condition>,
}

/// The percentiles that an objective may name, as [`kumite_load::PERCENTILES`] has those of a report.
const PERCENTILES: [(&str, u64); 7] =
    [("p50", 2), ("p75", 4), ("p90", 10), ("p95", 20), ("p99", 100), ("p99_9", 1_000), ("p99_99", 10_000)];

/// The error for a text that is no [`Slo`]: the character at which it is wrong, and what was expected there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?}, character {at}: expected {expected}; write an SLO like 'p99 < 10ms and errors < 0.1%'")]
pub struct SloError {
    text: String,
    /// The number of the character, from 1.
    at: usize,
    expected: &'static str,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Condition {
    pub subject: Subject,
    /// The request or the session that it is about; `None` for all requests.
    pub part: Option<PartName>,
    /// The value must be below the limit; without this it may also be the limit itself.
    below: bool,
    /// The limit, in µs; for errors a share from 0 to 1.
    pub limit: f64,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Subject {
    /// The percentile of this name, beyond which one request in this number lies.
    Percentile(&'static str, u64),
    Mean,
    Max,
    Errors,
}

impl Slo {
    /// Parses conditions joined by `and` or commas. Each has a subject, an operator and a limit. The subject is `p50`,
    /// `p75`, `p90`, `p95`, `p99`, `p99.9`, `p99.99`, `mean` or `max` of the response time, or `errors`. It is about all
    /// requests or, followed by `of NAME`, about one request of several or about one session; `of NAME of SESSION` is
    /// the request of that session. A name with a blank, a comma or an operator in it stands in double quotes. The
    /// operator is `<`, `<=` or `≤`. The limit is a time in `us`, `ms` or `s`; for `errors` it is a share in `%`.
    /// `errors = 0` is a condition, too. It is added if the text has no condition on the errors of all requests, so
    /// that no error is allowed.
    ///
    /// # Errors
    ///
    /// If the text is no objective. The error says what was expected, and at which character.
    pub fn parse(text: &str) -> Result<Slo, SloError> {
        let mut parser = Parser { text, at: 0 };
        let mut conditions = vec![parser.condition()?];
        while !parser.done() {
            parser.joint()?;
            conditions.push(parser.condition()?);
        }
        if !conditions
            .iter()
            .any(|condition| condition.subject == Subject::Errors && condition.part.is_none())
        {
            conditions.push(Condition {
                subject: Subject::Errors,
                part: None,
                below: false,
                limit: 0.0,
                text: "errors = 0".to_owned(),
            });
        }
        Ok(Slo { conditions })
    }

    /// The longest time that the SLO names; `None` if it names none. A load's time-out must be longer than this time.
    pub fn longest(&self) -> Option<Duration> {
        self.conditions.iter().filter_map(Condition::time).max()
    }

    /// Looks for what the conditions are about among the requests and sessions of these names.
    ///
    /// # Errors
    ///
    /// If a name is that of none, or of several.
    pub fn check_names(&self, sessions: &Sessions<'_>) -> Result<(), PartError> {
        let mut named = self.conditions.iter().filter_map(|condition| condition.part.as_ref());
        named.try_for_each(|name| name.find(sessions).map(drop))
    }
}

impl fmt::Display for Slo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<&str> = self.conditions.iter().map(|condition| condition.text.as_str()).collect();
        f.write_str(&texts.join(" and "))
    }
}

impl Condition {
    pub fn holds(&self, figure: f64) -> bool {
        if self.below { figure < self.limit } else { figure <= self.limit }
    }

    /// The limit as a time; `None` for a share.
    pub fn time(&self) -> Option<Duration> {
        (self.subject != Subject::Errors).then(|| Duration::from_secs_f64(self.limit / 1e6))
    }
}

const SUBJECTS: &str = "p50, p75, p90, p95, p99, p99.9, p99.99, mean, max or errors";

struct Parser<'a> {
    text: &'a str,
    /// The position in the text, in bytes.
    at: usize,
}

impl<'a> Parser<'a> {
    fn condition(&mut self) -> Result<Condition, SloError> {
        self.blank();
        let start = self.at;
        let name = self.take(|c| c.is_ascii_alphanumeric() || c == '.');
        let percentile = PERCENTILES.iter().find(|(known, _)| known.replace('_', ".") == name).copied();
        let subject = match (name, percentile) {
            (_, Some((name, one_in))) => Subject::Percentile(name, one_in),
            ("mean", _) => Subject::Mean,
            ("max", _) => Subject::Max,
            ("errors", _) => Subject::Errors,
            _ => return Err(self.error(start, SUBJECTS)),
        };
        let part = self.part()?;
        let (before, operator) = (self.at, self.take(|c| matches!(c, '<' | '=' | '>' | '≤')));
        let none_allowed = operator == "=" && subject == Subject::Errors;
        if !none_allowed && !matches!(operator, "<" | "<=" | "≤") {
            return Err(self.error(before, "< or <="));
        }
        self.blank();
        let before = self.at;
        let number: Option<f64> = self.take(|c| c.is_ascii_digit() || c == '.').parse().ok();
        let number = number.ok_or_else(|| self.error(before, "a number"))?;
        self.blank();
        let unit = self.at;
        let scale = match (self.take(|c| c.is_alphabetic() || c == '%'), subject) {
            ("%", Subject::Errors) => 1e-2,
            ("", Subject::Errors) if number == 0.0 => 1.0,
            (_, Subject::Errors) => return Err(self.error(unit, "a share in %")),
            ("us" | "µs", _) => 1.0,
            ("ms", _) => 1e3,
            ("s", _) => 1e6,
            _ => return Err(self.error(unit, "a unit: us, ms or s")),
        };
        let (limit, below) = (number * scale, operator == "<");
        match subject {
            Subject::Errors if none_allowed && limit > 0.0 => {
                Err(self.error(before, "0 after =, or < for a share"))
            }
            Subject::Errors if limit > 1.0 => Err(self.error(before, "a share of at most 100 %")),
            _ if below && limit == 0.0 => Err(self.error(before, "more than 0, for nothing is below it")),
            _ if limit > 1e12 => Err(self.error(before, "a time that somebody waits")),
            _ => Ok(Condition {
                subject,
                part,
                below,
                limit,
                text: self.text[start..self.at].trim().to_owned(),
            }),
        }
    }

    /// `of NAME` or `of NAME of SESSION`, and the blanks around it; `None` if there is no `of`.
    fn part(&mut self) -> Result<Option<PartName>, SloError> {
        let Some(name) = self.named()? else { return Ok(None) };
        let session = self.named()?;
        Ok(Some(PartName { name, session }))
    }

    fn named(&mut self) -> Result<Option<String>, SloError> {
        self.blank();
        let is_of =
            self.text[self.at..].strip_prefix("of").is_some_and(|rest| rest.starts_with(char::is_whitespace));
        if !is_of {
            return Ok(None);
        }
        self.at += "of".len();
        self.blank();
        let start = self.at;
        let name = if self.text[start..].starts_with('"') {
            self.at += 1;
            let name = self.take(|c| c != '"');
            if self.done() {
                return Err(self.error(start, "a name that ends with its quote"));
            }
            self.at += 1;
            name
        } else {
            self.take(|c| !c.is_whitespace() && !matches!(c, '<' | '=' | '>' | '≤' | ',' | '"'))
        };
        self.blank();
        match name {
            "" => Err(self.error(start, "the name of a request or of a session")),
            name => Ok(Some(name.to_owned())),
        }
    }

    fn joint(&mut self) -> Result<(), SloError> {
        let before = self.at;
        if self.text[self.at..].starts_with(',') {
            self.at += 1;
            return Ok(());
        }
        match self.take(char::is_alphabetic) {
            "and" => Ok(()),
            _ => Err(self.error(before, "'and', a comma or the end")),
        }
    }

    fn done(&mut self) -> bool {
        self.blank();
        self.at == self.text.len()
    }

    fn blank(&mut self) {
        self.take(char::is_whitespace);
    }

    fn take(&mut self, part: impl Fn(char) -> bool) -> &'a str {
        let rest = &self.text[self.at..];
        let taken = &rest[..rest.find(|c| !part(c)).unwrap_or(rest.len())];
        self.at += taken.len();
        taken
    }

    fn error(&self, at: usize, expected: &'static str) -> SloError {
        SloError { text: self.text.to_owned(), at: self.text[..at].chars().count() + 1, expected }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_right_objective_is_parsed_and_printed() {
        let text = |text: &str| Slo::parse(text).unwrap().to_string();
        assert_eq!(text("p99 < 10ms"), "p99 < 10ms and errors = 0");
        assert_eq!(text(" p99.9<=1.5 s,errors < 0.1% "), "p99.9<=1.5 s and errors < 0.1%");
        assert_eq!(
            text("mean < 500us and max ≤ 1s and errors = 0"),
            "mean < 500us and max ≤ 1s and errors = 0"
        );
        let slo = Slo::parse("p50 < 500us, max < 2s, errors <= 0.1 %").unwrap();
        assert_eq!(slo.longest(), Some(Duration::from_secs(2)));
        assert_eq!(text("p95 of list<20ms"), "p95 of list<20ms and errors = 0");
        assert_eq!(
            text("errors of \"GET /a, b\" of  buy = 0, p75  of buy<= 2s and errors <1%"),
            "errors of \"GET /a, b\" of  buy = 0 and p75  of buy<= 2s and errors <1%"
        );
    }

    #[test]
    fn a_condition_names_what_it_is_about() {
        let part = |text: &str| Slo::parse(text).unwrap().conditions[0].part.clone();
        let named = |name: &str, session: Option<&str>| {
            Some(PartName { name: name.to_owned(), session: session.map(str::to_owned) })
        };
        assert_eq!(part("p99 < 1ms"), None);
        assert_eq!(part("p99 of list < 1ms"), named("list", None));
        assert_eq!(part("p99 of list of buy<1ms"), named("list", Some("buy")));
        assert_eq!(part("errors of \"of all\" of of = 0"), named("of all", Some("of")));
        let names = [("list", vec!["list"]), ("buy", vec!["token", "item"])];
        let checked = |text: &str| Slo::parse(text).unwrap().check_names(&names);
        assert_eq!(checked("p99 < 1ms, p99 of item < 1ms, p99 of buy < 1s"), Ok(()));
        assert!(matches!(checked("p99 < 1ms, p99 of items < 1ms"), Err(PartError::Unknown { .. })));
    }

    #[test]
    fn a_wrong_objective_is_refused_with_its_column() {
        for (text, at, expected) in [
            ("", 1, "p50"),
            ("p98 < 1ms", 1, "p50"),
            ("p99 > 1ms", 5, "<"),
            ("p99 = 1ms", 5, "<"),
            ("p99 < ms", 7, "a number"),
            ("p99 < 1.2.3ms", 7, "a number"),
            ("p99 < 10", 9, "a unit"),
            ("p99 < 10%", 9, "a unit"),
            ("p99 < 0ms", 7, "more than 0"),
            ("p99 < 10ms p50 < 1ms", 12, "'and'"),
            ("p99 < 10ms and", 15, "p50"),
            ("µ", 1, "p50"),
            ("p99 < 9µs, errors < 1", 22, "a share"),
            ("errors < 101%", 10, "at most 100 %"),
            ("errors = 1%", 10, "0 after ="),
            ("p99 of < 1ms", 8, "the name"),
            ("p99 of \"list < 1ms", 8, "its quote"),
            ("p99 of a of b of c < 1ms", 15, "< or <="),
        ] {
            let error = Slo::parse(text).unwrap_err();
            assert!(error.at == at && error.expected.contains(expected), "{text:?}: {error}");
        }
    }
}
