//! JSON whose integers are compared by all their digits. A double has only 53 bits for an integer, and a document may
//! have longer ones.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::ser::Error;
use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// The deepest nesting that is compared by value. Values nested deeper are equal only if they are written alike.
const DEEPEST: usize = 128;
/// The most digits with which a double is written.
const DIGITS_OF_DOUBLE: usize = 17;

/// A JSON value, kept as it was written.
#[derive(Clone, Debug)]
pub struct Json(Box<RawValue>);

impl Json {
    /// Parses a text that is one JSON value. An error if it is anything else.
    pub fn parse(text: &[u8]) -> Result<Json, serde_json::Error> {
        serde_json::from_slice(text).map(Json)
    }

    /// The value at this RFC 6901 pointer, which is empty for the whole value; `None` if there is no such place. The
    /// pointer is not checked: whatever stands before its first `/` is ignored.
    pub fn at(&self, pointer: &str) -> Option<Json> {
        let mut place: &RawValue = &self.0;
        for name in pointer.split('/').skip(1) {
            let name = name.replace("~1", "/").replace("~0", "~");
            place = match place.get().as_bytes().first()? {
                b'{' => object(place)?.remove(name.as_str())?,
                b'[' => {
                    // As RFC 6901 has it: no sign, no zero in front.
                    let is_index = name == "0" || (name.starts_with(|c| ('1'..='9').contains(&c)));
                    let nth: usize = name.parse().ok().filter(|_| is_index)?;
                    array(place)?.into_iter().nth(nth)?
                }
                _ => return None,
            };
        }
        Some(Json(place.to_owned()))
    }

    /// The value as text: a string without its quotes, anything else as it is written, in a line. `None` if it is null.
    pub(crate) fn text(&self) -> Option<String> {
        match self.0.get() {
            "null" => None,
            text if text.starts_with('"') => serde_json::from_str(text).ok(),
            text => Some(in_a_line(text)),
        }
    }

    /// Returns `true` if both are the same value. The order of keys does not matter. Integers are compared by all their
    /// digits, and none is the same as a number with a point or an exponent. Values nested deeper than 128 levels must
    /// be written alike.
    pub fn is(&self, other: &Json) -> bool {
        same(&self.0, &other.0, same_number, DEEPEST)
    }

    /// Returns `true` if both are the same value as [`is`](Self::is) says, or differ only in how numbers are written:
    /// 1 and 1.0 are the same.
    pub fn is_like(&self, other: &Json) -> bool {
        same(&self.0, &other.0, |one, other| same_number(one, other) || is_equal(one, other), DEEPEST)
    }
}

impl From<&Value> for Json {
    fn from(value: &Value) -> Json {
        Json(RawValue::from_string(value.to_string()).expect("a value is written as JSON"))
    }
}

/// Writes the value in one line, with the digits that it was written with.
impl Serialize for Json {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        RawValue::from_string(in_a_line(self.0.get())).map_err(S::Error::custom)?.serialize(to)
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Json) -> bool {
        self.is(other)
    }
}

/// Shows the value without blanks between its parts, and with keys in order, so that two are easily compared.
impl std::fmt::Display for Json {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&in_order(&self.0, DEEPEST))
    }
}

fn in_order(value: &RawValue, deepest: usize) -> String {
    let Some(deepest) = deepest.checked_sub(1) else { return in_a_line(value.get()) };
    match value.get().as_bytes().first() {
        Some(b'{') => object(value).map(|members| {
            let member = |(name, value): (Cow<str>, &RawValue)| {
                format!("{}:{}", Value::from(name), in_order(value, deepest))
            };
            format!("{{{}}}", members.into_iter().map(member).collect::<Vec<_>>().join(","))
        }),
        Some(b'[') => array(value).map(|values| {
            let values = values.into_iter().map(|value| in_order(value, deepest));
            format!("[{}]", values.collect::<Vec<_>>().join(","))
        }),
        _ => None,
    }
    .unwrap_or_else(|| in_a_line(value.get()))
}

/// The value as it was written, without the blanks between its parts.
fn in_a_line(text: &str) -> String {
    let (mut in_text, mut escaped) = (false, false);
    let keep = |c: &char| {
        let is_part = in_text || !c.is_ascii_whitespace();
        in_text ^= *c == '"' && !escaped;
        escaped = in_text && *c == '\\' && !escaped;
        is_part
    };
    text.chars().filter(keep).collect()
}

fn object(value: &RawValue) -> Option<BTreeMap<Cow<'_, str>, &RawValue>> {
    serde_json::from_str(value.get()).ok()
}

fn array(value: &RawValue) -> Option<Vec<&RawValue>> {
    serde_json::from_str(value.get()).ok()
}

fn same(one: &RawValue, other: &RawValue, numbers: fn(&str, &str) -> bool, deepest: usize) -> bool {
    let (a, b) = (one.get(), other.get());
    if a == b {
        return true;
    }
    let Some(deepest) = deepest.checked_sub(1) else { return false };
    let same_value = |(one, other): (&RawValue, &RawValue)| same(one, other, numbers, deepest);
    let text = |text| serde_json::from_str::<Cow<str>>(text).ok();
    match [a, b].map(|text| text.as_bytes().first()) {
        [Some(b'{'), Some(b'{')] => object(one).zip(object(other)).is_some_and(|(one, other)| {
            one.len() == other.len()
                && one.iter().zip(&other).all(|((a, one), (b, other))| a == b && same_value((one, other)))
        }),
        [Some(b'['), Some(b'[')] => array(one).zip(array(other)).is_some_and(|(one, other)| {
            one.len() == other.len() && one.into_iter().zip(other).all(same_value)
        }),
        [Some(b'"'), Some(b'"')] => text(a).zip(text(b)).is_some_and(|(a, b)| a == b),
        [Some(b'-' | b'0'..=b'9'), Some(b'-' | b'0'..=b'9')] => numbers(a, b),
        _ => false,
    }
}

/// Returns `true` if two numbers are the same. Integers are compared by all their digits. Other numbers are doubles
/// to their writers, and a double is written in several ways (0.1, 0.10000000000000001); so they are compared as
/// doubles, too, if they have no more digits than a double.
fn same_number(one: &str, other: &str) -> bool {
    let is_integer = |text: &str| !text.contains(['.', 'e', 'E']);
    is_integer(one) == is_integer(other)
        && (is_equal(one, other) || (!is_integer(one) && is_same_double(one, other)))
}

fn is_same_double(one: &str, other: &str) -> bool {
    let double = |text: &str| {
        let is_short = Decimal::new(text)?.digits.len() <= DIGITS_OF_DOUBLE;
        // A number that is too large or too small for a double is none.
        text.parse::<f64>().ok().filter(|double| is_short && double.is_normal())
    };
    double(one).is_some_and(|one| double(other) == Some(one))
}

/// Returns `true` if both are the same number, however written. If an exponent does not fit in an `i64`, they must be
/// written alike.
fn is_equal(one: &str, other: &str) -> bool {
    match (Decimal::new(one), Decimal::new(other)) {
        (Some(one), Some(other)) => one == other,
        _ => one == other,
    }
}

/// A number that is `digits` times ten to the power of `exponent`. Zero has no digits and no sign.
#[derive(PartialEq)]
struct Decimal {
    is_negative: bool,
    digits: String,
    exponent: i128,
}

impl Decimal {
    /// Parses a JSON number. `None` if its exponent does not fit in an `i64`.
    fn new(text: &str) -> Option<Decimal> {
        let (is_negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let digits = all.trim_end_matches('0');
        let exponent = exponent.parse::<i64>().ok()?;
        let exponent = i128::from(exponent) - fraction.len() as i128 + (all.len() - digits.len()) as i128;
        let digits = digits.trim_start_matches('0').to_owned();
        Some(match digits.is_empty() {
            true => Decimal { is_negative: false, digits, exponent: 0 },
            false => Decimal { is_negative, digits, exponent },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json {
        Json::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn values_are_the_same_however_they_are_written_and_numbers_to_their_last_digit() {
        let fib = "354224848179261915075";
        for (one, other) in [
            (r#"{"a": [1, "é"], "b": null}"#, r#"{"b":null,"a":[1,"\u00e9"]}"#),
            (fib, fib),
            ("-0", "0"),
            ("-0.0", "0.0"),
            ("1e2", "100.0"),
            ("1e2", "1E+2"),
            ("0.10", "0.1"),
            ("0.1", "0.10000000000000001"),
            ("1e400", "10e399"),
            ("0e400", "0.0"),
            ("123456789.123456789123456789", "123456789.1234567891234567890"),
            ("1e99999999999999999999999", "1e99999999999999999999999"),
            (r#"{"a":1,"a":2}"#, r#"{"a":2}"#),
        ] {
            assert!(json(one).is(&json(other)), "{one} {other}");
            assert!(json(other).is(&json(one)), "{other} {one}");
        }
        for (one, other) in [
            (fib, "354224848179261915000"),
            (fib, "354224848179261915076"),
            ("18446744073709551616", "18446744073709551617"),
            ("9007199254740993", "9007199254740992"),
            ("-9223372036854775809", "-9223372036854775808"),
            ("354224848179261915075.0", "354224848179261915000.0"),
            ("1e400", "1e401"),
            ("1e-400", "1e-401"),
            ("1e-400", "0.0"),
            ("0.1", "0.100000000000001"),
            ("0.1", "0.1000000000000000001"),
            ("1", "1.0"),
            ("100", "1e2"),
            ("1", "-1"),
            ("1", "\"1\""),
            ("[1,2]", "[2,1]"),
            ("[1]", "[1,1]"),
            (r#"{"a":1}"#, r#"{"a":1,"b":1}"#),
            (r#"{"a":1}"#, r#"{"b":1}"#),
            ("null", "false"),
            ("1e99999999999999999999999", "2e99999999999999999999999"),
        ] {
            assert!(!json(one).is(&json(other)), "{one} {other}");
            assert!(!json(other).is(&json(one)), "{other} {one}");
        }
    }

    #[test]
    fn where_one_is_like_1_0_a_large_integer_is_not_like_its_neighbour() {
        for (one, other, expected) in [
            ("1", "1.0", true),
            ("100", "1e2", true),
            ("[30.0]", "[30]", true),
            ("9007199254740993", "9007199254740993.0", true),
            ("9007199254740993", "9007199254740992.0", false),
            ("0.1", "0.10000000000000001", true),
            ("1", "2.0", false),
        ] {
            assert_eq!(json(one).is_like(&json(other)), expected, "{one} {other}");
        }
    }

    #[test]
    fn a_pointer_leads_to_a_value_as_it_is_written() {
        let value = json(r#"{"x/y": [0, {"~": 354224848179261915075}], "": 1.50}"#);
        let at = |pointer: &str| value.at(pointer).map(|found| found.to_string());
        assert_eq!(at("/x~1y/1/~0").as_deref(), Some("354224848179261915075"));
        assert_eq!(at("/").as_deref(), Some("1.50"));
        assert_eq!(at("/x~1y/0").as_deref(), Some("0"));
        for nowhere in ["/a", "/x~1y/2", "/x~1y/01", "/x~1y/+1", "/x~1y/-", "/x~1y/0/0"] {
            assert_eq!(at(nowhere), None, "{nowhere}");
        }
        assert_eq!(at("").unwrap(), r#"{"":1.50,"x/y":[0,{"~":354224848179261915075}]}"#);
        let lines = json("{ \"a b\" :\n \"c \\\" d\\\\\" ,\r\n\t\"n\": 1.50 }\n");
        let line = r#"{"a b":"c \" d\\","n":1.50}"#;
        assert_eq!(
            (lines.to_string().as_str(), serde_json::to_string(&lines).unwrap().as_str()),
            (line, line)
        );
        let lines = json("{\"b\": 1,\n \"a\": [2.0, {}]}");
        assert_eq!(lines.to_string(), r#"{"a":[2.0,{}],"b":1}"#, "to be read");
        assert_eq!(serde_json::to_string(&lines).unwrap(), r#"{"b":1,"a":[2.0,{}]}"#, "to be handed on");
    }

    #[test]
    fn what_is_nested_deeply_is_compared_by_its_bytes() {
        let deep = |inner: &str| json(&format!("{}{inner}{}", "[".repeat(100_000), "]".repeat(100_000)));
        assert!(deep("1").is(&deep("1")));
        assert!(!deep("1").is(&deep(" 1")), "and no stack overflows");
    }
}
