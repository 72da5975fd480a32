//! Metrics of an experiment's own that come with an answer.

use std::collections::BTreeMap;

use serde_json::Value;

/// The metrics of these names among the members of an answer, or what is wrong with it.
pub(super) fn own_metrics<'a>(
    answer: &[u8],
    names: impl Iterator<Item = &'a str>,
) -> Result<BTreeMap<String, f64>, String> {
    let mut names = names.peekable();
    if names.peek().is_none() {
        return Ok(BTreeMap::new());
    }
    let answer: Value = serde_json::from_slice(answer).map_err(|error| format!("it is no JSON: {error}"))?;
    // Not every contender needs to give all of them.
    let given = names.filter_map(|name| Some((name, answer.get(name)?)));
    let own = |(name, value): (&str, &Value)| match value.as_f64() {
        Some(number) => Ok((name.to_owned(), number)),
        None => {
            Err(format!("its '{name}' is {value}, and [metrics] of experiment.toml takes it for a number"))
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
            ("", "it is no JSON: EOF"),
        ] {
            let found = of(answer).unwrap_err();
            assert!(found.contains(why), "{answer}: {found}");
        }
        assert_eq!(of(r#"{"fib":1}"#), Ok([("fib".to_owned(), 1.0)].into()), "not all need to give it");
        assert_eq!(own_metrics(b"not JSON", std::iter::empty()), Ok(BTreeMap::new()));
    }
}
