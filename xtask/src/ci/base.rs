//! What this work is compared with: the commit that landed last, and the number of the landing that is being made.

use std::path::Path;

use super::git::git;

/// Tracked, so that whoever checks the work compares it with the same commit.
const FILE: &str = ".ci/base";

/// The content of `.ci/base`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    /// The commit that landed last, in full.
    pub commit: String,
    /// Counts landings. What comes in rotation goes by it.
    pub landing: usize,
}

impl Base {
    /// Reads it. A base that would select nothing is an error: missing, the commit checked out, or none of its ancestors.
    pub fn read(root: &Path) -> Result<Base, String> {
        let remedy = "`cargo xtask ci --set-base COMMIT` names the commit that landed last";
        let text = std::fs::read_to_string(root.join(FILE))
            .map_err(|error| format!("cannot read {FILE}: {error}; {remedy}"))?;
        let base = parse(&text).ok_or_else(|| {
            format!("{FILE} is to be a commit and a landing's number, and is {:?}; {remedy}", text.trim())
        })?;
        let commit = resolve(root, &base.commit).map_err(|error| format!("{FILE}: {error}; {remedy}"))?;
        if commit == resolve(root, "HEAD")? {
            return Err(format!("{FILE} names HEAD, so that nothing would have changed; {remedy}"));
        }
        if git(root, &["merge-base", "--is-ancestor", &commit, "HEAD"]).is_err() {
            return Err(format!("{FILE} names {commit}, which is no ancestor of HEAD; {remedy}"));
        }
        Ok(Base { commit, ..base })
    }

    /// Names this commit as the one that landed last. If it is another one than before, a new landing begins.
    pub fn set(root: &Path, name: &str) -> Result<Base, String> {
        let commit = resolve(root, name)?;
        let before = std::fs::read_to_string(root.join(FILE)).ok().and_then(|text| parse(&text));
        let landing = match before {
            Some(before) if before.commit == commit => before.landing,
            Some(before) => before.landing + 1,
            None => 1,
        };
        std::fs::write(root.join(FILE), format!("{commit} {landing}\n"))
            .map_err(|error| format!("cannot write {FILE}: {error}"))?;
        Ok(Base { commit, landing })
    }
}

fn parse(text: &str) -> Option<Base> {
    let (commit, landing) = text.trim().split_once(' ')?;
    let is_full = commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_full.then_some(Base { commit: commit.to_owned(), landing: landing.parse().ok()? })
}

fn resolve(root: &Path, name: &str) -> Result<String, String> {
    let commit = git(root, &["rev-parse", "--verify", "--quiet", &format!("{name}^{{commit}}")]);
    commit.map(|out| out.trim().to_owned()).map_err(|_| format!("there is no commit {name} here"))
}

#[cfg(test)]
mod tests {
    use super::super::git::tests::Repository;
    use super::*;

    #[test]
    fn a_base_is_the_commit_that_landed_and_counts_landings() {
        let repository = Repository::new();
        let first = repository.commit("one");
        assert_eq!(Base::set(repository.root(), "HEAD"), Ok(Base { commit: first.clone(), landing: 1 }));
        let second = repository.commit("two");
        assert_eq!(Base::read(repository.root()), Ok(Base { commit: first, landing: 1 }));
        assert_eq!(Base::set(repository.root(), "HEAD"), Ok(Base { commit: second.clone(), landing: 2 }));
        assert_eq!(Base::set(repository.root(), "HEAD").unwrap().landing, 2, "the same landing goes on");
        repository.commit("three");
        assert_eq!(Base::read(repository.root()), Ok(Base { commit: second, landing: 2 }));
    }

    #[test]
    fn a_base_that_would_select_nothing_is_an_error() {
        let repository = Repository::new();
        let refused = || Base::read(repository.root()).unwrap_err();
        let first = repository.commit("one");
        assert!(refused().starts_with("cannot read .ci/base: "), "{}", refused());
        Base::set(repository.root(), "HEAD").unwrap();
        assert!(refused().starts_with(".ci/base names HEAD, "), "{}", refused());
        repository.commit("two");
        git(repository.root(), &["checkout", "-q", "-b", "side", &first]).unwrap();
        let side = repository.commit("three");
        git(repository.root(), &["checkout", "-q", "-"]).unwrap();
        Base::set(repository.root(), &side).unwrap();
        assert!(refused().contains(&format!("{side}, which is no ancestor of HEAD; ")), "{}", refused());
        repository.write(".ci/base", &format!("{} 7\n", "0".repeat(40)));
        assert!(refused().contains("there is no commit 000"), "{}", refused());
        repository.write(".ci/base", "main 7\n");
        assert!(refused().contains("is to be a commit and a landing's number"), "{}", refused());
        assert!(Base::set(repository.root(), "nowhere").is_err());
    }
}
