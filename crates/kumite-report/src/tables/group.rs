//! The points of a run in groups that are never mixed: within a group only the x axis changes.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use kumite_record::{AxisValue, Cell, Export, Point};

use crate::record::Record;
use crate::words::text::one_line;

/// The groups of a run's points, the group of all defaults first.
#[derive(Debug)]
pub struct Groups<'a> {
    /// The numeric axis with the most values; none if no axis is numeric and has several.
    pub x: Option<&'a str>,
    pub groups: Vec<Group<'a>>,
    /// The position of each point's group in `groups`.
    group_of: HashMap<&'a Point, usize>,
}

/// Points that differ in nothing but the x axis.
#[derive(Debug)]
pub struct Group<'a> {
    /// The values that tell this group from the others; empty if it is the only group. The label of the group of all
    /// defaults names these defaults.
    pub label: String,
    /// True of the group of all defaults.
    pub is_default: bool,
    /// The kind of disturbance after the window; none if there was none.
    pub disturbance: Option<String>,
    /// The points, in the order of the x axis.
    pub points: Vec<&'a Point>,
}

/// The axes in which the points of a run differ.
struct Axes<'a> {
    export: &'a Export,
    /// The x axis, as in [`Groups::x`]; none if there is none.
    x: Option<&'a str>,
    /// The other axes with several values, each with its default.
    varied: Vec<(&'a str, Option<String>)>,
}

/// The values of a point on the varied axes, in their order.
type Key = Vec<Option<String>>;

impl<'a> Axes<'a> {
    fn new(export: &'a Export, points: &[&'a Point]) -> Axes<'a> {
        let names: BTreeSet<&str> =
            points.iter().flat_map(|point| point.0.keys()).map(String::as_str).collect();
        // How many values each axis has, and the first of them.
        let values: BTreeMap<&str, (usize, Option<String>)> = names
            .iter()
            .map(|axis| {
                let values: HashSet<_> = points.iter().map(|point| value(export, axis, point)).collect();
                (*axis, (values.len(), points.first().and_then(|first| value(export, axis, first))))
            })
            .collect();
        let is_numeric = |axis: &&&str| points.iter().all(|point| x_value(point, axis).is_some());
        let x = names
            .iter()
            .filter(is_numeric)
            .rev()
            .max_by_key(|axis| values[*axis].0)
            .copied()
            .filter(|axis| values[axis].0 > 1);
        let varied = names
            .iter()
            .filter(|axis| Some(**axis) != x && values[*axis].0 > 1)
            .map(|axis| {
                // An axis that is no parameter of the workload has no default; its first value stands for one.
                let default = export.run.workload.get(*axis).map(AxisValue::to_string);
                (*axis, default.or_else(|| values[axis].1.clone()))
            })
            .collect();
        Axes { export, x, varied }
    }

    fn key(&self, point: &Point) -> Key {
        self.varied.iter().map(|(axis, _)| value(self.export, axis, point)).collect()
    }

    fn is_default(&self, key: &[Option<String>]) -> bool {
        key.iter().zip(&self.varied).all(|(value, (_, default))| value == default)
    }

    fn group(&self, key: &[Option<String>], mut points: Vec<&'a Point>) -> Group<'a> {
        let is_default = self.is_default(key);
        let parts: Vec<String> = self
            .varied
            .iter()
            .zip(key)
            .filter(|((_, default), value)| is_default || *value != default)
            .map(|((axis, _), value)| format!("{axis} = {}", value.as_deref().unwrap_or("none")))
            .collect();
        if let Some(x) = self.x {
            points.sort_by(|a, b| {
                x_value(a, x).partial_cmp(&x_value(b, x)).unwrap_or(a.0.len().cmp(&b.0.len()))
            });
        }
        Group {
            label: one_line(&parts.join(", ")),
            is_default,
            disturbance: points
                .first()
                .and_then(|point| value(self.export, "disturbance", point))
                .filter(|kind| kind != "none"),
            points,
        }
    }
}

/// A point's value on an axis, or else that of the workload; none if neither has one.
fn value(export: &Export, axis: &str, point: &Point) -> Option<String> {
    point.get(axis).or_else(|| export.run.workload.get(axis)).map(AxisValue::to_string)
}

/// The points by key, those of all defaults first, the others in their order.
fn parted<'a>(points: Vec<&'a Point>, axes: &Axes<'a>) -> Vec<(Key, Vec<&'a Point>)> {
    let mut found: Vec<(Key, Vec<&Point>)> = Vec::new();
    let mut nth_of: HashMap<Key, usize> = HashMap::new();
    for point in points {
        let key = axes.key(point);
        let nth = *nth_of.entry(key.clone()).or_insert(found.len());
        match found.get_mut(nth) {
            Some((_, points)) => points.push(point),
            None => found.push((key, vec![point])),
        }
    }
    found.sort_by_key(|(key, _)| !axes.is_default(key));
    found
}

impl<'a> Groups<'a> {
    pub fn new(export: &'a Export) -> Groups<'a> {
        let mut seen: HashSet<&Point> = HashSet::new();
        let all = export.run.points.iter().chain(export.cells.iter().map(|cell| &cell.point));
        let points: Vec<&Point> = all.filter(|point| seen.insert(point)).collect();
        let axes = Axes::new(export, &points);
        let groups: Vec<Group> =
            parted(points, &axes).into_iter().map(|(key, points)| axes.group(&key, points)).collect();
        let group_of = groups.iter().enumerate();
        let group_of = group_of.flat_map(|(nth, group)| group.points.iter().map(move |point| (*point, nth)));
        Groups { x: axes.x, group_of: group_of.collect(), groups }
    }

    /// The groups without a disturbance.
    pub fn calm(&self) -> impl Iterator<Item = &Group<'a>> {
        self.groups.iter().filter(|group| group.disturbance.is_none())
    }

    /// The groups whose trials had a disturbance.
    pub fn disturbed(&self) -> impl Iterator<Item = &Group<'a>> {
        self.groups.iter().filter(|group| group.disturbance.is_some())
    }

    /// The name of the x axis in words; none if there is no x axis.
    pub fn over(&self) -> Option<String> {
        self.x.map(|x| one_line(&x.replace('_', " ")))
    }

    /// The points of a group, each with the words that name it among all points.
    pub fn points_of(&self, group: &Group<'a>) -> Vec<(String, &'a Point)> {
        group.points.iter().map(|point| (self.full_place(group, point), *point)).collect()
    }

    /// The points of all groups, each with the words that name it among all points.
    pub fn points(&self) -> impl Iterator<Item = (String, &'a Point)> {
        self.groups.iter().flat_map(|group| self.points_of(group))
    }

    /// The words that name a point within its group: `connections = 50`. All values of the point if there is no x axis.
    pub fn place(&self, point: &Point) -> String {
        match self.x.and_then(|x| Some((x, point.get(x)?))) {
            Some((x, value)) => one_line(&format!("{x} = {value}")),
            None => title(point),
        }
    }

    /// The words that name a point among all points: `connections = 50, server_cores = all`. An axis that they leave
    /// out has its default.
    pub fn full_place(&self, group: &Group, point: &Point) -> String {
        match self.x {
            Some(_) if !group.is_default => at(&self.place(point), &group.label, ", "),
            _ => self.place(point),
        }
    }

    /// The words that name a point of any group among all points: `connections = 50, server_cores = all`.
    pub fn name(&self, point: &Point) -> String {
        let nth = self.group_of.get(&point);
        nth.map_or_else(|| title(point), |nth| self.full_place(&self.groups[*nth], point))
    }

    /// The values that the group of all defaults has, and that no place names. None if there is only one group, or if
    /// no group has all defaults.
    pub fn defaults(&self) -> Option<&str> {
        self.groups.iter().find(|group| group.is_default).map(|group| &*group.label).filter(|l| !l.is_empty())
    }
}

impl Group<'_> {
    pub fn cells<'e>(&self, record: &Record<'e>) -> Vec<&'e Cell> {
        self.points.iter().flat_map(|point| record.at(point).cells.iter().copied()).collect()
    }

    /// The label of the group; for the only group, the axis or the point that it has.
    pub fn title(&self, groups: &Groups) -> String {
        match (self.label.as_str(), groups.over(), self.points.as_slice()) {
            ("", Some(over), _) => format!("Over {over}"),
            ("", None, [point]) => title(point),
            ("", ..) => "All trials".to_owned(),
            (label, ..) => label.to_owned(),
        }
    }
}

/// The value of the axis `x` as a number; none if the point has no finite number there.
pub fn x_value(point: &Point, x: &str) -> Option<f64> {
    point.get(x)?.number().filter(|value| value.is_finite())
}

/// A text, then `between` and a group's label. The text alone if the label is empty.
pub fn at(text: &str, label: &str, between: &str) -> String {
    if label.is_empty() { text.to_owned() } else { format!("{text}{between}{label}") }
}

/// All values of a point: `connections = 50, server_cores = 1`.
pub fn title(point: &Point) -> String {
    if point.0.is_empty() {
        return "all trials".to_owned();
    }
    let values: Vec<String> = point.0.iter().map(|(axis, value)| format!("{axis} = {value}")).collect();
    one_line(&values.join(", "))
}
