//! Published figures, from a table in the folder of the experiment.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use kumite_record::{AxisValue, Point, Published, PublishedRow, there_are};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::toml_source::{SpecError, TomlSource};

/// The place of the table with published figures, and how to read it.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Published")]
pub(crate) struct PublishedFile {
    /// A CSV file, relative to the experiment's folder, with the columns `series`, `contender`, those of `beside`,
    /// and a column for each figure. Columns that have the name of one of kumite's metrics are shown beside it.
    file: PathBuf,
    /// The origin of the figures, and what is doubtful about them.
    note: String,
    /// The axes by which our cells are put beside the published figures.
    beside: Vec<String>,
    /// The series that stand for the others; all, if none is named.
    #[serde(default)]
    main: Vec<String>,
}

/// Reads the table. `axes` are the names of the experiment's axes. An error if `beside` names something that is no
/// axis, `main` names something that is no series of the table, or the table cannot be read, lacks a column, or has a
/// figure that is no number.
pub(crate) fn read(
    table: &PublishedFile,
    folder: &Path,
    spec: &TomlSource,
    axes: &BTreeSet<String>,
) -> Result<Published, SpecError> {
    if let Some(unknown) = table.beside.iter().find(|axis| !axes.contains(*axis)) {
        let known: Vec<&str> = axes.iter().map(String::as_str).collect();
        let what = format!("no axis '{unknown}'{}", there_are(unknown, &known));
        return Err(spec.error_at(&["published", "beside"], what));
    }
    let source = TomlSource::read(&folder.join(&table.file))?;
    let rows = rows(&source, &table.beside)?;
    if let Some(unknown) = table.main.iter().find(|series| rows.iter().all(|row| row.series != **series)) {
        let what = format!("no series '{unknown}' in {}", source.file.display());
        return Err(spec.error_at(&["published", "main"], what));
    }
    let (note, beside, main) = (table.note.clone(), table.beside.clone(), table.main.clone());
    Ok(Published { note, beside, main, rows })
}

fn rows(source: &TomlSource, beside: &[String]) -> Result<Vec<PublishedRow>, SpecError> {
    let mut reader = csv::Reader::from_reader(source.text.as_bytes());
    let wrong = |line: u64, what: String| SpecError::At {
        file: source.file.clone(),
        line: line as usize,
        column: 1,
        what,
    };
    let columns = reader.headers().map_err(|error| wrong(1, error.to_string()))?.clone();
    let needed = ["series", "contender"].into_iter().chain(beside.iter().map(String::as_str));
    for column in needed {
        if !columns.iter().any(|name| name == column) {
            return Err(wrong(1, format!("no column '{column}'")));
        }
    }
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record
            .map_err(|error| wrong(error.position().map_or(1, csv::Position::line), error.to_string()))?;
        let line = record.position().map_or(1, csv::Position::line);
        let mut row = PublishedRow {
            series: String::new(),
            contender: String::new(),
            point: Point::default(),
            metrics: BTreeMap::new(),
        };
        for (column, value) in columns.iter().zip(&record) {
            let number = || {
                let number = value.parse::<f64>().ok().filter(|number| number.is_finite());
                number.ok_or_else(|| wrong(line, format!("{column}: '{value}' is not a number")))
            };
            match column {
                "series" => row.series = value.to_owned(),
                "contender" => row.contender = value.to_owned(),
                axis if beside.iter().any(|name| name == axis) => {
                    let number = |_| value.parse().map(AxisValue::Float);
                    let text = |_| AxisValue::Text(value.to_owned());
                    let value = value.parse().map(AxisValue::Int).or_else(number).unwrap_or_else(text);
                    row.point.0.insert(axis.to_owned(), value);
                }
                // A figure that was not published.
                _ if value.is_empty() => {}
                metric => {
                    row.metrics.insert(metric.to_owned(), number()?);
                }
            }
        }
        rows.push(row);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<PublishedRow>, SpecError> {
        let source = TomlSource { file: "published.csv".into(), text: text.to_owned() };
        rows(&source, &["connections".to_owned()])
    }

    #[test]
    fn columns_are_axes_or_figures() {
        let rows = read("series,contender,connections,throughput_rps,r\nrun 1,a,10,7.5,\n").unwrap();
        assert_eq!((rows[0].series.as_str(), rows[0].contender.as_str()), ("run 1", "a"));
        assert_eq!(rows[0].point.to_string(), "connections=10");
        assert_eq!(rows[0].metrics, BTreeMap::from([("throughput_rps".to_owned(), 7.5)]));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        assert_eq!(
            read("series,contender\n").unwrap_err().to_string(),
            "published.csv:1:1: no column 'connections'"
        );
        assert_eq!(
            read("series,contender,connections,x\na,b,1,2\na,b,1,many\n").unwrap_err().to_string(),
            "published.csv:3:1: x: 'many' is not a number"
        );
        assert_eq!(
            read("series,contender,connections,x\na,b,1,inf\n").unwrap_err().to_string(),
            "published.csv:2:1: x: 'inf' is not a number"
        );
        assert!(
            read("series,contender,connections\na,b\n")
                .unwrap_err()
                .to_string()
                .starts_with("published.csv:2:1: ")
        );
    }
}
