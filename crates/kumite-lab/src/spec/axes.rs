//! The axes of an experiment as its file has them: a list of values, or texts that have labels.
//!
//! The values of an axis with labels are its labels: they stand in points, claims and reports. The texts that they
//! stand for are the values of the parameter.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use kumite_record::{AxisValue, Labels};
use schemars::JsonSchema;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use crate::toml_source::{SpecError, TomlSource};

/// The tables of axes.
#[derive(Debug, Default)]
pub(crate) struct AxesFile {
    /// The values of each axis. Those of an axis with labels are its labels, in the order of the file.
    pub values: BTreeMap<String, Vec<AxisValue>>,
    /// The texts of the axes that have labels, by axis and label.
    pub(super) texts: BTreeMap<String, BTreeMap<String, LabelledText>>,
}

/// The text that a label stands for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a label stands for a text, or for that of a file: { file = \"FILE\" }")]
pub(crate) enum LabelledText {
    /// The text.
    Text(String),
    /// A file with the text.
    File(TextFile),
}

/// A file of the experiment's folder.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TextFile {
    /// The file with the text, relative to the experiment's folder.
    file: PathBuf,
}

/// The values of an axis, as the schema describes them.
#[derive(JsonSchema)]
#[schemars(untagged, rename = "Axis")]
#[expect(dead_code, reason = "only described")]
pub(crate) enum AxisSchema {
    /// The values.
    Values(Vec<AxisValue>),
    /// Texts with labels, which stand for them in points, claims and reports.
    Labels(BTreeMap<String, LabelledText>),
}

impl<'de> Deserialize<'de> for AxesFile {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<AxesFile, D::Error> {
        let mut axes = AxesFile::default();
        for (axis, one) in BTreeMap::<String, OneAxis>::deserialize(from)? {
            let OneAxis { values, texts } = one;
            axes.values.insert(axis.clone(), values);
            if let Some(texts) = texts {
                axes.texts.insert(axis, texts);
            }
        }
        Ok(axes)
    }
}

struct OneAxis {
    values: Vec<AxisValue>,
    /// None if the axis has no labels.
    texts: Option<BTreeMap<String, LabelledText>>,
}

impl<'de> Deserialize<'de> for OneAxis {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<OneAxis, D::Error> {
        from.deserialize_any(AxisReader)
    }
}

struct AxisReader;

impl<'de> Visitor<'de> for AxisReader {
    type Value = OneAxis;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(
            "a list of values, as in [1, 2], or a table of texts with labels, as in { small = \"x\" }",
        )
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<OneAxis, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = from.next_element()? {
            values.push(value);
        }
        Ok(OneAxis { values, texts: None })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<OneAxis, A::Error> {
        let mut labels = Vec::new();
        let mut texts = BTreeMap::new();
        while let Some((label, text)) = from.next_entry::<Spanned<String>, LabelledText>()? {
            labels.push((label.span().start, label.get_ref().clone()));
            texts.insert(label.into_inner(), text);
        }
        labels.sort();
        let values = labels.into_iter().map(|(_, label)| AxisValue::Text(label)).collect();
        Ok(OneAxis { values, texts: Some(texts) })
    }
}

impl AxesFile {
    /// The texts that the labels stand for. An error if a file with one cannot be read.
    pub fn labels(&self, source: &TomlSource, folder: &Path) -> Result<Labels, SpecError> {
        let mut labels = Labels::new();
        for (axis, texts) in &self.texts {
            for (label, text) in texts {
                let text = match text {
                    LabelledText::Text(text) => text.clone(),
                    LabelledText::File(TextFile { file }) => {
                        let file = folder.join(file);
                        std::fs::read_to_string(&file).map_err(|error| {
                            let what = format!("cannot read {}: {error}", file.display());
                            source.error_at(&["axes", axis, label], what)
                        })?
                    }
                };
                labels.entry(axis.clone()).or_default().insert(label.clone(), text);
            }
        }
        Ok(labels)
    }
}
