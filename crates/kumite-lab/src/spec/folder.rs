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

pub(crate) fn find(name: &str) -> Result<PathBuf, SpecError> {
    let direct = PathBuf::from(name);
    if direct.join("experiment.toml").is_file() {
        return Ok(direct);
    }
    let root = experiments_folder();
    let named =
        root.as_ref().map(|root| root.join(name)).filter(|folder| folder.join("experiment.toml").is_file());
    named.ok_or_else(|| SpecError::NoExperiment {
        name: name.to_owned(),
        looked: match root {
            Some(root) => format!("neither {name} nor {} has an experiment.toml", root.join(name).display()),
            None => {
                format!("{name} has no experiment.toml, and there is no experiments/ folder here or above")
            }
        },
    })
}

/// The nearest `experiments/`, here or above, so that kumite works anywhere in a checkout.
pub(crate) fn experiments_folder() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let root = here.ancestors().map(|folder| folder.join("experiments")).find(|folder| folder.is_dir())?;
    Some(root.strip_prefix(&here).map_or(root.clone(), Path::to_owned))
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
