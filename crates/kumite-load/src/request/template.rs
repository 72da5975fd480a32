//! Texts with names in double braces, for which each request has its own values.

use std::io::{Read, Write};
use std::sync::Arc;

use crate::request::component::Component;
use crate::request::cookies::{self, Jar};
use crate::request::take;

const OWN: [&str; 3] = ["seq", "uuid", "connection"];
/// The name that stands for two opening braces.
const ESCAPE: &[u8] = b"\"{{\"";
const BRACES: &str = "to send two braces write {{\"{{\"}}";

/// The values of the names in double braces in a request's path, header values and body. `{{seq}}` is the number of the
/// session in the run, from 0. `{{uuid}}` is a random UUID (version 4), the same at all its places in one session.
/// `{{connection}}` is the number of the connection, from 0. Every column of `rows` is a name, too, and so is every
/// value that an earlier step of the session takes. Two opening braces that begin no name are written `{{"{{"}}`.
#[derive(Debug, Clone, Default)]
pub struct Variables {
    /// The rows of values, taken in turns: the session of number `seq` has the row of number `seq` modulo their
    /// count.
    pub rows: Rows,
    /// The seed of the UUIDs: the same seed gives the same session the same UUID.
    pub seed: u64,
}

/// The rows of a CSV file; no rows by default.
#[derive(Debug, Clone, Default)]
pub struct Rows(Arc<Table>);

#[derive(Debug, Default)]
struct Table {
    file: String,
    columns: Vec<String>,
    rows: Vec<csv::ByteRecord>,
}

/// The reason why a text with names in double braces, or the file with their values, cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    /// Two opening braces are not closed.
    #[error("{text:?} has {{{{ without }}}}; {BRACES}")]
    Unclosed {
        /// The text from the opening braces on, at most 80 characters.
        text: String,
    },
    /// A name in double braces is unknown.
    #[error("{{{{{name}}}}} is unknown: there are {}, and the columns of a CSV file (--csv); {BRACES}", .known.join(", "))]
    Unknown {
        /// The unknown name.
        name: String,
        /// The names that are known.
        known: Vec<String>,
    },
    /// The file is no CSV file with a header row.
    #[error("{file}: {source}")]
    Csv {
        /// The path of the file.
        file: String,
        /// The reader's error, with its place in the file.
        source: csv::Error,
    },
    /// The file has no row below its header.
    #[error("{file} has no row below its header")]
    NoRows {
        /// The path of the file.
        file: String,
    },
    /// A column's name is that of another column, or one of `seq`, `uuid` and `connection`.
    #[error("{file}, line 1: the name {name:?} stands for something else already, give the column another")]
    Column {
        /// The path of the file.
        file: String,
        /// The column's name.
        name: String,
    },
    /// A value would break the request where it is used.
    #[error("{file}, line {line}: the value of {column:?} holds {found:?}, which a {place} must not")]
    Value {
        /// The path of the file.
        file: String,
        /// The number of the line, from 1, on which the row begins.
        line: u64,
        /// The name of the value's column.
        column: String,
        /// The first character of the value that is not allowed.
        found: char,
        /// The part of the request that uses the value: `path` or `header`.
        place: &'static str,
    },
}

impl Rows {
    /// Reads CSV whose first row has the columns' names. Errors name the file as `file`.
    pub fn read(file: &str, text: impl Read) -> Result<Rows, TemplateError> {
        let own = || file.to_owned();
        let bad = |source| TemplateError::Csv { file: own(), source };
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::Headers).from_reader(text);
        let columns: Vec<String> = reader.headers().map_err(bad)?.iter().map(str::to_owned).collect();
        for (index, name) in columns.iter().enumerate() {
            if OWN.contains(&name.as_str()) || columns[..index].contains(name) {
                return Err(TemplateError::Column { file: own(), name: name.clone() });
            }
        }
        let rows: Vec<_> = reader.into_byte_records().collect::<Result<_, _>>().map_err(bad)?;
        if rows.is_empty() {
            return Err(TemplateError::NoRows { file: own() });
        }
        Ok(Rows(Arc::new(Table { file: own(), columns, rows })))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.rows.is_empty()
    }

    fn value(&self, column: usize, seq: u64) -> &[u8] {
        let rows = &self.0.rows;
        rows.get((seq % rows.len().max(1) as u64) as usize)
            .and_then(|row| row.get(column))
            .unwrap_or_default()
    }
}

/// A piece of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TemplatePart {
    Text(Vec<u8>),
    Seq,
    Uuid,
    Connection,
    Column(usize),
    /// The value of this index that the session has taken from an answer, and where it is used.
    Taken(usize, Component),
    /// The length of the body in bytes.
    Length,
    /// The line of the `Cookie` header, or nothing if there are no cookies.
    Cookies,
}

/// The values of one request that depend on its number and its connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Given<'a> {
    pub seq: u64,
    pub connection: u64,
    pub cookies: Option<&'a Jar>,
    /// The values that the session has taken from answers, by the index of their name.
    pub values: &'a [Vec<u8>],
}

impl Given<'_> {
    fn value(&self, index: usize) -> &[u8] {
        self.values.get(index).map_or(&[], Vec::as_slice)
    }
}

impl Variables {
    /// `true` if this name stands for something in every request.
    pub(crate) fn has(&self, name: &str) -> bool {
        OWN.contains(&name) || self.rows.0.columns.iter().any(|own| own == name)
    }

    /// Splits `text` into parts, which are added to `parts`. `taken` has the names of values that were taken before. An
    /// error if a name is unknown, or if any row has a value that `component` must not have.
    pub(crate) fn split(
        &self,
        text: &[u8],
        component: Component,
        taken: &[String],
        parts: &mut Vec<TemplatePart>,
    ) -> Result<(), TemplateError> {
        let mut rest = text;
        while let Some(open) = memchr::memmem::find(rest, b"{{") {
            parts.push(TemplatePart::Text(rest[..open].to_vec()));
            let inside = &rest[open + 2..];
            let Some(close) = memchr::memmem::find(inside, b"}}") else {
                let text = String::from_utf8_lossy(&rest[open..]).chars().take(80).collect();
                return Err(TemplateError::Unclosed { text });
            };
            parts.push(self.part(inside[..close].trim_ascii(), component, taken)?);
            rest = &inside[close + 2..];
        }
        parts.push(TemplatePart::Text(rest.to_vec()));
        Ok(())
    }

    fn part(
        &self,
        name: &[u8],
        component: Component,
        taken: &[String],
    ) -> Result<TemplatePart, TemplateError> {
        let Table { file, columns, rows } = &*self.rows.0;
        match name {
            b"seq" => return Ok(TemplatePart::Seq),
            b"uuid" => return Ok(TemplatePart::Uuid),
            b"connection" => return Ok(TemplatePart::Connection),
            ESCAPE => return Ok(TemplatePart::Text(b"{{".to_vec())),
            _ => {}
        }
        if let Some(index) = taken.iter().position(|own| own.as_bytes() == name) {
            return Ok(TemplatePart::Taken(index, component));
        }
        let Some(index) = columns.iter().position(|own| own.as_bytes() == name) else {
            let known = OWN.iter().map(|&own| own.to_owned());
            let known = known.chain(columns.iter().cloned()).chain(taken.iter().cloned()).collect();
            return Err(TemplateError::Unknown { name: String::from_utf8_lossy(name).into_owned(), known });
        };
        for row in rows {
            let value = row.get(index).unwrap_or_default();
            if let Some(at) = value.iter().position(|&byte| !component.allows(byte)) {
                return Err(TemplateError::Value {
                    file: file.clone(),
                    line: row.position().map_or(0, csv::Position::line),
                    column: columns[index].clone(),
                    found: String::from_utf8_lossy(&value[at..]).chars().next().unwrap_or_default(),
                    place: component.in_words(),
                });
            }
        }
        Ok(TemplatePart::Column(index))
    }

    /// Appends the parts with their values to `out`. The first `head` parts are the head; the others are the body. It
    /// allocates memory only to let `out` grow.
    pub(crate) fn render(&self, parts: &[TemplatePart], head: usize, given: &Given, out: &mut Vec<u8>) {
        for part in parts {
            match part {
                TemplatePart::Text(text) => out.extend_from_slice(text),
                TemplatePart::Seq => number(given.seq, out),
                TemplatePart::Uuid => uuid(self.seed, given.seq, out),
                TemplatePart::Connection => number(given.connection, out),
                TemplatePart::Column(column) => out.extend_from_slice(self.rows.value(*column, given.seq)),
                TemplatePart::Taken(index, _) => out.extend_from_slice(given.value(*index)),
                TemplatePart::Length => {
                    number(
                        parts[head..].iter().map(|part| self.length(part, given)).sum::<usize>() as u64,
                        out,
                    );
                }
                TemplatePart::Cookies => given.cookies.iter().for_each(|jar| jar.write(out)),
            }
        }
    }

    /// The length in bytes that this part never exceeds.
    pub(crate) fn longest(&self, part: &TemplatePart) -> usize {
        match part {
            TemplatePart::Text(text) => text.len(),
            TemplatePart::Column(column) => {
                let values = self.rows.0.rows.iter().filter_map(|row| row.get(*column));
                values.map(<[u8]>::len).max().unwrap_or(0)
            }
            TemplatePart::Taken(..) => take::LONGEST,
            TemplatePart::Cookies => cookies::LONGEST,
            TemplatePart::Seq | TemplatePart::Uuid | TemplatePart::Connection | TemplatePart::Length => 36,
        }
    }

    /// The length in bytes that this part of a body has in this request.
    fn length(&self, part: &TemplatePart, given: &Given) -> usize {
        let digits = |number: u64| number.checked_ilog10().unwrap_or(0) as usize + 1;
        match part {
            TemplatePart::Text(text) => text.len(),
            TemplatePart::Seq => digits(given.seq),
            TemplatePart::Uuid => 36,
            TemplatePart::Connection => digits(given.connection),
            TemplatePart::Column(column) => self.rows.value(*column, given.seq).len(),
            TemplatePart::Taken(index, _) => given.value(*index).len(),
            TemplatePart::Length | TemplatePart::Cookies => 0,
        }
    }
}

fn number(number: u64, out: &mut Vec<u8>) {
    write!(out, "{number}").unwrap_or_default();
}

/// Appends a UUID of version 4 and variant 10 (RFC 9562, section 5.4). Its random bits depend on the seed and the
/// request's number.
fn uuid(seed: u64, seq: u64, out: &mut Vec<u8>) {
    let first = mix(mix(seed).wrapping_add(seq)) & !0xf000 | 0x4000;
    let second = mix(mix(!seed).wrapping_add(seq)) & !(0b11 << 62) | 0b10 << 62;
    let [a, b, c] = [first >> 32, first >> 16 & 0xffff, first & 0xffff];
    let [d, e] = [second >> 48, second & 0xffff_ffff_ffff];
    write!(out, "{a:08x}-{b:04x}-{c:04x}-{d:04x}-{e:012x}").unwrap_or_default();
}

/// The output function of SplitMix64 (Steele, Lea and Flood, 2014), which maps 64 bits one to one.
fn mix(state: u64) -> u64 {
    let z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const CSV: &str = "id, user name,note\n1,\"ann\",\"a, b\"\n22,bob,\"two\nlines\"\n333,ü,\n";

    fn variables() -> Variables {
        Variables { rows: Rows::read("users.csv", CSV.as_bytes()).unwrap(), seed: 7 }
    }

    fn render(text: &str, seq: u64) -> String {
        let variables = variables();
        let mut parts = Vec::new();
        variables.split(text.as_bytes(), Component::Body, &[], &mut parts).unwrap();
        let mut out = Vec::new();
        let given = Given { seq, connection: 40, cookies: None, values: &[] };
        variables.render(&parts, 0, &given, &mut out);
        assert_eq!(parts.iter().map(|part| variables.length(part, &given)).sum::<usize>(), out.len());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_name_in_braces_stands_for_its_value() {
        assert_eq!(render("{{seq}}{{ id }}-{{user name}}, {{connection}}", 0), "01-ann, 40");
        assert_eq!(render("{{seq}}{{ id }}-{{user name}}, {{connection}}", 5), "5333-ü, 40");
        assert_eq!(render("{{seq}}", u64::MAX), u64::MAX.to_string());
        assert_eq!(render("{\"a\":{\"b\":{{id}}}}", 1), "{\"a\":{\"b\":22}}");
        assert_eq!(render("{{note}}|{{note}}", 4), "two\nlines|two\nlines");
        assert_eq!(render("a } }} {", 0), "a } }} {");
        assert_eq!(render("", 0), "");
    }

    #[test]
    fn a_uuid_has_its_form_and_differs_by_request_and_seed() {
        let text = render("{{uuid}}", 3);
        assert_eq!(render("{{uuid}}{{uuid}}", 3), text.repeat(2));
        let mut seen = HashSet::new();
        for seed in [0, 1] {
            for seq in 0..10_000 {
                let mut out = Vec::new();
                uuid(seed, seq, &mut out);
                let text = String::from_utf8(out).unwrap();
                let lengths: Vec<_> = text.split('-').map(str::len).collect();
                assert_eq!(lengths, [8, 4, 4, 4, 12]);
                assert_eq!((&text[14..15], "89ab".contains(&text[19..20])), ("4", true), "{text}");
                assert!(seen.insert(text));
            }
        }
        // As the reference implementation gives from the seed 0.
        assert_eq!([mix(0), mix(0x9e37_79b9_7f4a_7c15)], [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4]);
    }

    #[test]
    fn what_is_refused() {
        let split = |text: &str, place| {
            variables().split(text.as_bytes(), place, &[], &mut Vec::new()).unwrap_err().to_string()
        };
        assert_eq!(
            split("a {{seq", Component::Body),
            "\"{{seq\" has {{ without }}; to send two braces write {{\"{{\"}}"
        );
        assert_eq!(
            split("{{seq}}{{", Component::Path),
            "\"{{\" has {{ without }}; to send two braces write {{\"{{\"}}"
        );
        assert_eq!(
            split("{{Seq}}", Component::Body),
            "{{Seq}} is unknown: there are seq, uuid, connection, id, user name, note, and the columns of a CSV \
             file (--csv); to send two braces write {{\"{{\"}}"
        );
        assert_eq!(
            split("{{}}", Component::Body),
            split("{{Seq}}", Component::Body).replace("{{Seq}}", "{{}}")
        );
        assert_eq!(
            split("{{note}}", Component::HeaderValue),
            "users.csv, line 3: the value of \"note\" holds '\\n', which a header must not"
        );
        assert!(
            split("/{{note}}", Component::Path)
                .contains("line 2: the value of \"note\" holds ' ', which a path")
        );
        assert!(
            split("/{{user name}}", Component::Path).contains("line 5: the value of \"user name\" holds 'ü'")
        );
        for (text, message) in [
            ("", "f has no row below its header"),
            ("a,b\n", "f has no row below its header"),
            ("a,a\n1,2\n", "f, line 1: the name \"a\" stands for something else"),
            ("a,seq\n1,2\n", "f, line 1: the name \"seq\" stands"),
            ("a,b\n1,2\n3\n", "line: 3"),
        ] {
            let error = Rows::read("f", text.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with("f") && error.contains(message), "{error}");
        }
    }
}
