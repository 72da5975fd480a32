//! No two modules of a folder need each other, and in kumite-lab none uses one above it.
//!
//! Read from the paths that begin with `crate` or `super`. What a `mod.rs` hands on counts as the file that it is in; the
//! `mod.rs` itself may know all of its folder, and they it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The modules of kumite-lab in levels, from below: each may use those of its own level and of those before it.
const LAB: &[&[&str]] = &[
    &[
        "answer_program",
        "credentials",
        "error",
        "halt",
        "held_folder",
        "measures",
        "metrics",
        "node",
        "parameter",
        "port",
        "toml_source",
        "unfit",
        "work",
    ],
    &["contender"],
    &["service"],
    &["driver"],
    &["spec"],
    &["run"],
    &["doctor", "kit_test", "load_once", "reference", "schema", "station"],
];

/// The names that lead to a module, from the crate's root.
type Module = Vec<String>;

/// By module of a folder, the modules of that folder that it uses, each with a file that does.
type Arrows = BTreeMap<String, BTreeMap<String, String>>;

/// Adds the arrows that must not be.
pub fn check(root: &Path, tracked: &[String], wrong: &mut Vec<String>) {
    let is_ours = |name: &&String| name.starts_with("crates/") || name.starts_with("xtask/");
    let sources = tracked.iter().filter(is_ours).filter(|name| name.ends_with(".rs"));
    let mut crates = BTreeMap::<&str, BTreeMap<&str, String>>::new();
    for name in sources {
        let Some((krate, file)) = name.split_once("/src/") else { continue };
        if file.split(['/', '.']).any(|part| part == "tests") {
            continue;
        }
        let text = std::fs::read_to_string(root.join(name)).unwrap_or_default();
        crates.entry(krate).or_default().insert(file, text);
    }
    for (krate, files) in &crates {
        let arrows = arrows(files);
        for (folder, arrows) in &arrows {
            let place = format!("{krate}/src/{}", folder.join("/"));
            wrong.extend(cycle(arrows).map(|names| format!("{place}: these need each other: {names}")));
        }
        if let Some(arrows) = arrows.get(&Module::new()).filter(|_| *krate == "crates/kumite-lab") {
            wrong.extend(upward(arrows, LAB).into_iter().map(|what| format!("{krate}/src/{what}")));
        }
    }
}

/// The arrows in each folder.
fn arrows(files: &BTreeMap<&str, String>) -> BTreeMap<Module, Arrows> {
    let codes: BTreeMap<Module, (&str, String)> =
        files.iter().map(|(file, text)| (module(file), (*file, code(text)))).collect();
    let mut handed_on = BTreeMap::<(Module, String), Module>::new();
    for (at, (_, code)) in &codes {
        for path in paths(code, &["use "]) {
            let within: Module = at.iter().chain(&path[..path.len() - 1]).cloned().collect();
            if within.len() > at.len() && codes.contains_key(&within[..=at.len()]) {
                handed_on.insert((at.clone(), path[path.len() - 1].clone()), within);
            }
        }
    }
    let mut all = BTreeMap::<Module, Arrows>::new();
    for (from, (file, code)) in &codes {
        for path in paths(code, &["crate::", "super::"]) {
            let to = resolved(from, &path, &codes, &handed_on);
            let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
            if let (Some(user), Some(used)) = (from.get(common), to.get(common)) {
                let arrows = all.entry(from[..common].to_vec()).or_default();
                arrows.entry(user.clone()).or_default().insert(used.clone(), (*file).to_owned());
            }
        }
    }
    all
}

fn module(file: &str) -> Module {
    let names = file.trim_end_matches(".rs").split('/');
    let mut names: Module = names.map(str::to_owned).collect();
    names.pop_if(|last| ["mod", "lib", "main"].contains(&last.as_str()));
    names
}

/// A file without its tests and comments.
fn code(text: &str) -> String {
    let is_tests = |at: &usize| text[*at..].lines().nth(1).is_some_and(|line| line.ends_with("mod tests {"));
    let end = text.match_indices("#[cfg(test)]\n").map(|(at, _)| at).find(is_tests).unwrap_or(text.len());
    let text = &text[..end];
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// The paths that begin like this, each name of a group by itself. Those after `use ` are without it.
fn paths(code: &str, beginnings: &[&str]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for beginning in beginnings {
        for (at, _) in code.match_indices(beginning) {
            let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
            if code[..at].ends_with(is_name) {
                continue;
            }
            let path = &code[at..];
            let path = path.strip_prefix("use ").unwrap_or(path);
            expand(&mut path.chars().peekable(), &Vec::new(), &mut found);
        }
    }
    found.retain(|path| !path.is_empty());
    found
}

/// Reads a path, or a group of them, that goes on from `before`.
fn expand(chars: &mut std::iter::Peekable<std::str::Chars>, before: &[String], found: &mut Vec<Vec<String>>) {
    let mut path = before.to_vec();
    loop {
        while chars.next_if(|c| c.is_whitespace()).is_some() {}
        if chars.next_if_eq(&'{').is_some() {
            loop {
                expand(chars, &path, found);
                while chars.next_if(|c| !matches!(c, ',' | '}')).is_some() {}
                if chars.next() != Some(',') {
                    return;
                }
            }
        }
        let mut name = String::new();
        while let Some(c) = chars.next_if(|c| c.is_alphanumeric() || *c == '_') {
            name.push(c);
        }
        if name.is_empty() {
            break;
        }
        path.push(name);
        if chars.next_if_eq(&':').is_none() || chars.next_if_eq(&':').is_none() {
            break;
        }
    }
    found.push(path);
}

/// The module that a path leads to.
fn resolved(
    from: &Module,
    path: &[String],
    codes: &BTreeMap<Module, (&str, String)>,
    handed_on: &BTreeMap<(Module, String), Module>,
) -> Module {
    let mut at = from.clone();
    for name in path {
        match name.as_str() {
            "crate" => at.clear(),
            "super" => drop(at.pop()),
            _ => {
                at.push(name.clone());
                if !codes.contains_key(&at) {
                    at.pop();
                    return handed_on.get(&(at.clone(), name.clone())).cloned().unwrap_or(at);
                }
            }
        }
    }
    at
}

/// Modules that need each other, if there are any.
fn cycle(arrows: &Arrows) -> Option<String> {
    let mut left: BTreeSet<&String> = arrows.keys().collect();
    // A module that uses none that is left is in no cycle.
    loop {
        let uses_left =
            |user: &&String| arrows[*user].keys().any(|used| used != *user && left.contains(used));
        let next: BTreeSet<&String> = left.iter().copied().filter(uses_left).collect();
        if next.len() == left.len() {
            break;
        }
        left = next;
    }
    let mut way = vec![*left.first()?];
    loop {
        let here = way[way.len() - 1];
        let next = arrows[here].keys().find(|used| *used != here && left.contains(used))?;
        if let Some(begin) = way.iter().position(|name| *name == next) {
            let names = way[begin..].iter().map(|name| name.as_str()).chain([next.as_str()]);
            return Some(names.collect::<Vec<_>>().join(" → "));
        }
        way.push(next);
    }
}

/// The arrows that lead to a higher level, and the modules that stand on none.
fn upward(arrows: &Arrows, levels: &[&[&str]]) -> Vec<String> {
    let level = |name: &str| levels.iter().position(|level| level.contains(&name));
    let mut wrong = Vec::new();
    for (user, used) in arrows {
        let Some(own) = level(user) else {
            wrong.push(format!("{user}: say in xtask/src/tidy/modules.rs what it stands above"));
            continue;
        };
        for (used, file) in used {
            match level(used) {
                Some(of_used) if of_used <= own => {}
                Some(_) => wrong.push(format!("{file}: `{user}` uses `{used}`, which stands above it")),
                None => wrong.push(format!("{used}: say in xtask/src/tidy/modules.rs what it stands above")),
            }
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&'static str, &str)]) -> BTreeMap<Module, Arrows> {
        arrows(&files.iter().map(|(file, text)| (*file, (*text).to_owned())).collect())
    }

    fn users(arrows: &Arrows) -> Vec<String> {
        let each = |(user, used): (&String, &BTreeMap<String, String>)| {
            format!("{user}: {}", used.keys().cloned().collect::<Vec<_>>().join(" "))
        };
        arrows.iter().map(each).collect()
    }

    #[test]
    fn paths_groups_and_what_is_handed_on_are_arrows() {
        let arrows = found(&[
            ("lib.rs", "mod a;\nmod b;\nmod c;"),
            ("a.rs", "use crate::b::{Inner, deep::{Other}};\n// crate::c::Comment\nfn f() { crate::c::g() }"),
            ("b/mod.rs", "mod deep;\nmod inner;\npub use inner::Inner;"),
            ("b/inner.rs", "use super::deep::Other;\n#[cfg(test)]\nmod tests {\n    use crate::a::X;\n}"),
            ("b/deep.rs", "pub struct Other;"),
            ("c.rs", "fn g() {}"),
        ]);
        assert_eq!(users(&arrows[&Module::new()]), ["a: b c"]);
        assert_eq!(users(&arrows[&vec!["b".to_owned()]]), ["inner: deep"]);
    }

    #[test]
    fn two_that_need_each_other_are_found_also_through_what_is_handed_on() {
        let files = [
            ("b/mod.rs", "mod one;\nmod two;\npub use two::Two;"),
            ("b/one.rs", "use crate::b::Two;"),
            ("b/two.rs", "fn f(_: super::one::One) {}"),
        ];
        let arrows = found(&files);
        assert_eq!(cycle(&arrows[&vec!["b".to_owned()]]).unwrap(), "one → two → one");
        let arrows = found(&[("b/mod.rs", ""), ("b/one.rs", "use crate::b::two::Two;"), ("b/two.rs", "")]);
        assert_eq!(cycle(&arrows[&vec!["b".to_owned()]]), None);
    }

    #[test]
    fn an_arrow_upward_and_a_module_without_a_level_are_named() {
        let arrows = found(&[
            ("low.rs", "use crate::high::X;"),
            ("high.rs", "use crate::low::Y;"),
            ("new.rs", "use crate::low::Y;"),
        ]);
        let wrong = upward(&arrows[&Module::new()], &[&["low"], &["high"]]);
        assert_eq!(
            wrong,
            [
                "low.rs: `low` uses `high`, which stands above it",
                "new: say in xtask/src/tidy/modules.rs what it stands above"
            ]
        );
    }
}
