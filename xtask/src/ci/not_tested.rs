//! The tests that this machine could not make. They say so in a file, by capability.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result};

/// `kumite_testing::lacks` writes this file, in the folder above that of the binaries.
const FILE: &str = "not-tested.txt";

/// Prints how many tests were not made for want of which capability.
pub fn count(binaries: &Path) -> Result<()> {
    let file = binaries.with_file_name(FILE);
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error).with_context(|| file.display().to_string()),
    };
    print!("{}", summary(&text));
    Ok(())
}

fn summary(text: &str) -> String {
    let mut tests: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (capability, test) in text.lines().filter_map(|line| line.split_once(' ')) {
        tests.entry(capability).or_default().insert(test);
    }
    if tests.is_empty() {
        return "every test could be made here\n".to_owned();
    }
    let line = |(capability, tests): (&&str, &BTreeSet<&str>)| {
        let tests = Vec::from_iter(tests.iter().copied());
        format!("no {capability} here: {} not made\n    {}\n", tests.len(), tests.join("\n    "))
    };
    tests.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_counted_once_by_what_is_lacking() {
        let text = "fuse a: no\nfuse a: no\nfuse b: no\nio-uring c: refused\n";
        assert_eq!(
            summary(text),
            "no fuse here: 2 not made\n    a: no\n    b: no\nno io-uring here: 1 not made\n    c: refused\n"
        );
        assert_eq!(summary(""), "every test could be made here\n");
    }
}
