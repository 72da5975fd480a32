//! Time in lanes: what happened on each of several threads or instances, beneath one another.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::words::text::one_line;

/// The row of a thread or an instance, with its label.
#[derive(Debug, Serialize)]
pub struct Lane {
    pub label: String,
    pub y: f64,
    pub height: f64,
    /// The style of the row's label; empty for the usual one.
    pub class: &'static str,
    /// The number by which lanes are compared, written at the lane's right end; none if lanes are not compared.
    pub count: Option<String>,
}

/// The marks of one look. They are in `told`, each with its text, or all in `path` if there are too many for texts.
#[derive(Debug, Serialize)]
pub struct Marks {
    pub class: &'static str,
    /// True if each of these marks stands for several things that were merged: a stretch with gaps in it.
    pub several: bool,
    pub told: Vec<Mark>,
    pub path: String,
}

/// A mark as an SVG path, with the text that a pointer shows.
#[derive(Debug, Serialize)]
pub struct Mark {
    pub path: String,
    pub text: String,
}

/// A mark before marks are grouped by their look.
pub struct Drawn<L> {
    pub look: L,
    pub several: bool,
    pub path: String,
    pub text: String,
}

/// Groups marks by their look, in the order of looks; within a look, single marks come before merged ones. If `told` is
/// true, each mark keeps its text; otherwise the marks of a group become one path without texts.
pub fn by_look<L: Ord + Copy>(
    marks: impl Iterator<Item = Drawn<L>>,
    class: fn(L) -> &'static str,
    told: bool,
) -> Vec<Marks> {
    let mut looks: BTreeMap<(L, bool), Marks> = BTreeMap::new();
    for Drawn { look, several, path, text } in marks {
        let new = || Marks { class: class(look), several, told: Vec::new(), path: String::new() };
        let marks = looks.entry((look, several)).or_insert_with(new);
        match told {
            true => marks.told.push(Mark { path, text: one_line(&text) }),
            false => marks.path += &path,
        }
    }
    looks.into_values().collect()
}
