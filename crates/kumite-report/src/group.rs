//! The points of a run, put into groups that are never mixed: one axis is gone along, the others stay fixed.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use kumite_record::{AxisValue, Cell, Export, Point};

use crate::record::Record;
use crate::text::one_line;

/// The groups of a run, that of all defaults first.
#[derive(Debug)]
pub struct Groups<'a> {
    /// The numeric axis with the most values, where one has two or more.
    pub x: Option<&'a str>,
    pub groups: Vec<Group<'a>>,
    /// The position of the group that a point is in.
    group_of: HashMap<&'a Point, usize>,
}

/// Points that differ in the x axis only.
#[derive(Debug)]
pub struct Group<'a> {
    /// What sets it apart from the other groups; nothing where it is the only one.
    pub label: String,
    /// Whether it is that of all defaults.
    pub is_default: bool,
    /// What was done to the contenders after the window, if anything was.
    pub disturbance: Option<String>,
    /// In the order of the x axis.
    pub points: Vec<&'a Point>,
}

impl<'a> Groups<'a> {
    pub fn of(export: &'a Export) -> Groups<'a> {
        let mut seen: HashSet<&Point> = HashSet::new();
        let all = export.run.points.iter().chain(export.cells.iter().map(|cell| &cell.point));
        let points: Vec<&Point> = all.filter(|point| seen.insert(point)).collect();
        let axes: BTreeSet<&str> =
            points.iter().flat_map(|point| point.0.keys()).map(String::as_str).collect();
        let value = |axis: &str, point: &Point| {
            point.get(axis).or_else(|| export.run.workload.get(axis)).map(AxisValue::to_string)
        };
        // How many values each axis has, and the first of them.
        let values: BTreeMap<&str, (usize, Option<String>)> = axes
            .iter()
            .map(|axis| {
                let values: HashSet<_> = points.iter().map(|point| value(axis, point)).collect();
                (*axis, (values.len(), points.first().and_then(|first| value(axis, first))))
            })
            .collect();

        let is_numeric = |axis: &&&str| points.iter().all(|point| x_value(point, axis).is_some());
        let x = axes
            .iter()
            .filter(is_numeric)
            .rev()
            .max_by_key(|axis| values[*axis].0)
            .copied()
            .filter(|axis| values[axis].0 > 1);
        let varied: Vec<(&str, Option<String>)> = axes
            .iter()
            .filter(|axis| Some(**axis) != x && values[*axis].0 > 1)
            .map(|axis| {
                // An axis that is no parameter of the workload has no default; its first value stands for one.
                let default = export.run.workload.get(*axis).map(AxisValue::to_string);
                (*axis, default.or_else(|| values[axis].1.clone()))
            })
            .collect();

        let mut found: Vec<(Vec<Option<String>>, Vec<&Point>)> = Vec::new();
        let mut nth_of: HashMap<Vec<Option<String>>, usize> = HashMap::new();
        for point in &points {
            let key: Vec<_> = varied.iter().map(|(axis, _)| value(axis, point)).collect();
            let nth = *nth_of.entry(key.clone()).or_insert(found.len());
            match found.get_mut(nth) {
                Some((_, points)) => points.push(point),
                None => found.push((key, vec![point])),
            }
        }
        let is_default =
            |key: &[Option<String>]| key.iter().zip(&varied).all(|(value, (_, default))| value == default);
        found.sort_by_key(|(key, _)| !is_default(key));
        let groups = found.into_iter().map(|(key, mut points)| {
            let all = is_default(&key);
            let parts: Vec<String> = varied
                .iter()
                .zip(&key)
                .filter(|((_, default), value)| all || *value != default)
                .map(|((axis, _), value)| format!("{axis} = {}", value.as_deref().unwrap_or("none")))
                .collect();
            if let Some(x) = x {
                points.sort_by(|a, b| {
                    x_value(a, x).partial_cmp(&x_value(b, x)).unwrap_or(a.0.len().cmp(&b.0.len()))
                });
            }
            Group {
                label: one_line(&parts.join(", ")),
                is_default: all,
                disturbance: points
                    .first()
                    .and_then(|point| value("disturbance", point))
                    .filter(|kind| kind != "none"),
                points,
            }
        });
        let groups: Vec<Group> = groups.collect();
        let group_of = groups.iter().enumerate();
        let group_of = group_of.flat_map(|(nth, group)| group.points.iter().map(move |point| (*point, nth)));
        Groups { x, group_of: group_of.collect(), groups }
    }

    /// The groups that were measured undisturbed.
    pub fn calm(&self) -> impl Iterator<Item = &Group<'a>> {
        self.groups.iter().filter(|group| group.disturbance.is_none())
    }

    /// The others.
    pub fn disturbed(&self) -> impl Iterator<Item = &Group<'a>> {
        self.groups.iter().filter(|group| group.disturbance.is_some())
    }

    /// The x axis in words.
    pub fn over(&self) -> Option<String> {
        self.x.map(|x| one_line(&x.replace('_', " ")))
    }

    /// The points of a group, and their places among all.
    pub fn points_of(&self, group: &Group<'a>) -> Vec<(String, &'a Point)> {
        group.points.iter().map(|point| (self.full_place(group, point), *point)).collect()
    }

    /// All points, and their places.
    pub fn points(&self) -> impl Iterator<Item = (String, &'a Point)> {
        self.groups.iter().flat_map(|group| self.points_of(group))
    }

    /// `connections = 50`: a point among those of its group.
    pub fn place(&self, point: &Point) -> String {
        match self.x.and_then(|x| Some((x, point.get(x)?))) {
            Some((x, value)) => one_line(&format!("{x} = {value}")),
            None => title(point),
        }
    }

    /// `connections = 50, server_cores = all`: a point among all; what is not named has its default.
    pub fn full_place(&self, group: &Group, point: &Point) -> String {
        match self.x {
            Some(_) if !group.is_default => at(&self.place(point), &group.label, ", "),
            _ => self.place(point),
        }
    }

    /// The same, whatever group the point is in.
    pub fn name(&self, point: &Point) -> String {
        let nth = self.group_of.get(&point);
        nth.map_or_else(|| title(point), |nth| self.full_place(&self.groups[*nth], point))
    }

    /// What points have that is not named in their places, where there are several groups.
    pub fn defaults(&self) -> Option<&str> {
        self.groups.iter().find(|group| group.is_default).map(|group| &*group.label).filter(|l| !l.is_empty())
    }
}

impl Group<'_> {
    pub fn cells<'e>(&self, record: &Record<'e>) -> Vec<&'e Cell> {
        self.points.iter().flat_map(|point| record.at(point).cells.iter().copied()).collect()
    }

    /// Its label; or, where it is the only one, what it goes along.
    pub fn title(&self, groups: &Groups) -> String {
        match (self.label.as_str(), groups.over(), self.points.as_slice()) {
            ("", Some(over), _) => format!("Over {over}"),
            ("", None, [point]) => title(point),
            ("", ..) => "All trials".to_owned(),
            (label, ..) => label.to_owned(),
        }
    }
}

/// The value of the x axis as a number.
pub fn x_value(point: &Point, x: &str) -> Option<f64> {
    point.get(x)?.number().filter(|value| value.is_finite())
}

/// A text and a group's label, where it has one.
pub fn at(text: &str, label: &str, between: &str) -> String {
    if label.is_empty() { text.to_owned() } else { format!("{text}{between}{label}") }
}

/// `connections = 50, server_cores = 1`.
pub fn title(point: &Point) -> String {
    if point.0.is_empty() {
        return "all trials".to_owned();
    }
    let values: Vec<String> = point.0.iter().map(|(axis, value)| format!("{axis} = {value}")).collect();
    one_line(&values.join(", "))
}
