//! Time in lanes: what happened on each of several threads or instances, beneath one another.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::words::text::one_line;

/// A name and where its row is.
#[derive(Debug, Serialize)]
pub struct Lane {
    pub label: String,
    pub y: f64,
    pub height: f64,
    /// How it is written; empty if not in a way of its own.
    pub class: &'static str,
    /// The number by which lanes are compared, at the right end.
    pub count: Option<String>,
}

/// The marks of one look; each by itself or, where there are too many for titles, as one path.
#[derive(Debug, Serialize)]
pub struct Marks {
    pub class: &'static str,
    /// True if each of them stands for several things, between which there is something else.
    pub several: bool,
    pub told: Vec<Mark>,
    pub path: String,
}

/// A bar or a mark that says what it is.
#[derive(Debug, Serialize)]
pub struct Mark {
    pub path: String,
    pub text: String,
}

/// A mark of a look where it is drawn.
pub struct Drawn<L> {
    pub look: L,
    pub several: bool,
    pub path: String,
    pub text: String,
}

/// The marks of each look, in the order of the looks.
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
