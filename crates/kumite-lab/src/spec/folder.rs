//! Where experiments and their contenders are.

use std::path::{Path, PathBuf};

use crate::contender::Contender;
use crate::toml_source::SpecError;

pub(crate) fn read_contenders(experiment: &Path) -> Result<Vec<Contender>, SpecError> {
    let root = experiment.join("contenders");
    let mut files: Vec<PathBuf> = folders(&root)?
        .into_iter()
        .map(|folder| folder.join("contender.toml"))
        .filter(|file| file.is_file())
        .collect();
    files.sort();
    if files.is_empty() {
        return Err(SpecError::Usage(format!(
            "{} holds no contender: no */contender.toml below it",
            root.display()
        )));
    }
    files.iter().map(|file| Contender::read(file)).collect()
}

/// A folder that is named by its path, or the nearest of that name.
pub(crate) fn find(name: &str) -> Result<PathBuf, SpecError> {
    let direct = PathBuf::from(name);
    if is_experiment(&direct) {
        return Ok(direct);
    }
    let places = places();
    let found = places.iter().map(|place| place.join(name)).find(|folder| is_experiment(folder));
    found.ok_or_else(|| SpecError::NoExperiment {
        name: name.to_owned(),
        looked: match &places[..] {
            [] => format!(
                "{name} has no experiment.toml, and there is no experiments/ folder here or above, nor one in $KUMITE_EXPERIMENTS"
            ),
            places => {
                let places: Vec<String> =
                    places.iter().map(|place| place.join(name).display().to_string()).collect();
                format!("neither {name} nor {} has an experiment.toml", places.join(" nor "))
            }
        },
    })
}

/// All that are found by name, the nearest first: where two have one name, the other is found by its path alone.
pub(crate) fn all() -> Result<Vec<PathBuf>, SpecError> {
    let mut found: Vec<PathBuf> = Vec::new();
    for place in places() {
        let mut here = folders(&place)?;
        here.sort();
        here.retain(|folder| {
            is_experiment(folder) && !found.iter().any(|nearer| nearer.file_name() == folder.file_name())
        });
        found.extend(here);
    }
    Ok(found)
}

/// Where experiments are looked for by name: the nearest `experiments/`, here or above; those of `$KUMITE_EXPERIMENTS`, with
/// colons between them; and what was installed with kumite.
fn places() -> Vec<PathBuf> {
    let here = std::env::current_dir().unwrap_or_default();
    let above = here.ancestors().map(|folder| folder.join("experiments")).find(|folder| folder.is_dir());
    let above = above.map(|root| root.strip_prefix(&here).map_or(root.clone(), Path::to_owned));
    let named = std::env::var_os("KUMITE_EXPERIMENTS").unwrap_or_default();
    let named = std::env::split_paths(&named).filter(|folder| folder.is_dir());
    // PREFIX/bin/kumite and PREFIX/share/kumite/experiments.
    let program = std::env::current_exe().and_then(std::fs::canonicalize).ok();
    let prefix = program.as_deref().and_then(Path::parent).and_then(Path::parent);
    let installed =
        prefix.map(|prefix| prefix.join("share/kumite/experiments")).filter(|folder| folder.is_dir());
    above.into_iter().chain(named).chain(installed).collect()
}

fn is_experiment(folder: &Path) -> bool {
    folder.join("experiment.toml").is_file()
}

pub(crate) fn folder_name(folder: &Path) -> Result<String, SpecError> {
    let read = |source| SpecError::Read { file: folder.to_owned(), source };
    let full = folder.canonicalize().map_err(read)?;
    Ok(full.file_name().unwrap_or_default().to_string_lossy().into_owned())
}

pub(crate) fn folders(root: &Path) -> Result<Vec<PathBuf>, SpecError> {
    let read = |source| SpecError::Read { file: root.to_owned(), source };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root).map_err(read)? {
        let path = entry.map_err(read)?.path();
        if path.is_dir() {
            found.push(path);
        }
    }
    Ok(found)
}
