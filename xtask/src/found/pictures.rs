//! The pictures that an experiment's `pictures.toml` declares, drawn from its found run into `found/`.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use kumite_record::Export;
use kumite_report::{Drawn, Picture, picture_svg};
use serde::Deserialize;

use super::PICTURE;

const FILE: &str = "pictures.toml";

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Declared {
    #[serde(default, rename = "picture")]
    pictures: Vec<Asked>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    /// The file in `found/`, such as `load.svg`.
    file: String,
    title: String,
    contenders: Vec<String>,
    /// The values of axes that pick the cells, where they are not those of the workload.
    #[serde(default)]
    at: BTreeMap<String, toml::Value>,
    lines: Option<Lines>,
    #[serde(default)]
    lanes: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Lines {
    metrics: Vec<String>,
    over: String,
    #[serde(default)]
    published: bool,
}

/// The pictures of an experiment, by their paths in its folder. Empty if it declares none.
pub fn drawn(experiment: &Path, run: &Export) -> Result<Vec<(String, String)>> {
    let draw = |asked: Asked| {
        let path = asked.path()?;
        let svg = picture_svg(run, &asked.picture()?).with_context(|| format!("{FILE}: {}", asked.file))?;
        Ok((path, svg))
    };
    declared(experiment)?.into_iter().map(draw).collect()
}

/// What is wrong with the pictures of an experiment with this README: a wrong declaration, one that was not drawn, or that
/// the README does not show.
pub fn wrong(experiment: &Path, readme: &str) -> Vec<String> {
    let all = match declared(experiment) {
        Ok(all) => all,
        Err(why) => return vec![format!("{why:#}")],
    };
    let of_one = |asked: &Asked| match asked.path() {
        Err(why) => Some(format!("{why:#}")),
        Ok(path) if !experiment.join(&path).is_file() => {
            Some(format!("{path} is not drawn: `cargo xtask rejudge`"))
        }
        Ok(path) => (!readme.contains(&path)).then(|| format!("README.md does not show {path}")),
    };
    all.iter().filter_map(of_one).collect()
}

fn declared(experiment: &Path) -> Result<Vec<Asked>> {
    match std::fs::read_to_string(experiment.join(FILE)) {
        Ok(text) => {
            let declared: Declared = toml::from_str(&text).context(FILE)?;
            Ok(declared.pictures)
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error).context(FILE),
    }
}

impl Asked {
    fn path(&self) -> Result<String> {
        let path = format!("found/{}", self.file);
        let is_name = self.file.chars().all(|c| c.is_ascii_alphanumeric() || "-.".contains(c));
        match is_name && self.file.ends_with(".svg") && path != PICTURE {
            true => Ok(path),
            false => Err(anyhow!(
                "{FILE}: \"{}\": write a name such as load.svg, and not that of the verdicts",
                self.file
            )),
        }
    }

    fn picture(&self) -> Result<Picture> {
        let drawn = match (&self.lines, self.lanes) {
            (Some(Lines { metrics, over, published }), false) => {
                Drawn::Lines { metrics: metrics.clone(), over: over.clone(), published: *published }
            }
            (None, true) => Drawn::Lanes,
            _ => bail!("{FILE}: {}: write either lines or lanes = true", self.file),
        };
        let written = |value: &toml::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        Ok(Picture {
            title: self.title.clone(),
            contenders: self.contenders.clone(),
            at: self.at.iter().map(|(axis, value)| (axis.clone(), written(value))).collect(),
            drawn,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_declared_rightly_drawn_and_shown() {
        let folder = tempfile::tempdir().unwrap();
        let says = |file: &str, rest: &str, readme: &str| {
            let text = format!("[[picture]]\nfile = \"{file}\"\ntitle = \"a\"\ncontenders = [\"a\"]\n{rest}");
            std::fs::write(folder.path().join(FILE), text).unwrap();
            wrong(folder.path(), readme).join("; ")
        };
        assert_eq!(
            says("load.svg", "lanes = true", ""),
            "found/load.svg is not drawn: `cargo xtask rejudge`"
        );
        std::fs::create_dir(folder.path().join("found")).unwrap();
        std::fs::write(folder.path().join("found/load.svg"), "").unwrap();
        assert_eq!(says("load.svg", "lanes = true", ""), "README.md does not show found/load.svg");
        assert_eq!(says("load.svg", "lanes = true", "![a](found/load.svg)"), "");
        assert!(says("../load.svg", "lanes = true", "").contains("write a name such as load.svg"));
        assert!(says("verdicts.svg", "lanes = true", "").contains("not that of the verdicts"));
        assert!(says("load.svg", "lane = true", "").contains("unknown field"));
        let asked = |rest: &str| {
            says("load.svg", rest, "");
            declared(folder.path()).unwrap().remove(0).picture()
        };
        assert!(asked("").unwrap_err().to_string().ends_with("write either lines or lanes = true"));
        let picture = asked("at = { cores = \"all\", n = 2, m = true }\nlanes = true").unwrap();
        let at: Vec<&str> = picture.at.values().map(String::as_str).collect();
        assert_eq!(at, ["all", "true", "2"]);
        std::fs::remove_file(folder.path().join(FILE)).unwrap();
        assert_eq!(wrong(folder.path(), ""), [""; 0]);
    }
}
