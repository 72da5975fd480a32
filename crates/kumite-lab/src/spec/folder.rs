//! The folders of experiments and of their contenders.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use kumite_record::meant;

use crate::contender::Contender;
use crate::toml_source::SpecError;

/// Reads the contenders below the folder of an experiment, in the order of their folders. An error if there is none,
/// or one of their files cannot be used.
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

/// A sentence on each folder beside the contenders that has no contender.toml, and may have been meant to be one.
pub(super) fn no_contenders(experiment: &Path) -> Vec<String> {
    let mut found = folders(&experiment.join("contenders")).unwrap_or_default();
    found.retain(|folder| {
        let is_hidden = folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with(['.', '_']));
        !is_hidden && !folder.join("contender.toml").is_file()
    });
    found.sort();
    let said = |folder: PathBuf| format!("{} is no contender: it has no contender.toml", folder.display());
    found.into_iter().map(said).collect()
}

/// The folder of an experiment that is given by its path or, else, by its name. An error if there is none.
pub(crate) fn find(name: &str) -> Result<PathBuf, SpecError> {
    let direct = PathBuf::from(name);
    if is_experiment(&direct) {
        return Ok(direct);
    }
    // The file in place of its folder.
    if direct.is_file() && direct.file_name().is_some_and(|name| name == "experiment.toml") {
        let folder = direct.parent().filter(|folder| *folder != Path::new(""));
        return Ok(folder.unwrap_or(Path::new(".")).to_owned());
    }
    let places = places();
    let found = places.iter().map(|place| place.join(name)).find(|folder| is_experiment(folder));
    let known: Vec<String> = places
        .iter()
        .flat_map(|place| folders(place).unwrap_or_default())
        .filter(|folder| is_experiment(folder))
        .filter_map(|folder| Some(folder.file_name()?.to_str()?.to_owned()))
        .collect();
    let meant = meant(name, known.iter().map(String::as_str));
    found.ok_or_else(|| SpecError::NoExperiment {
        name: name.to_owned(),
        looked: match &places[..] {
            [] => format!(
                "{name} has no experiment.toml, and there is no experiments/ folder here or above, nor one in $KUMITE_EXPERIMENTS"
            ),
            places => {
                let places: Vec<String> =
                    places.iter().map(|place| place.join(name).display().to_string()).collect();
                format!("neither {name} nor {} has an experiment.toml{meant}", places.join(" nor "))
            }
        },
    })
}

/// The folder of the nearest experiment with this name. The name may come from a stranger, so it is never taken for a
/// path. An error if there is no such experiment, or a folder of experiments cannot be read.
pub(super) fn find_by_name(name: &str) -> Result<PathBuf, SpecError> {
    let is_plain = matches!(
        Path::new(name).components().collect::<Vec<_>>()[..],
        [Component::Normal(only)] if only == OsStr::new(name)
    );
    let all = if is_plain { all()? } else { Vec::new() };
    let names = all.iter().filter_map(|folder| folder.file_name()?.to_str());
    let meant = meant(name, names);
    let found = all.iter().find(|folder| folder.file_name() == Some(OsStr::new(name)));
    found.cloned().ok_or_else(|| SpecError::NoExperiment {
        name: name.to_owned(),
        looked: match is_plain {
            true => format!("none that is found by name is called so{meant}"),
            false => "this is the name of no folder".to_owned(),
        },
    })
}

/// The folders of all experiments that are found by name, the nearest first. If two have one name, only the nearer is
/// among them. An error if one of the places cannot be read.
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

/// The folders in which experiments are looked for by name: the nearest `experiments/`, in this folder or above;
/// those in `$KUMITE_EXPERIMENTS`, with colons between them; and the one that was installed with kumite.
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
