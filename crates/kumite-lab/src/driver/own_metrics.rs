//! Metrics that an experiment declares and that come with an answer.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::error::Fault;

/// The metrics of these names, from the members of an answer. A name that the answer does not have is left out. An
/// error if the answer is no JSON or a metric no number; without names the answer is not looked at.
pub(super) fn own_metrics<'a>(
    answer: &[u8],
    names: impl Iterator<Item = &'a str>,
) -> Result<BTreeMap<String, f64>, Fault> {
    let mut names = names.peekable();
    if names.peek().is_none() {
        return Ok(BTreeMap::new());
    }
    let answer: &RawValue =
        serde_json::from_slice(answer).map_err(|error| Fault::new(format!("it is no JSON: {error}")))?;
    let members: BTreeMap<Cow<str>, &RawValue> = serde_json::from_str(answer.get()).unwrap_or_default();
    // Not every contender needs to give all metrics.
    let given = names.filter_map(|name| Some((name, members.get(name)?)));
    let own = |(name, value): (&str, &&RawValue)| match serde_json::from_str::<f64>(value.get()) {
        Ok(number) => Ok((name.to_owned(), number)),
        Err(_) => {
            let what =
                format!("its '{name}' is {value}, and [metrics] of experiment.toml takes it for a number");
            Err(Fault::new(what))
        }
    };
    given.map(own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_of_these_names_are_taken_and_must_be_numbers() {
        let of = |answer: &str| own_metrics(answer.as_bytes(), ["fib", "elapsed_ms"].into_iter());
        let expected = [("fib".to_owned(), 832_040.0), ("elapsed_ms".to_owned(), 1.25)];
        assert_eq!(of(r#"{"fib":832040,"elapsed_ms":1.25,"x":[]}"#), Ok(expected.into()));
        for (answer, why) in [
            (r#"{"fib":"1","elapsed_ms":1}"#, "its 'fib' is \"1\", and [metrics]"),
            (r#"{"fib":1e400}"#, "its 'fib' is 1e400, and [metrics]"),
            ("", "it is no JSON: EOF"),
        ] {
            let found = of(answer).unwrap_err().to_string();
            assert!(found.contains(why), "{answer}: {found}");
        }
        let beside = r#"{"fib":1,"large":1e400}"#;
        assert_eq!(of(beside), Ok([("fib".to_owned(), 1.0)].into()), "a number that nobody asked for");
        assert_eq!(of(r#"{"fib":1}"#), Ok([("fib".to_owned(), 1.0)].into()), "not all need to give it");
        assert_eq!(own_metrics(b"not JSON", std::iter::empty()), Ok(BTreeMap::new()));
    }
}
