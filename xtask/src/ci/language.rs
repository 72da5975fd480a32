//! The languages of contenders and kits.

/// A language of contenders and kits; those that are quick to build come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Language {
    Python,
    Node,
    Go,
    Cpp,
    Elixir,
    Java,
    Kotlin,
    Rust,
}

impl Language {
    /// Every language, in that order.
    pub const ALL: [Language; 8] = [
        Language::Python,
        Language::Node,
        Language::Go,
        Language::Cpp,
        Language::Elixir,
        Language::Java,
        Language::Kotlin,
        Language::Rust,
    ];

    /// The name of its kit's folder.
    pub fn name(self) -> &'static str {
        match self {
            Language::Python => "python",
            Language::Node => "node",
            Language::Go => "go",
            Language::Cpp => "cpp",
            Language::Elixir => "elixir",
            Language::Java => "java",
            Language::Kotlin => "kotlin",
            Language::Rust => "rust",
        }
    }

    /// The language of a file, by its ending.
    pub fn of_file(file: &str) -> Option<Language> {
        let (_, ending) = file.rsplit_once('.')?;
        Some(match ending {
            "py" => Language::Python,
            "js" | "mjs" => Language::Node,
            "go" => Language::Go,
            "cpp" | "hpp" | "h" => Language::Cpp,
            "ex" | "exs" => Language::Elixir,
            "java" => Language::Java,
            "kt" => Language::Kotlin,
            "rs" => Language::Rust,
            _ => return None,
        })
    }

    /// The language of most of these files.
    pub fn mostly<'a>(files: impl IntoIterator<Item = &'a str>) -> Option<Language> {
        let mut counts = [0; Language::ALL.len()];
        for language in files.into_iter().filter_map(Language::of_file) {
            counts[language as usize] += 1;
        }
        let most = *counts.iter().max()?;
        Language::ALL.into_iter().find(|&language| most > 0 && counts[language as usize] == most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_in_the_language_of_most_of_its_files() {
        assert_eq!(Language::mostly(["a.go", "b.go", "child/c.mjs", "README.md"]), Some(Language::Go));
        assert_eq!(Language::mostly(["pom.xml"]), None);
        assert!(Language::ALL.is_sorted());
    }
}
