//! `cargo xtask rejudge`: found records judged anew from their trials, with what is made from them.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use kumite_lab::rejudge;
use kumite_record::{Export, SCHEMA};
use kumite_report::forest_svg;
use serde_json::Value;

use super::earlier::is_of_earlier;
use super::mark::{self, Change};
use super::{
    MOST_BYTES, OVERVIEW, PICTURE, RECORD, all, claims, everyone, name_of, overview, packed, pictures,
    unpacked,
};
use crate::project::show;

/// Renews the experiments with these names, or all.
pub fn run(root: &Path, names: &[&str]) -> ExitCode {
    match chosen(root, names).and_then(|chosen| chosen.iter().try_for_each(|of| renew(root, of))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why:#}");
            ExitCode::FAILURE
        }
    }
}

fn chosen(root: &Path, names: &[&str]) -> Result<Vec<PathBuf>> {
    let all = all(root);
    let known: Vec<String> = all.iter().map(|of| name_of(of)).collect();
    match names.iter().find(|name| known.iter().all(|known| known != *name)) {
        Some(name) => {
            Err(anyhow!("experiments/{name} has no {RECORD}; those that have one: {}", known.join(", ")))
        }
        None => Ok(all.into_iter().filter(|of| names.is_empty() || names.contains(&&*name_of(of))).collect()),
    }
}

/// Writes what is another now, and says what.
pub(super) fn renew(root: &Path, experiment: &Path) -> Result<()> {
    let (record, readme) = (experiment.join(RECORD), experiment.join("README.md"));
    let kept = unpacked(&record, MOST_BYTES).with_context(|| show(root, &record))?;
    let anew = Anew::judged(&kept).with_context(|| show(root, &record))?;
    println!("{}:", name_of(experiment));
    if anew.record != kept {
        verdicts_that_differ(&kept, &anew.record).iter().for_each(|what| println!("  {what}"));
        write(root, &record, &packed(&anew.record)?)?;
    }
    let declared = pictures::drawn(experiment, &anew.export).with_context(|| name_of(experiment))?;
    for (file, picture) in [(PICTURE.to_owned(), anew.picture)].into_iter().chain(declared) {
        let file = experiment.join(file);
        if std::fs::read_to_string(&file).ok().as_ref() != Some(&picture) {
            write(root, &file, picture.as_bytes())?;
        }
    }
    let specification = text_of(root, &experiment.join("experiment.toml"))?;
    let everyone = everyone::read(experiment, &specification)
        .with_context(|| show(root, &experiment.join(everyone::RECORD)))?;
    let runs: Vec<&Value> = [&anew.record].into_iter().chain(&everyone).collect();
    let (text, changes) = mark::renewed(&text_of(root, &readme)?, &runs);
    if !changes.is_empty() {
        changes.iter().for_each(|change| println!("  {}", change_line(&show(root, &readme), change)));
        write(root, &readme, text.as_bytes())?;
    }
    let file = root.join(OVERVIEW);
    let is_earlier = is_of_earlier(&anew.record, &specification);
    let name = name_of(experiment);
    let was = text_of(root, &file)?;
    let with_row = overview::with_row(&was, &name, &anew.export);
    let with_claims = claims::renewed(&with_row, &name, &anew.export).unwrap_or(with_row);
    let is = overview::renewed(&with_claims, &name, &anew.record, is_earlier).unwrap_or(with_claims);
    if is != was {
        write(root, &file, is.as_bytes())?;
    }
    Ok(())
}

/// A record judged anew, with its picture.
struct Anew {
    export: Export,
    record: Value,
    picture: String,
}

impl Anew {
    fn judged(kept: &Value) -> Result<Anew> {
        if kept["schema"] != SCHEMA {
            bail!("its form is version {}, and this kumite has version {SCHEMA}", kept["schema"]);
        }
        let kept: Export = serde_json::from_value(kept.clone())?;
        let anew = rejudge(&kept)?;
        let record = serde_json::to_value(&anew)?;
        Ok(Anew { record, picture: forest_svg(&anew), export: anew })
    }
}

fn verdicts_that_differ(kept: &Value, anew: &Value) -> Vec<String> {
    let claims = |run: &Value| run["claims"].as_array().cloned().unwrap_or_default();
    let difference = |(was, is): (&Value, &Value)| {
        let verdict = |claim: &Value| claim["verdict"].as_str().unwrap_or_default().to_owned();
        let id = is["id"].as_str().unwrap_or_default();
        (verdict(was) != verdict(is)).then(|| format!("{id}: {}, and was {}", verdict(is), verdict(was)))
    };
    claims(kept).iter().zip(&claims(anew)).filter_map(difference).collect()
}

fn change_line(readme: &str, change: &Change) -> String {
    let Change { line, was, is, of } = change;
    match is {
        Some(is) => {
            format!("{readme}:{line}: {is}, and was {was} ({of}): do the words around it still say so?")
        }
        None => format!("{readme}:{line}: {was} ({of}) is not so any more: write it anew"),
    }
}

fn text_of(root: &Path, file: &Path) -> Result<String> {
    std::fs::read_to_string(file).with_context(|| format!("cannot read {}", show(root, file)))
}

fn write(root: &Path, file: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(file, bytes).with_context(|| format!("cannot write {}", show(root, file)))?;
    println!("  wrote {}", show(root, file));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::root;

    /// A test of kumite-lab sees that the record, judged anew, equals itself.
    #[test]
    fn the_picture_of_a_found_record_is_of_it() {
        let all = all(root());
        assert!(all.len() >= 11, "{all:?}");
        for experiment in all {
            let name = name_of(&experiment);
            let record: Export =
                serde_json::from_value(unpacked(&experiment.join(RECORD), MOST_BYTES).unwrap()).unwrap();
            let picture = std::fs::read_to_string(experiment.join(PICTURE)).unwrap();
            assert!(picture == forest_svg(&record), "{name}: `cargo xtask rejudge {name}` draws it anew");
            for (file, picture) in pictures::drawn(&experiment, &record).unwrap() {
                let kept = std::fs::read_to_string(experiment.join(&file)).unwrap();
                assert!(kept == picture, "{name}: `cargo xtask rejudge {name}` draws {file} anew");
            }
        }
    }

    #[test]
    fn a_record_without_the_courses_of_most_trials_is_judged_as_the_whole_one() {
        for experiment in all(root()) {
            let name = name_of(&experiment);
            let whole: Export =
                serde_json::from_value(unpacked(&experiment.join(RECORD), MOST_BYTES).unwrap()).unwrap();
            let thin = kumite_report::thinned(&whole);
            let anew = rejudge(&thin).unwrap();
            assert!(
                (&anew.claims, &anew.cells, &anew.checks) == (&whole.claims, &whole.cells, &whole.checks),
                "{name}"
            );
            assert!(anew == thin && kumite_report::thinned(&thin) == thin, "{name}");
            println!("{name}: {} bytes", packed(&thin).unwrap().len());
        }
    }

    #[test]
    fn what_was_judged_otherwise_is_written_with_its_picture_its_figures_and_its_row() {
        let folder = tempfile::tempdir().unwrap();
        let experiment = folder.path().join("experiments/fib");
        std::fs::create_dir_all(experiment.join("found")).unwrap();
        let kept = unpacked(&root().join("experiments/fib").join(RECORD), MOST_BYTES).unwrap();
        let Anew { record: right, picture, .. } = Anew::judged(&kept).unwrap();
        let mut kept = right.clone();
        let claim = &mut kept["claims"][0];
        let (id, effect) =
            (claim["id"].as_str().unwrap().to_owned(), claim["effect"]["value"].as_f64().unwrap());
        claim["verdict"] = "undecided".into();
        claim["effect"]["value"] = 1e6.into();
        std::fs::write(experiment.join(RECORD), packed(&kept).unwrap()).unwrap();
        let readme = |figure: &str| format!("It is {figure}<!-- claim {id} effect.value -->.\n");
        std::fs::write(experiment.join("README.md"), readme("9999.99")).unwrap();
        std::fs::write(experiment.join("experiment.toml"), kept["run"]["spec"].as_str().unwrap()).unwrap();
        let claims = right["claims"].as_array().unwrap();
        let decided = claims.iter().filter(|claim| claim["verdict"] != "undecided").count();
        let took = super::super::minutes(&right).unwrap();
        let overview = |decided: usize| {
            format!("| [fib](fib) | why | what | {decided} of {} | {took:.0} |\n", claims.len())
        };
        std::fs::write(folder.path().join(OVERVIEW), overview(decided - 1)).unwrap();

        renew(folder.path(), &experiment).unwrap();
        assert!(unpacked(&experiment.join(RECORD), MOST_BYTES).unwrap() == right);
        let written =
            |file: &str| std::fs::read_to_string(folder.path().join("experiments").join(file)).unwrap();
        assert_eq!(written("fib/README.md"), readme(&format!("{effect:.2}")));
        assert_eq!(written("README.md"), overview(decided));
        assert!(written("fib/found/verdicts.svg") == picture);
        assert_eq!(
            chosen(folder.path(), &["other"]).unwrap_err().to_string(),
            "experiments/other has no found/standard.json.gz; those that have one: fib"
        );
    }
}
