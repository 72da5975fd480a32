//! Tools from npm's registry: a package that holds a program, such as Node.js, Bun or Deno, is unpacked into the
//! user's cache.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_cache::user_cache;
use kumite_process::{Spawn, how_it_ended, last_lines, run};

use super::entries::entries_of;
use super::manifest::npm_package;
use super::need::parse_version;
use crate::error::{Error, Fault};

const LIMIT: Duration = Duration::from_secs(10 * 60);
/// The command that installs packages. It does not run their scripts, which a program does not need.
const COMMAND: &str = "npm install --ignore-scripts --no-audit --no-fund --no-package-lock --no-update-notifier --loglevel=error";

/// The folder in which npm's packages are kept. None if neither XDG_CACHE_HOME nor HOME is an absolute path.
pub(super) fn folder() -> Option<PathBuf> {
    Some(user_cache()?.join("tools"))
}

/// The folders in `kept` that may hold a tool, those of the newest version first.
pub(super) fn tool_folders(kept: &Path) -> Vec<PathBuf> {
    let name =
        |place: &Path| place.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let version =
        |place: &PathBuf| name(place).rsplit_once('@').and_then(|(_, version)| parse_version(version));
    let mut places = entries_of(kept);
    // One that begins with a dot is being filled, or was never finished.
    places.retain(|place| !name(place).starts_with('.'));
    places.sort_by_cached_key(|place| std::cmp::Reverse((version(place), name(place))));
    places
        .iter()
        .flat_map(|place| packages_in(place))
        .flat_map(|package| [package.join("bin"), package])
        .collect()
}

/// True if kumite has installed these packages in the user's cache before: if the folder that is named after the first
/// one exists.
pub(super) fn are_installed(packages: &[String]) -> bool {
    !packages.is_empty() && folder().is_some_and(|kept| kept.join(place_name(packages)).exists())
}

/// Installs those of the packages that are for this machine into the user's cache. An error if npm fails, takes
/// longer than 10 minutes, or gets none of them.
pub(super) fn install(packages: &[String], log: &Path) -> Result<(), Error> {
    let kept = folder().ok_or(Error::NoHome)?;
    let cannot = Error::cannot("write in", &kept);
    std::fs::create_dir_all(&kept).map_err(cannot)?;
    let new = tempfile::Builder::new().prefix(".new-").tempdir_in(&kept).map_err(cannot)?;
    // npm passes over what is optional and for another machine.
    let optional: serde_json::Map<_, _> = packages
        .iter()
        .filter_map(|package| npm_package(package))
        .map(|(name, version)| (name.into(), version.into()))
        .collect();
    let project = serde_json::json!({ "private": true, "optionalDependencies": optional });
    std::fs::write(new.path().join("package.json"), project.to_string()).map_err(cannot)?;
    let spawn =
        Spawn { command: COMMAND, dir: new.path(), env: &[], keeps: None, cores: &[], log, group: None };
    let finished = run(&spawn, LIMIT, &AtomicBool::new(false))?;
    if !finished.status.success() {
        let how = how_it_ended(finished.status);
        return Err(Fault::new(format!("`{COMMAND}` {how}: {}", last_lines(log))).into());
    }
    if packages_in(new.path()).is_empty() {
        return Err(Fault::new(format!(
            "npm got none of {}: they are for other machines, or it could not reach them",
            packages.join(", ")
        ))
        .into());
    }
    let place = kept.join(place_name(packages));
    match std::fs::rename(new.keep(), &place) {
        // Another kumite was quicker.
        Err(_) if place.exists() => Ok(()),
        renamed => renamed.map_err(cannot),
    }
}

/// The name of the folder for these packages: that of the first one, since the others are the same program for other
/// machines.
fn place_name(packages: &[String]) -> String {
    packages[0].replace('/', "+")
}

/// The folders of the packages that npm unpacked in this place.
fn packages_in(place: &Path) -> Vec<PathBuf> {
    let named = |folder: &Path, test: &dyn Fn(&str) -> bool| -> Vec<PathBuf> {
        let mut entries = entries_of(folder);
        entries.retain(|entry| entry.file_name().is_some_and(|name| test(&name.to_string_lossy())));
        entries.sort();
        entries
    };
    let modules = place.join("node_modules");
    let scopes = named(&modules, &|name| name.starts_with('@'));
    let mut packages = named(&modules, &|name| !name.starts_with(['@', '.']));
    packages.extend(scopes.iter().flat_map(|scope| named(scope, &|_| true)));
    packages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_found_with_and_without_a_scope_the_newest_first() {
        let kept = tempfile::tempdir().unwrap();
        for package in [
            "bun@1.9.0/node_modules/@oven/bun",
            "node@26.9.0/node_modules/node",
            "node@26.10.0/node_modules/node",
            "node@26.10.0/node_modules/.bin",
            ".new-1/node_modules/node",
        ] {
            std::fs::create_dir_all(kept.path().join(package)).unwrap();
        }
        let found = tool_folders(kept.path());
        let expected = [
            "node@26.10.0/node_modules/node/bin",
            "node@26.10.0/node_modules/node",
            "node@26.9.0/node_modules/node/bin",
            "node@26.9.0/node_modules/node",
            "bun@1.9.0/node_modules/@oven/bun/bin",
            "bun@1.9.0/node_modules/@oven/bun",
        ];
        assert_eq!(found, expected.map(|folder| kept.path().join(folder)));
    }

    #[test]
    fn a_scope_is_no_folder() {
        assert_eq!(
            place_name(&["@oven/bun-linux-x64@1.4.5".into(), "b@1".into()]),
            "@oven+bun-linux-x64@1.4.5"
        );
    }
}
