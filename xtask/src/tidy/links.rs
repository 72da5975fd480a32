//! Documents lead to each other: every link within the project leads somewhere, the index names every document, and
//! tables are whole.

use std::path::{Path, PathBuf};

use super::tables;
use crate::project::read;

/// The index of documents, and the page of it that has the pages for writing contenders and experiments.
const INDEX: [&str; 2] = ["docs/README.md", "docs/contract.md"];

/// Adds links that lead nowhere, documents that the index does not name, and rows that are cut short.
pub fn check(root: &Path, tracked: &[String], wrong: &mut Vec<String>) {
    links(root, tracked, wrong);
    index(root, tracked, wrong);
}

/// Documents of the project's folder and of docs/ that the index does not name.
fn index(root: &Path, tracked: &[String], wrong: &mut Vec<String>) {
    let linked: Vec<PathBuf> = INDEX
        .iter()
        .flat_map(|page| {
            let (file, text) = (Path::new(page), read(&root.join(page), wrong));
            Vec::from_iter(targets(&text).into_iter().map(|(path, _)| plain(&file.with_file_name(path))))
        })
        .collect();
    let is_listed = |name: &&String| {
        name.ends_with(".md") && (!name.contains('/') || name.starts_with("docs/")) && *name != INDEX[0]
    };
    let missing = tracked.iter().filter(is_listed).filter(|name| !linked.contains(&PathBuf::from(name)));
    wrong.extend(missing.map(|name| format!("{}: does not name {name}", INDEX[0])));
}

/// The path without `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path {
        if part != ".." {
            plain.push(part);
        } else {
            plain.pop();
        }
    }
    plain
}

/// A document's links within the project, each as path and heading.
fn targets(text: &str) -> Vec<(&str, &str)> {
    // Code is full of brackets that are no links.
    let prose = text.split("```").step_by(2);
    let links = prose.flat_map(|prose| prose.split("](").skip(1)).filter_map(|rest| rest.split(')').next());
    let within = links.filter(|target| !target.contains("://"));
    within.map(|target| target.split_once('#').unwrap_or((target, ""))).collect()
}

/// Links within the project to files, or to headings, that are not there; and rows of tables that are cut short.
fn links(root: &Path, tracked: &[String], wrong: &mut Vec<String>) {
    for name in tracked.iter().filter(|name| name.ends_with(".md")) {
        let file = root.join(name);
        let text = read(&file, wrong);
        wrong.extend(tables::wrong(&text).into_iter().map(|(line, what)| format!("{name}:{line}: {what}")));
        for (path, heading) in targets(&text) {
            let linked = if path.is_empty() { file.clone() } else { file.with_file_name(path) };
            if !linked.exists() {
                wrong.push(format!("{name}: links to {path}, which is not there"));
            } else if !heading.is_empty() && !headings(&read(&linked, wrong)).contains(&heading.to_owned()) {
                wrong.push(format!("{name}: links to {path}#{heading}, and there is no such heading"));
            }
        }
    }
}

/// The headings of a document, as links name them.
fn headings(text: &str) -> Vec<String> {
    let prose: String = text.split("```").step_by(2).collect();
    let headings = prose.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|line| {
            let words = line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
            words.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(files: &[(&str, &str)]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("docs/kinds")).unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let tracked = Vec::from_iter(files.iter().map(|(name, _)| (*name).to_owned()));
        let mut wrong = Vec::new();
        check(folder.path(), &tracked, &mut wrong);
        wrong
    }

    #[test]
    fn a_document_that_the_index_does_not_name_is_found() {
        let named = [
            ("README.md", ""),
            ("docs/README.md", "[the project](../README.md) and [the contract](contract.md)"),
            ("docs/contract.md", "[http](kinds/http.md#how)"),
            ("docs/kinds/http.md", "# How"),
        ];
        assert_eq!(findings(&named), [""; 0]);
        let more = [("docs/new.md", ""), ("NEW.md", ""), ("elsewhere", "")];
        let wrong = ["docs/README.md: does not name docs/new.md", "docs/README.md: does not name NEW.md"];
        assert_eq!(findings(&[&named[..], &more].concat()), wrong);
    }

    #[test]
    fn a_link_that_leads_nowhere_is_found_and_code_is_none() {
        let page = "[a](gone.md) [b](contract.md#none) [c](#here) [d](https://example.org)\n# Here\n```\nx[0](gone)\n```\n";
        let wrong = findings(&[("docs/README.md", page), ("docs/contract.md", "# Some")]);
        let (gone, none) = (
            "docs/README.md: links to gone.md, which is not there",
            "contract.md#none, and there is no such heading",
        );
        assert_eq!(wrong.len(), 2, "{wrong:?}");
        assert!(wrong[0] == gone && wrong[1].ends_with(none), "{wrong:?}");
    }
}
