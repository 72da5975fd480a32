//! The commit that work is compared with, and the turn of the experiment in rotation.
//!
//! A branch is compared with the commit at which it left main. Where that is HEAD itself, as on main, nothing would have
//! changed, and the tracked file `.ci/base` names a commit. No base selects nothing: if neither gives one, it is an error.

use std::fmt;
use std::path::Path;

use super::git::git;
use anyhow::{Context, Result, anyhow, bail};

/// Tracked, so that whoever checks main compares it with the same commit.
const FILE: &str = ".ci/base";

/// The names of main, in the order in which they are tried: a fork's own main may be old, or hold the work itself.
const MAIN: [&str; 2] = ["origin/main", "main"];

/// The commit to compare with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    /// In full; an ancestor of HEAD, and never HEAD.
    pub commit: String,
    /// Grows from one base to the next; what comes in rotation goes by it.
    pub turn: usize,
    pub source: Source,
}

/// How the base was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// HEAD left this branch there.
    Branch(&'static str),
    /// `.ci/base` names it.
    Tracked,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Source::Branch(main) => write!(f, "the merge base with {main}"),
            Source::Tracked => write!(f, "named by {FILE}"),
        }
    }
}

impl Base {
    /// The base of what is checked out: where it left main, else the tracked one.
    pub fn find(root: &Path) -> Result<Base> {
        let head = resolve(root, "HEAD")?;
        match MAIN.into_iter().find_map(|main| Base::merge_base(root, main, &head)) {
            Some(base) => Ok(base),
            None => Base::tracked(root),
        }
    }

    /// None where that branch is not there, has no history in common with HEAD, or has all of it.
    fn merge_base(root: &Path, main: &'static str, head: &str) -> Option<Base> {
        let main_commit = resolve(root, main).ok()?;
        let commit = git(root, &["merge-base", head, &main_commit]).ok()?.trim().to_owned();
        if commit == head {
            return None;
        }
        // A merge of many commits counts once.
        let merged = git(root, &["rev-list", "--count", "--first-parent", &commit]).ok()?;
        Some(Base { commit, turn: merged.trim().parse().ok()?, source: Source::Branch(main) })
    }

    /// Reads `.ci/base`. It is an error if it is missing, or names HEAD or a commit that is none of its ancestors.
    pub fn tracked(root: &Path) -> Result<Base> {
        let remedy = "work on a branch of main, or name the commit to compare with: `cargo xtask ci --set-base COMMIT`";
        let text = std::fs::read_to_string(root.join(FILE))
            .with_context(|| format!("cannot read {FILE}; {remedy}"))?;
        let base = parse(&text).with_context(|| {
            format!("{FILE} is to be a commit and a turn, and is {:?}; {remedy}", text.trim())
        })?;
        let commit = resolve(root, &base.commit)
            .with_context(|| format!("{FILE} names no commit of here; {remedy}"))?;
        if commit == resolve(root, "HEAD")? {
            bail!("{FILE} names HEAD, so that nothing would have changed; {remedy}");
        }
        if git(root, &["merge-base", "--is-ancestor", &commit, "HEAD"]).is_err() {
            bail!("{FILE} names {commit}, which is no ancestor of HEAD; {remedy}");
        }
        Ok(Base { commit, ..base })
    }

    /// Writes this commit into `.ci/base`. If another one was there, it is the next turn.
    pub fn set(root: &Path, name: &str) -> Result<Base> {
        let commit = resolve(root, name)?;
        let before = std::fs::read_to_string(root.join(FILE)).ok().and_then(|text| parse(&text));
        let turn = match before {
            Some(before) if before.commit == commit => before.turn,
            Some(before) => before.turn + 1,
            None => 1,
        };
        std::fs::write(root.join(FILE), format!("{commit} {turn}\n"))
            .with_context(|| format!("cannot write {FILE}"))?;
        Ok(Base { commit, turn, source: Source::Tracked })
    }
}

fn parse(text: &str) -> Option<Base> {
    let (commit, turn) = text.trim().split_once(' ')?;
    let is_full = commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    let turn = turn.parse().ok()?;
    is_full.then_some(Base { commit: commit.to_owned(), turn, source: Source::Tracked })
}

fn resolve(root: &Path, name: &str) -> Result<String> {
    let commit = git(root, &["rev-parse", "--verify", "--quiet", &format!("{name}^{{commit}}")]);
    commit.map(|out| out.trim().to_owned()).map_err(|_| anyhow!("there is no commit {name} here"))
}

#[cfg(test)]
mod tests {
    use super::super::git::changed;
    use super::super::git::tests::Repository;
    use super::*;

    fn tracked(commit: &str, turn: usize) -> Base {
        Base { commit: commit.to_owned(), turn, source: Source::Tracked }
    }

    fn branch(main: &'static str, commit: &str, turn: usize) -> Base {
        Base { commit: commit.to_owned(), turn, source: Source::Branch(main) }
    }

    #[test]
    fn a_branch_is_compared_with_where_it_left_main_and_not_with_what_main_became() {
        let repository = Repository::new();
        let old = repository.commit("one");
        Base::set(repository.root(), "HEAD").unwrap();
        let left = repository.commit("two");
        repository.git(&["checkout", "-q", "-b", "work"]);
        assert_eq!(
            Base::find(repository.root()).unwrap(),
            tracked(&old, 1),
            "it has no commit of its own yet"
        );
        repository.commit("mine");
        repository.git(&["checkout", "-q", "main"]);
        repository.commit("theirs");
        assert_eq!(Base::find(repository.root()).unwrap(), tracked(&old, 1), "main itself");
        repository.git(&["checkout", "-q", "work"]);
        repository.write("not committed", "");
        let base = Base::find(repository.root()).unwrap();
        assert_eq!(base, branch("main", &left, 2));
        let changed = changed(repository.root(), &base.commit).unwrap();
        assert_eq!(Vec::from_iter(changed), ["mine", "not committed"]);
    }

    #[test]
    fn a_clone_is_compared_with_its_origin() {
        let origin = Repository::new();
        let first = origin.commit("one");
        Base::set(origin.root(), "HEAD").unwrap();
        let second = origin.commit("two");
        let clone = origin.cloned();
        assert_eq!(Base::find(clone.root()).unwrap(), tracked(&first, 1), "its main is all there is");
        clone.commit("on its own main");
        assert_eq!(Base::find(clone.root()).unwrap(), branch("origin/main", &second, 2));
        clone.git(&["checkout", "-q", "-b", "work"]);
        clone.git(&["branch", "-q", "-D", "main"]);
        assert_eq!(Base::find(clone.root()).unwrap(), branch("origin/main", &second, 2));
        clone.git(&["checkout", "-q", "--detach", "origin/main"]);
        assert_eq!(Base::find(clone.root()).unwrap(), tracked(&first, 1), "nothing of its own");
    }

    #[test]
    fn a_trial_merge_is_compared_with_the_main_that_it_would_change() {
        let repository = Repository::new();
        repository.commit("one");
        repository.git(&["checkout", "-q", "-b", "work"]);
        repository.commit("mine");
        repository.commit("mine too");
        repository.git(&["checkout", "-q", "main"]);
        let main = repository.commit("theirs");
        repository.git(&["checkout", "-q", "--detach", "main"]);
        repository.git(&["merge", "-q", "--no-edit", "work"]);
        assert_eq!(Base::find(repository.root()).unwrap(), branch("main", &main, 2));
    }

    #[test]
    fn what_was_merged_at_once_is_one_turn() {
        let repository = Repository::new();
        repository.commit("one");
        repository.git(&["checkout", "-q", "-b", "merged"]);
        repository.commit("two");
        repository.commit("three");
        repository.git(&["checkout", "-q", "main"]);
        repository.git(&["merge", "-q", "--no-ff", "--no-edit", "merged"]);
        let left = repository.git(&["rev-parse", "HEAD"]).trim().to_owned();
        repository.git(&["checkout", "-q", "-b", "work"]);
        repository.commit("mine");
        assert_eq!(Base::find(repository.root()).unwrap(), branch("main", &left, 2));
    }

    #[test]
    fn a_main_without_common_history_is_no_base() {
        let repository = Repository::new();
        repository.commit("one");
        repository.git(&["checkout", "-q", "--orphan", "other"]);
        let first = repository.commit("two");
        Base::set(repository.root(), "HEAD").unwrap();
        repository.commit("three");
        assert_eq!(Base::find(repository.root()).unwrap(), tracked(&first, 1));
    }

    #[test]
    fn a_tracked_base_counts_its_turns() {
        let repository = Repository::new();
        let first = repository.commit("one");
        assert_eq!(Base::set(repository.root(), "HEAD").unwrap(), tracked(&first, 1));
        let second = repository.commit("two");
        assert_eq!(Base::find(repository.root()).unwrap(), tracked(&first, 1));
        assert_eq!(Base::set(repository.root(), "HEAD").unwrap(), tracked(&second, 2));
        assert_eq!(Base::set(repository.root(), "HEAD").unwrap().turn, 2, "the same turn goes on");
        repository.commit("three");
        assert_eq!(Base::find(repository.root()).unwrap(), tracked(&second, 2));
    }

    #[test]
    fn a_base_that_would_select_nothing_is_an_error() {
        let repository = Repository::new();
        let refused = || format!("{:#}", Base::find(repository.root()).unwrap_err());
        let first = repository.commit("one");
        assert!(refused().starts_with("cannot read .ci/base; "), "{}", refused());
        Base::set(repository.root(), "HEAD").unwrap();
        assert!(refused().starts_with(".ci/base names HEAD, "), "{}", refused());
        repository.commit("two");
        repository.git(&["checkout", "-q", "-b", "side", &first]);
        let side = repository.commit("three");
        repository.git(&["checkout", "-q", "main"]);
        Base::set(repository.root(), &side).unwrap();
        assert!(refused().contains(&format!("{side}, which is no ancestor of HEAD; ")), "{}", refused());
        repository.write(".ci/base", &format!("{} 7\n", "0".repeat(40)));
        assert!(refused().contains("there is no commit 000"), "{}", refused());
        repository.write(".ci/base", "main 7\n");
        assert!(refused().contains("is to be a commit and a turn"), "{}", refused());
        assert!(Base::set(repository.root(), "nowhere").is_err());
    }
}
