//! MEASURES is raised if a trial's figures can be others than at the base. Where sources changed that figures depend on,
//! either it is raised, or measures.txt says why not.
//!
//! The base is that of `.ci/base` where there is one: it and measures.txt are tracked together, so that a branch keeps the
//! answers that main still needs. Elsewhere it is where the branch left main.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use crate::ci::base::Base;
use crate::ci::git::{changed, git};
use anyhow::{Context, Result, bail};

const NUMBER: &str = "crates/kumite-lab/src/measures.rs";
const ANSWERS: &str = "crates/kumite-lab/src/measures.txt";
/// The folders of code that the figures of a trial depend on.
const SOURCES: [&str; 9] = [
    "crates/kumite-disk/src/",
    "crates/kumite-function/src/",
    "crates/kumite-lab/src/driver/",
    "crates/kumite-lab/src/service/",
    "crates/kumite-load/src/",
    "crates/kumite-process/src/",
    "crates/kumite-rate/src/",
    "crates/kumite-ring/src/",
    "crates/kumite-stub/src/",
];
const HEAD: &str = "\
# Why MEASURES is not raised though sources changed that figures depend on, since the base: a line for each of them, with
# a digest of its code. `cargo xtask measures WHY` writes them, and `cargo xtask tidy` asks for them.
";

/// Adds the sources that nobody has answered for. Where there is nothing to compare with, there are none.
pub fn check(root: &Path, wrong: &mut Vec<String>) {
    let Ok(Base { commit, .. }) = base(root) else { return };
    match asked(root, &commit) {
        Ok(Asked { unanswered, .. }) => wrong.extend(unanswered.keys().map(|file| {
            format!(
                "{file}: figures may depend on what changed in it since {commit:.7}: raise MEASURES in {NUMBER} if \
                 those of a trial can change, else `cargo xtask measures WHY` says why not"
            )
        })),
        Err(why) => wrong.push(format!("{ANSWERS}: {why:#}")),
    }
}

/// Says why no figure changes by the sources that nobody has answered for.
pub fn answer(root: &Path, why: &str) -> ExitCode {
    match answered(root, why) {
        Ok(files) if files.is_empty() => {
            println!("nothing is asked: no code changed that figures depend on, or MEASURES is raised")
        }
        Ok(files) => files.iter().for_each(|file| println!("answered: {file}")),
        Err(why) => {
            eprintln!("error: {why:#}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn answered(root: &Path, why: &str) -> Result<Vec<String>> {
    let why = why.split_whitespace().collect::<Vec<_>>().join(" ");
    if why.is_empty() {
        bail!("say in a few words why no figure of a trial can change");
    }
    let Asked { mut answers, unanswered } = asked(root, &base(root)?.commit)?;
    let files = unanswered.keys().cloned().collect();
    answers.extend(unanswered.into_iter().map(|(file, digest)| (file, Answer { digest, why: why.clone() })));
    let lines = answers.iter().map(|(file, Answer { digest, why })| format!("{digest} {file}: {why}\n"));
    let text = format!("{HEAD}{}", lines.collect::<String>());
    std::fs::write(root.join(ANSWERS), text).with_context(|| format!("cannot write {ANSWERS}"))?;
    Ok(files)
}

fn base(root: &Path) -> Result<Base> {
    Base::tracked(root).or_else(|_| Base::find(root))
}

/// The changed sources, by file.
struct Asked {
    /// The answers that still hold: the code is as it was when it was answered for, and not as at the base.
    answers: BTreeMap<String, Answer>,
    /// The digests of the others.
    unanswered: BTreeMap<String, String>,
}

struct Answer {
    digest: String,
    why: String,
}

fn asked(root: &Path, base: &str) -> Result<Asked> {
    let mut asked = Asked { answers: BTreeMap::new(), unanswered: BTreeMap::new() };
    let now = |file: &str| std::fs::read_to_string(root.join(file)).ok();
    let then = |file: &str| git(root, &["show", &format!("{base}:{file}")]).ok();
    let number = |text: Option<String>| text.and_then(|text| number(&text));
    let raised = number(now(NUMBER)) > number(then(NUMBER));
    if raised {
        return Ok(asked);
    }
    let mut before = answers(&now(ANSWERS).unwrap_or_default())?;
    for file in changed(root, base)?.into_iter().filter(|file| is_source(file)) {
        let digest = digest(&now(&file).unwrap_or_default());
        if digest == self::digest(&then(&file).unwrap_or_default()) {
            continue;
        }
        match before.remove(&file).filter(|answer| answer.digest == digest) {
            Some(answer) => drop(asked.answers.insert(file, answer)),
            None => drop(asked.unanswered.insert(file, digest)),
        }
    }
    Ok(asked)
}

fn is_source(file: &str) -> bool {
    let is_test = file.ends_with("/tests.rs") || file.contains("/tests/");
    file.ends_with(".rs") && !is_test && SOURCES.iter().any(|source| file.starts_with(source))
}

/// Of what runs: comments and tests change no figure.
fn digest(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let mut hasher = blake3::Hasher::new();
    for line in code.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")) {
        hasher.update(line.as_bytes()).update(b"\n");
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

fn number(text: &str) -> Option<u32> {
    text.split("MEASURES: u32 = ").nth(1)?.split(';').next()?.parse().ok()
}

fn answers(text: &str) -> Result<BTreeMap<String, Answer>> {
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let answer = |line: &str| {
        let (what, why) = line.split_once(": ")?;
        let (digest, file) = what.split_once(' ')?;
        Some((file.to_owned(), Answer { digest: digest.to_owned(), why: why.to_owned() }))
    };
    lines.map(|line| answer(line).with_context(|| format!("{line:?} is no DIGEST FILE: WHY"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ci::git::tests::Repository;

    const LOAD: &str = "crates/kumite-load/src/lib.rs";
    const STUB: &str = "crates/kumite-stub/src/lib.rs";

    /// A tracked base, and a commit after it.
    fn repository() -> Repository {
        let repository = Repository::new();
        repository.write(NUMBER, "pub const MEASURES: u32 = 7;\n");
        repository.write(LOAD, "//! Load.\nfn load() {}\n\n#[cfg(test)]\nmod tests {}\n");
        repository.write(STUB, "fn stub() {}\n");
        repository.commit("base");
        Base::set(repository.root(), "HEAD").unwrap();
        repository.commit("begun");
        repository
    }

    fn findings(repository: &Repository) -> Vec<String> {
        let mut wrong = Vec::new();
        check(repository.root(), &mut wrong);
        wrong.iter().map(|line| line.split(": ").next().unwrap().to_owned()).collect()
    }

    #[test]
    fn code_that_figures_depend_on_is_asked_about_until_it_is_answered_for() {
        let repository = repository();
        assert_eq!(findings(&repository), [""; 0]);
        repository.write(LOAD, "fn load() { wait() }\n");
        assert_eq!(findings(&repository), [LOAD], "not committed yet");
        repository.commit("two");
        assert_eq!(findings(&repository), [LOAD]);
        assert_eq!(answered(repository.root(), " it\nwaits: elsewhere ").unwrap(), vec![LOAD.to_owned()]);
        assert_eq!(findings(&repository), [""; 0]);
        let line = std::fs::read_to_string(repository.root().join(ANSWERS)).unwrap();
        let answer = line.lines().last().and_then(|line| Some(line.split_once(' ')?.1));
        assert_eq!(answer, Some("crates/kumite-load/src/lib.rs: it waits: elsewhere"));

        std::fs::remove_file(repository.root().join(STUB)).unwrap();
        assert_eq!(findings(&repository), [STUB], "what was answered is not asked again");
        assert_eq!(answered(repository.root(), "nobody starts it").unwrap(), vec![STUB.to_owned()]);
        assert_eq!(findings(&repository), [""; 0]);
        repository.write(LOAD, "fn load() { wait_longer() }\n");
        assert_eq!(findings(&repository), [LOAD], "the answer was of other code");
        assert!(answered(repository.root(), " ").is_err());
    }

    #[test]
    fn answers_about_code_of_the_base_are_gone_with_the_next_one() {
        let repository = repository();
        repository.write(LOAD, "fn load() { wait() }\n");
        answered(repository.root(), "first").unwrap();
        repository.commit("two");
        Base::set(repository.root(), "HEAD").unwrap();
        repository.commit("three");
        repository.write(STUB, "fn stub() { wait() }\n");
        answered(repository.root(), "second").unwrap();
        let text = std::fs::read_to_string(repository.root().join(ANSWERS)).unwrap();
        assert!(text.contains("second") && !text.contains("first"), "{text}");
    }

    #[test]
    fn comments_tests_and_other_files_are_not_asked_about() {
        let repository = repository();
        let text = "//! All of it.\n\n/// Loads.\nfn load() {}\n\n#[cfg(test)]\nmod tests { fn new() {} }\n";
        repository.write(LOAD, text);
        repository.write("crates/kumite-load/src/engine/tests.rs", "fn test() {}\n");
        repository.write("crates/kumite-load/README.md", "Words.\n");
        repository.write("crates/kumite-report/src/lib.rs", "fn report() {}\n");
        assert_eq!(findings(&repository), [""; 0]);
    }

    #[test]
    fn raised_is_an_answer_for_all_and_lowered_is_none() {
        let repository = repository();
        repository.write(LOAD, "fn load() { wait() }\n");
        repository.write(NUMBER, "pub const MEASURES: u32 = 8;\n");
        assert_eq!(findings(&repository), [""; 0]);
        assert!(answered(repository.root(), "why").unwrap().is_empty());
        repository.write(NUMBER, "pub const MEASURES: u32 = 6;\n");
        assert_eq!(findings(&repository), [LOAD]);
    }

    #[test]
    fn a_branch_keeps_the_answers_that_main_needs() {
        let repository = repository();
        repository.write(LOAD, "fn load() { wait() }\n");
        answered(repository.root(), "of main").unwrap();
        repository.commit("two");
        repository.git(&["checkout", "-q", "-b", "work"]);
        repository.write(STUB, "fn stub() { wait() }\n");
        repository.commit("three");
        assert_eq!(findings(&repository), [STUB]);
        answered(repository.root(), "of the branch").unwrap();
        let text = std::fs::read_to_string(repository.root().join(ANSWERS)).unwrap();
        let mut words: Vec<&str> =
            text.lines().filter_map(|line| Some(line.split_once(".rs: ")?.1)).collect();
        words.sort_unstable();
        assert_eq!(words, ["of main", "of the branch"]);
    }

    #[test]
    fn without_a_tracked_base_a_branch_is_asked_about_its_own_code() {
        let repository = repository();
        repository.write(LOAD, "fn load() { wait() }\n");
        std::fs::remove_file(repository.root().join(".ci/base")).unwrap();
        repository.commit("two");
        assert_eq!(findings(&repository), [""; 0], "nothing to compare main with");
        repository.git(&["checkout", "-q", "-b", "work"]);
        repository.write(STUB, "fn stub() { wait() }\n");
        repository.commit("three");
        assert_eq!(findings(&repository), [STUB]);
    }

    #[test]
    fn without_history_nothing_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let mut wrong = Vec::new();
        check(folder.path(), &mut wrong);
        assert_eq!(wrong, [""; 0]);
    }

    #[test]
    fn the_number_and_the_sources_are_where_they_are_looked_for() {
        let root = crate::project::root();
        let text = std::fs::read_to_string(root.join(NUMBER)).unwrap();
        assert_eq!(number(&text), Some(kumite_lab::MEASURES));
        for source in SOURCES {
            assert!(root.join(source).is_dir(), "{source}");
        }
    }
}
