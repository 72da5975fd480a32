//! The experiments and kits there are, read from their files: a new one edits no list.

use std::collections::BTreeSet;
use std::path::Path;

use super::git;
use super::language::Language;
use anyhow::{Context, Result};

/// All experiments and kits of the checkout.
#[derive(Debug, Default)]
pub struct Catalogue {
    /// Sorted by name.
    pub experiments: Vec<Experiment>,
    /// Names of the folders below `kits/`.
    pub kits: Vec<String>,
}

/// An experiment below `experiments/`.
#[derive(Debug, Default)]
pub struct Experiment {
    pub name: String,
    pub kind: String,
    /// The kinds of its services.
    pub services: BTreeSet<String>,
    pub contenders: Vec<Contender>,
}

/// A folder below its `contenders/`.
#[derive(Debug)]
pub struct Contender {
    /// Its folder, from the project's root.
    pub folder: String,
    /// Other folders that it is built from, likewise.
    pub uses: Vec<String>,
    pub language: Option<Language>,
    /// The kits it is built with.
    pub kits: BTreeSet<String>,
    pub variants: Vec<String>,
}

impl Catalogue {
    /// Reads what these files, all of the project's, say.
    pub fn read(root: &Path) -> Result<Catalogue> {
        let files = git::files(root)?;
        let mut catalogue = Catalogue::default();
        for file in &files {
            match Vec::from_iter(file.split('/'))[..] {
                ["experiments", name, "experiment.toml"] => {
                    catalogue.experiments.push(experiment(root, name, &files)?);
                }
                ["kits", name, "README.md"] => catalogue.kits.push(name.to_owned()),
                _ => {}
            }
        }
        catalogue.experiments.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(catalogue)
    }

    /// The experiment of this name.
    pub fn experiment(&self, name: &str) -> Option<&Experiment> {
        self.experiments.iter().find(|experiment| experiment.name == name)
    }
}

impl Contender {
    /// True if it is built from anything in this folder.
    pub fn is_of(&self, folder: &str) -> bool {
        let within = |path: &String| {
            path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        within(&self.folder) || self.uses.iter().any(within)
    }
}

impl Experiment {
    /// A contender's first variant, of those in the languages that are the quickest to build.
    pub fn quickest(&self, count: usize) -> Vec<String> {
        let mut contenders = Vec::from_iter(&self.contenders);
        contenders
            .sort_by_key(|contender| contender.language.map_or(usize::MAX, |language| language as usize));
        contenders.iter().filter_map(|contender| contender.variants.first().cloned()).take(count).collect()
    }

    /// A variant in each language it has.
    pub fn one_of_each_language(&self) -> Vec<String> {
        let in_it = |language| self.contenders.iter().find(move |one| one.language == Some(language));
        let found = Language::ALL.into_iter().filter_map(in_it);
        found.filter_map(|contender| contender.variants.first().cloned()).collect()
    }
}

fn experiment(root: &Path, name: &str, files: &[String]) -> Result<Experiment> {
    let folder = format!("experiments/{name}");
    let text = table(root, &format!("{folder}/experiment.toml"))?;
    let services = text.get("services").and_then(toml::Value::as_table).into_iter().flatten();
    let mut contenders = Vec::new();
    for file in files {
        let Some(home) = file.strip_suffix("/contender.toml") else { continue };
        if home.starts_with(&format!("{folder}/contenders/")) {
            contenders.push(contender(root, home, files)?);
        }
    }
    Ok(Experiment {
        name: name.to_owned(),
        kind: text.get("kind").and_then(toml::Value::as_str).unwrap_or_default().to_owned(),
        services: services
            .filter_map(|(_, service)| service.get("kind")?.as_str().map(str::to_owned))
            .collect(),
        contenders,
    })
}

fn contender(root: &Path, home: &str, files: &[String]) -> Result<Contender> {
    let text = table(root, &format!("{home}/contender.toml"))?;
    let strings = |key: &str| {
        let all = text.get(key).and_then(toml::Value::as_array).into_iter().flatten();
        all.filter_map(toml::Value::as_str)
    };
    let variants = text.get("variant").and_then(toml::Value::as_array).into_iter().flatten();
    let inside = files.iter().filter_map(|file| file.strip_prefix(home)?.strip_prefix('/'));
    Ok(Contender {
        folder: home.to_owned(),
        uses: strings("uses").map(|used| from_root(home, used)).collect(),
        language: Language::mostly(inside),
        kits: strings("uses")
            .filter_map(|used| used.split_once("/kits/").map(|(_, kit)| kit.to_owned()))
            .collect(),
        variants: variants.filter_map(|one| one.get("name")?.as_str().map(str::to_owned)).collect(),
    })
}

/// A path that is relative to this folder.
fn from_root(folder: &str, path: &str) -> String {
    let mut parts = Vec::from_iter(folder.split('/'));
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." | "" => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn table(root: &Path, file: &str) -> Result<toml::Table> {
    let text = std::fs::read_to_string(root.join(file)).with_context(|| file.to_owned())?;
    text.parse().with_context(|| file.to_owned())
}
