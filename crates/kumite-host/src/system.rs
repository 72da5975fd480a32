//! The kernel's files, or a folder that stands for them in tests.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use rustix::fs::{Access, access};

#[derive(Debug)]
pub(crate) struct System {
    root: PathBuf,
    #[cfg(test)]
    _folder: Option<tempfile::TempDir>,
}

impl System {
    pub fn at(root: &Path) -> System {
        System {
            root: root.to_owned(),
            #[cfg(test)]
            _folder: None,
        }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.root.join(file.trim_start_matches('/'))
    }

    /// The text of a file, without white space at its end; `None` if the file cannot be read, or has nothing but
    /// white space.
    pub fn text(&self, file: &str) -> Option<String> {
        let text = std::fs::read_to_string(self.path(file)).ok()?;
        Some(text.trim_end().to_owned()).filter(|text| !text.trim().is_empty())
    }

    /// The one value that a file consists of; `None` if the file cannot be read, or its text cannot be parsed.
    pub fn value<T: FromStr>(&self, file: &str) -> Option<T> {
        self.text(file)?.trim().parse().ok()
    }

    pub fn exists(&self, file: &str) -> bool {
        self.path(file).exists()
    }

    pub fn writable(&self, file: &str) -> bool {
        access(self.path(file), Access::WRITE_OK).is_ok()
    }

    /// The value behind a name and a colon, in a file of such lines; `None` if no line has the name.
    pub fn field(&self, file: &str, name: &str) -> Option<String> {
        let text = self.text(file)?;
        let of = |line: &str| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == name).then(|| value.trim().to_owned())
        };
        text.lines().find_map(of)
    }

    /// A system with these files, each a path and its text.
    #[cfg(test)]
    pub fn with(files: &[(&str, &str)]) -> System {
        let folder = tempfile::tempdir().unwrap();
        for (file, text) in files {
            let file = folder.path().join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        System { root: folder.path().to_owned(), _folder: Some(folder) }
    }
}
