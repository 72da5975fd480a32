//! The files that `kumite init` writes: folders as they are below `experiments/` and `contenders/`, and kits.

use clap::ValueEnum;
use include_dir::{Dir, include_dir};

static EXPERIMENTS: Dir = include_dir!("$CARGO_MANIFEST_DIR/templates/experiments");
static CONTENDERS: Dir = include_dir!("$CARGO_MANIFEST_DIR/templates/contenders");

/// A language that a contender can be written in.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(super) enum Language {
    /// Go
    Go,
    /// Java
    Java,
    /// JavaScript, for Node.js
    Node,
    /// Python
    Python,
    /// Rust
    Rust,
}

/// A file below the folder that is made.
pub(super) struct Template {
    pub file: String,
    pub text: String,
}

impl Language {
    /// The path of the source file in which a contender of this kind makes its answer, relative to the contender's
    /// folder.
    pub fn main(self, kind: &str) -> &'static str {
        match self {
            Language::Go => "main.go",
            Language::Java if ["task", "function"].contains(&kind) => "src/main/java/Main.java",
            Language::Java => "Main.java",
            Language::Node => "main.mjs",
            Language::Python => "main.py",
            Language::Rust => "src/main.rs",
        }
    }

    /// The word for the language on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Language::Go => "go",
            Language::Java => "java",
            Language::Node => "node",
            Language::Python => "python",
            Language::Rust => "rust",
        }
    }
}

/// The files of an experiment of this kind, with two contenders.
pub(super) fn experiment(kind: &str, name: &str) -> Vec<Template> {
    let mut files = below(&EXPERIMENTS, kind);
    files.push(readme(&EXPERIMENTS, name));
    files
}

/// The files of a contender for an experiment of this kind; none if its contenders are no programs.
pub(super) fn contender(language: Language, kind: &str) -> Option<Vec<Template>> {
    let mut files = below(&CONTENDERS, &format!("{}/{kind}", language.name()));
    (!files.is_empty()).then(|| {
        files.push(readme(&CONTENDERS, language.name()));
        files
    })
}

/// The files of kumite's kit for the task protocol in a language.
pub(super) fn kit(language: Language) -> Vec<Template> {
    macro_rules! kit {
        ($folder:literal: $($file:literal),*) => {
            vec![$(($file, include_str!(concat!("../../../../kits/", $folder, "/", $file)))),*]
        };
    }
    let files = match language {
        Language::Go => kit!("go": "README.md", "go.mod", "kit.go"),
        Language::Java => kit!("java": "README.md", "pom.xml", "src/main/java/kumite/Worker.java"),
        Language::Node => kit!("node": "README.md", "kumite-kit.mjs"),
        Language::Python => kit!("python": "README.md", "kumite_kit.py"),
        Language::Rust => kit!("rust": "README.md", "Cargo.toml", "build.rs", "conformance.rs", "src/lib.rs"),
    };
    let of = |(file, text): (&str, &str)| Template { file: file.to_owned(), text: text.to_owned() };
    files.into_iter().map(of).collect()
}

/// All files below a folder of templates.
fn below(templates: &'static Dir, folder: &str) -> Vec<Template> {
    let mut files = Vec::new();
    let mut folders: Vec<&Dir> = templates.get_dir(folder).into_iter().collect();
    while let Some(next) = folders.pop() {
        folders.extend(next.dirs());
        files.extend(next.files().map(|file| Template {
            file: file.path().strip_prefix(folder).unwrap_or(file.path()).display().to_string(),
            text: file.contents_utf8().unwrap_or_default().to_owned(),
        }));
    }
    files
}

fn readme(templates: &'static Dir, name: &str) -> Template {
    let text = templates.get_file("README.md").and_then(|file| file.contents_utf8()).unwrap_or_default();
    Template { file: "README.md".to_owned(), text: text.replace("NAME", name) }
}
