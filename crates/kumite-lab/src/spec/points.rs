//! The points of a plan: every combination of axis values, or those that are listed.
//!
//! Points come in the order of the axes' values, whatever their order in the file, and none comes twice.

use std::collections::{BTreeMap, BTreeSet};

use kumite_record::{AxisValue, Point, it_has, there_are};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::toml_source::{SpecError, TomlSource};
use crate::unfit::Unfit;

/// A point that is planned, with the contenders that are tried there.
#[derive(Clone, Debug)]
pub(super) struct Listed {
    pub point: Point,
    /// The names of the contenders, in their order.
    pub contenders: Vec<String>,
}

/// An entry of a list of points: values of some axes, each combination of which is a point.
#[derive(Clone, Deserialize, JsonSchema)]
#[schemars(rename = "Points")]
pub(crate) struct Entry {
    /// The contenders that are tried at these points; all, if none are named.
    contenders: Option<Vec<String>>,
    #[serde(flatten)]
    axes: BTreeMap<String, OneOrMore>,
}

/// The values of an axis in an entry.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "values of an axis are a number, a text, true or false, or a list of such, as in [1, 50]"
)]
pub(super) enum OneOrMore {
    /// A single value of the axis.
    One(AxisValue),
    /// Several values, each of which makes points.
    More(Vec<AxisValue>),
}

impl OneOrMore {
    pub fn values(&self) -> Vec<AxisValue> {
        let mut values = match self {
            OneOrMore::One(value) => vec![value.clone()],
            OneOrMore::More(values) => values.clone(),
        };
        values.iter_mut().for_each(whole);
        values
    }
}

/// The axes of a profile, with the defaults of those that have one.
pub(crate) struct Axes<'a> {
    values: BTreeMap<String, Vec<AxisValue>>,
    defaults: &'a BTreeMap<String, AxisValue>,
}

impl<'a> Axes<'a> {
    pub fn new(
        source: &TomlSource,
        values: BTreeMap<String, Vec<AxisValue>>,
        defaults: &'a BTreeMap<String, AxisValue>,
    ) -> Result<Axes<'a>, SpecError> {
        for (axis, values) in &values {
            let at = |what| source.error_at(&["axes", axis], what);
            if values.is_empty() {
                return Err(at(format!("axis '{axis}' has no values")));
            }
            if values.iter().enumerate().any(|(index, value)| values[..index].contains(value)) {
                return Err(at(format!("axis '{axis}' has a value twice")));
            }
        }
        Ok(Axes { values, defaults })
    }

    /// The points of every combination of values, the last axis fastest, each with all contenders.
    pub fn product(&self, contenders: &BTreeSet<String>) -> Vec<Listed> {
        let contenders: Vec<String> = contenders.iter().cloned().collect();
        let listed = |point| Listed { point, contenders: contenders.clone() };
        combinations(&self.values).into_iter().map(listed).collect()
    }

    /// The points of these entries, in the order of the axes. If an entry leaves out an axis, that axis has its
    /// default, or all of its values if it has no default. A point that is in several entries has the contenders of all
    /// of them. The error names the entry with an unknown axis, value or contender.
    pub fn listed(
        &self,
        entries: &[Entry],
        contenders: &BTreeSet<String>,
        source: &TomlSource,
        place: &[&str],
    ) -> Result<Vec<Listed>, SpecError> {
        let mut found = Vec::<(Point, BTreeSet<String>)>::new();
        for (nth, entry) in entries.iter().enumerate() {
            let nth = nth.to_string();
            let at = |(key, what): (&str, String)| source.error_at(&[place, &[&nth, key]].concat(), what);
            let values = self.values_in(entry).map_err(at)?;
            let here = contenders_in(entry, contenders).map_err(|what| at(("contenders", what.into())))?;
            for point in combinations(&values) {
                match found.iter_mut().find(|(other, _)| *other == point) {
                    Some((_, contenders)) => contenders.extend(here.clone()),
                    None => found.push((point, here.clone())),
                }
            }
        }
        if found.is_empty() {
            return Err(source.error_at(place, "no points: list at least one, or leave `points` out"));
        }
        found.sort_by_key(|(point, _)| self.position(point));
        let listed = |(point, contenders): (_, BTreeSet<_>)| Listed {
            point,
            contenders: contenders.into_iter().collect(),
        };
        Ok(found.into_iter().map(listed).collect())
    }

    /// The values of each axis in an entry. An error comes with the axis that it is about.
    fn values_in<'e>(&self, entry: &'e Entry) -> Result<BTreeMap<String, Vec<AxisValue>>, (&'e str, String)> {
        let mut values = self.values.clone();
        for (axis, values) in &mut values {
            if let Some(default) = self.defaults.get(axis) {
                *values = vec![default.clone()];
            }
        }
        for (axis, chosen) in &entry.axes {
            let Some(known) = self.values.get(axis) else {
                let known: Vec<&str> = self.values.keys().map(String::as_str).chain(["contenders"]).collect();
                let what = format!("no axis '{axis}'{}", there_are(axis, &known));
                return Err((axis, what));
            };
            let chosen = chosen.values();
            if chosen.is_empty() {
                return Err((
                    axis,
                    format!("no values of axis '{axis}' are listed: leave it out, or list some"),
                ));
            }
            let legal = |value: &AxisValue| known.contains(value) || self.defaults.get(axis) == Some(value);
            if let Some(value) = chosen.iter().find(|value| !legal(value)) {
                return Err((axis, none_of(axis, value, known)));
            }
            values.insert(axis.clone(), chosen);
        }
        Ok(values)
    }

    /// The positions of a point's values in their axes. A default that is no value of its axis has none, and so comes
    /// first.
    fn position(&self, point: &Point) -> Vec<Option<usize>> {
        let of_axis = |(axis, value)| self.values.get(axis)?.iter().position(|other| other == value);
        point.0.iter().map(of_axis).collect()
    }
}

/// A sentence on a value that an axis does not have.
pub(super) fn none_of(axis: &str, value: &AxisValue, known: &[AxisValue]) -> String {
    let known: Vec<String> = known.iter().map(ToString::to_string).collect();
    format!("axis '{axis}' has no value {value}{}", it_has(&value.to_string(), &known))
}

/// The contenders at the points of an entry. An error if one is unknown, or none are listed.
fn contenders_in(entry: &Entry, all: &BTreeSet<String>) -> Result<BTreeSet<String>, Unfit> {
    let Some(names) = &entry.contenders else { return Ok(all.clone()) };
    if names.is_empty() {
        return Err(Unfit::new("no contenders are listed: leave the key out for all"));
    }
    let here: BTreeSet<String> = names.iter().cloned().collect();
    if let Some(unknown) = here.difference(all).next() {
        let known: Vec<&str> = all.iter().map(String::as_str).collect();
        return Err(Unfit::new(format!("no contender '{unknown}'{}", there_are(unknown, &known))));
    }
    Ok(here)
}

fn combinations(values: &BTreeMap<String, Vec<AxisValue>>) -> Vec<Point> {
    values.iter().fold(vec![Point::default()], |points, (axis, values)| {
        let with = |point: &Point, value: &AxisValue| {
            let mut point = point.clone();
            point.0.insert(axis.clone(), value.clone());
            point
        };
        points.iter().flat_map(|point| values.iter().map(|value| with(point, value))).collect()
    })
}

/// Turns a number without a fraction into a whole number: 1.0 is 1.
pub(crate) fn whole(value: &mut AxisValue) {
    if let AxisValue::Float(number) = value
        && number.fract() == 0.0
        && number.abs() < 2f64.powi(53)
    {
        *value = AxisValue::Int(*number as i64);
    }
}

#[cfg(test)]
mod tests {
    use super::SpecError;
    use crate::spec::Experiment;

    const SPEC: &str = r#"
question = "Which?"
kind = 'http'
[workload]
server_cores = 1
[axes]
connections = [1, 10, 100]
server_cores = [1, "all"]
[profiles.quick]
points = [
  { connections = [10, 1] },
  { connections = 10, server_cores = ["all"], contenders = ["b"] },
  { connections = 10, server_cores = "all", contenders = ["a", "b"] },
]
"#;

    fn planned(text: &str, profile: &str) -> Result<Vec<String>, SpecError> {
        let experiment = Experiment::from_text(text, profile, &["a", "b", "c"])?;
        let show = |p: &crate::driver::Planned| format!("{}: {}", p.point, p.contenders.concat());
        Ok(experiment.planned.iter().map(show).collect())
    }

    #[test]
    fn listed_points_take_defaults_and_join() {
        let found = planned(SPEC, "quick").unwrap();
        assert_eq!(
            found,
            [
                "connections=1 server_cores=1: abc",
                "connections=10 server_cores=1: abc",
                "connections=10 server_cores=all: ab"
            ]
        );
    }

    #[test]
    fn without_a_list_every_combination_is_a_point() {
        assert_eq!(planned(SPEC, "standard").unwrap().len(), 6);
    }

    #[test]
    fn what_is_wrong_with_a_list_is_named_with_its_place() {
        let cases = [
            (
                "connections = [10, 1] }",
                "conections = 1 }",
                "11:5: no axis 'conections'; did you mean 'connections'? There are: connections, server_cores",
            ),
            ("[10, 1] }", "[10, 2] }", "11:5: axis 'connections' has no value 2; it has 1, 10, 100"),
            (r#"["all"]"#, "[]", "no values of axis 'server_cores' are listed"),
            (r#"["b"]"#, "[]", "no contenders are listed"),
            (r#"["b"]"#, r#"["d"]"#, "12:47: no contender 'd'; there are: a, b, c"),
        ];
        for (from, to, expected) in cases {
            // The standard profile is chosen: a mistake in another one is found too.
            let found = planned(&SPEC.replace(from, to), "standard").unwrap_err().to_string();
            assert!(found.contains(expected), "{found}");
        }
    }
}
