//! The points of a run, put into groups that are never mixed: one axis is gone along, the others stay fixed.

use kumite_record::{AxisValue, Cell, Export, Point};

use crate::table::cells_at;
use crate::text::one_line;

/// The groups of a run, that of all defaults first.
#[derive(Debug)]
pub struct Groups<'a> {
    /// The numeric axis with the most values, where one has two or more.
    pub x: Option<&'a str>,
    pub groups: Vec<Group<'a>>,
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
        let mut points: Vec<&Point> = Vec::new();
        for point in export.run.points.iter().chain(export.cells.iter().map(|cell| &cell.point)) {
            if !points.contains(&point) {
                points.push(point);
            }
        }
        let mut axes: Vec<&str> =
            points.iter().flat_map(|point| point.0.keys()).map(String::as_str).collect();
        axes.sort_unstable();
        axes.dedup();
        let value = |axis: &str, point: &Point| {
            point.get(axis).or_else(|| export.run.workload.get(axis)).map(AxisValue::to_string)
        };
        let values = |axis: &str| {
            let mut values: Vec<Option<String>> = Vec::new();
            for point in &points {
                let value = value(axis, point);
                if !values.contains(&value) {
                    values.push(value);
                }
            }
            values
        };

        let is_numeric = |axis: &&&str| points.iter().all(|point| x_value(point, axis).is_some());
        let x = axes
            .iter()
            .filter(is_numeric)
            .rev()
            .max_by_key(|axis| values(axis).len())
            .copied()
            .filter(|axis| values(axis).len() > 1);
        let varied: Vec<(&str, Option<String>)> = axes
            .iter()
            .filter(|axis| Some(**axis) != x && values(axis).len() > 1)
            .map(|axis| {
                // An axis that is no parameter of the workload has no default; its first value stands for one.
                let default = export.run.workload.get(*axis).map(AxisValue::to_string);
                (*axis, default.or_else(|| values(axis).swap_remove(0)))
            })
            .collect();

        let mut found: Vec<(Vec<Option<String>>, Vec<&Point>)> = Vec::new();
        for point in &points {
            let key: Vec<_> = varied.iter().map(|(axis, _)| value(axis, point)).collect();
            match found.iter_mut().find(|(known, _)| *known == key) {
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
        Groups { x, groups: groups.collect() }
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
        let group = self.groups.iter().find(|group| group.points.contains(&point));
        group.map_or_else(|| title(point), |group| self.full_place(group, point))
    }

    /// What points have that is not named in their places, where there are several groups.
    pub fn defaults(&self) -> Option<&str> {
        self.groups.iter().find(|group| group.is_default).map(|group| &*group.label).filter(|l| !l.is_empty())
    }
}

impl Group<'_> {
    pub fn cells<'e>(&self, export: &'e Export) -> Vec<&'e Cell> {
        let cells = |point: &&Point| cells_at(export, point);
        self.points.iter().flat_map(cells).collect()
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
