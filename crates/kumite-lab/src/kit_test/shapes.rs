//! Checks of results of any JSON type.

use serde_json::{Value, json};

use super::session::{Session, Worked};
use crate::driver::line_process::LINE_LIMIT;
use crate::halt::Halt;

/// The bytes that a line needs beside its value, at most.
const BESIDE: usize = 4 << 10;
const MOST_SHOWN: usize = 120;

pub(super) fn every_shape(session: &mut Session) -> Result<(), Halt> {
    let shapes = [
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(-0.5),
        json!(0.1),
        json!(1e300),
        json!(9_007_199_254_740_991_u64),
        json!(-9_007_199_254_740_991_i64),
        json!(""),
        json!("é 数学 🎉"),
        json!("quotes \" and ' and backslashes \\ and slashes /"),
        json!("\u{1} \u{7f} \t \r \n \u{2028}"),
        json!([]),
        json!({}),
        json!([[], {}, [[null]], [1, "a", false]]),
        json!({ "a": { "b": [{ "c": null }, {}], "": [] }, "é 数学 🎉": "\"\\\n\u{1}" }),
        nested(50),
    ];
    shapes.iter().try_for_each(|shape| echo(session, shape))
}

pub(super) fn one_mebibyte(session: &mut Session) -> Result<(), Halt> {
    let many: Vec<Value> =
        (0..20_000).map(|n| json!({ "number": n, "text": "a text of some letters" })).collect();
    echo(session, &many.into())?;
    echo(session, &"x".repeat(1 << 20).into())
}

pub(super) fn almost_the_limit(session: &mut Session) -> Result<(), Halt> {
    echo(session, &almost())
}

/// Checks that a worker's time has no reading and writing of JSON in it. Reading and writing as much as here takes
/// far longer than giving it back.
pub(super) fn time_without_reading(session: &mut Session) -> Result<(), Halt> {
    let Worked { done, to_answer, .. } = session.job(&json!({ "do": "echo", "value": almost() }))?;
    let ours_ms = to_answer.as_secs_f64() * 1e3;
    if done.elapsed_ms > ours_ms / 2.0 {
        return Err(Halt::fault(format!(
            "expected that elapsed_ns has no reading and writing of JSON in it, and an echo of 16 MiB has {:.1} ms of the {ours_ms:.1} \
             ms between request and answer",
            done.elapsed_ms
        )));
    }
    Ok(())
}

fn almost() -> Value {
    "x".repeat(LINE_LIMIT - BESIDE).into()
}

fn nested(levels: usize) -> Value {
    (0..levels).fold(json!("the innermost"), |inner, level| {
        if level % 2 == 0 { json!([inner]) } else { json!({ "in": inner }) }
    })
}

fn echo(session: &mut Session, value: &Value) -> Result<(), Halt> {
    let done = session.job(&json!({ "do": "echo", "value": value }))?.done;
    let expected = format!("expected {} back", short(&value.to_string()));
    let result: Value = serde_json::from_str(done.result.get())
        .map_err(|error| Halt::fault(format!("{expected}, and what came cannot be read: {error}")))?;
    match same(value, &result) {
        true => Ok(()),
        false => Err(Halt::fault(format!("{expected}, and it is {}", short(done.result.get())))),
    }
}

/// True if two values are the same. The same number may be written in several ways.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(_), Value::Number(_)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

fn short(text: &str) -> String {
    match text.char_indices().nth(MOST_SHOWN) {
        Some((at, _)) => format!("{}… ({} bytes)", &text[..at], text.len()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_same_however_they_are_written_and_nothing_else_is() {
        let of = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        for (a, b) in [("1e300", "1E+300"), ("[1]", "[1.0]"), (r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1.0}"#)] {
            assert!(same(&of(a), &of(b)), "{a} {b}");
        }
        for (a, b) in [
            ("1", "2"),
            ("0", "false"),
            ("null", "{}"),
            ("[]", "[null]"),
            (r#"{"a":1}"#, r#"{"a":1,"b":1}"#),
            ("\"1\"", "1"),
        ] {
            assert!(!same(&of(a), &of(b)), "{a} {b}");
        }
    }
}
