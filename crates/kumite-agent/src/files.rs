//! Files on their way: a folder as frames, and frames as files below a folder.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use ignore::WalkBuilder;

use crate::message::Ask;

/// A piece as it is read; base64 makes it a third longer, and a frame has room for that.
const PIECE: usize = 512 << 10;
/// More is no experiment.
const MOST_BYTES: u64 = 256 << 20;

/// A folder that is sent, under a name.
pub struct Folder {
    /// Where it is.
    pub from: PathBuf,
    /// Where it is to be, relative to the run's folder.
    pub to: String,
}

impl Folder {
    /// Says it in frames, file after file in the order of their names, without what git ignores.
    pub fn send(&self, say: &mut dyn FnMut(Ask) -> Result<(), String>) -> Result<(), String> {
        let mut walk = WalkBuilder::new(&self.from);
        walk.hidden(false).require_git(false).git_global(false).git_exclude(false).parents(false);
        walk.sort_by_file_name(std::ffi::OsStr::cmp).follow_links(true);
        let mut left = MOST_BYTES;
        for entry in walk.build() {
            let entry = entry.map_err(|error| error.to_string())?;
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                continue;
            }
            let within = entry.path().strip_prefix(&self.from).unwrap_or(entry.path());
            // What is sent may be a file itself.
            let is_itself = within.as_os_str().is_empty();
            let to = Path::new(&self.to);
            let to = if is_itself { to.to_owned() } else { to.join(within) };
            let path = to.to_str().ok_or_else(|| format!("{}: its name is no UTF-8", to.display()))?;
            let failed = |error: std::io::Error| format!("{}: {error}", entry.path().display());
            let file = File::open(entry.path()).map_err(failed)?;
            let executable = file.metadata().map_err(failed)?.permissions().mode() & 0o111 != 0;
            let mut first = true;
            loop {
                let mut piece = Vec::new();
                (&file).take(PIECE as u64).read_to_end(&mut piece).map_err(failed)?;
                if piece.is_empty() && !first {
                    break;
                }
                let is_last = piece.len() < PIECE;
                left = left.checked_sub(piece.len() as u64).ok_or_else(|| {
                    format!("{} has more than {} MiB", self.from.display(), MOST_BYTES >> 20)
                })?;
                let data = BASE64_STANDARD.encode(&piece);
                say(Ask::File { path: path.to_owned(), executable, first, data })?;
                first = false;
                if is_last {
                    break;
                }
            }
        }
        Ok(())
    }
}

/// Files that come, below a folder and nowhere else.
pub struct Received {
    folder: PathBuf,
    left: u64,
}

impl Received {
    /// Below this folder.
    pub fn below(folder: PathBuf) -> Received {
        Received { folder, left: MOST_BYTES * 4 }
    }

    /// Writes a piece.
    pub fn write(&mut self, path: &str, executable: bool, first: bool, data: &str) -> Result<(), String> {
        let file = below(&self.folder, path)?;
        let piece = decoded(data)?;
        self.left = self.left.checked_sub(piece.len() as u64).ok_or("there are too many files")?;
        let failed = |error: std::io::Error| format!("{path}: {error}");
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        let mode = if executable { 0o700 } else { 0o600 };
        let mut options = OpenOptions::new();
        options.write(true).create(first).truncate(first).append(!first).mode(mode);
        options.open(&file).and_then(|mut file| file.write_all(&piece)).map_err(failed)
    }
}

/// The file that a path means, if it lies below the folder.
pub fn below(folder: &Path, path: &str) -> Result<PathBuf, String> {
    let relative = Path::new(path);
    let is_plain = |part: Component| matches!(part, Component::Normal(_));
    match !path.is_empty() && !path.contains('\0') && relative.components().all(is_plain) {
        true => Ok(folder.join(relative)),
        false => Err(format!("'{}' is no path below a folder", crate::frame::shown(path.as_bytes()))),
    }
}

/// What base64 stands for.
pub fn decoded(data: &str) -> Result<Vec<u8>, String> {
    BASE64_STANDARD.decode(data).map_err(|error| format!("a piece of a file is no base64: {error}"))
}

/// What can be read, in pieces.
pub fn pieces(
    mut from: impl Read,
    say: &mut dyn FnMut(String, bool) -> Result<(), String>,
) -> Result<(), String> {
    loop {
        let mut piece = Vec::new();
        let read = from.by_ref().take(PIECE as u64).read_to_end(&mut piece);
        read.map_err(|error| error.to_string())?;
        let more = piece.len() == PIECE;
        say(BASE64_STANDARD.encode(&piece), more)?;
        if !more {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_comes_as_it_was_without_what_is_ignored() {
        let [from, to] = [(), ()].map(|()| tempfile::tempdir().unwrap());
        let long = "0123456789abcdef".repeat(PIECE / 8);
        for (name, text) in
            [(".gitignore", "out/\n"), ("deep/run.sh", "echo"), ("long", &long), ("empty", "")]
        {
            let file = from.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        std::fs::create_dir(from.path().join("out")).unwrap();
        std::fs::write(from.path().join("out/built"), "x").unwrap();
        let script = from.path().join("deep/run.sh");
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
        let mut received = Received::below(to.path().to_owned());
        let folder = Folder { from: from.path().to_owned(), to: "experiments/x".to_owned() };
        folder
            .send(&mut |ask| match ask {
                Ask::File { path, executable, first, data } => {
                    received.write(&path, executable, first, &data)
                }
                other => panic!("{other:?}"),
            })
            .unwrap();
        let at = |name: &str| to.path().join("experiments/x").join(name);
        assert_eq!(std::fs::read_to_string(at("long")).unwrap(), long);
        assert_eq!(std::fs::read_to_string(at("empty")).unwrap(), "");
        assert!(at(".gitignore").exists() && !at("out").exists());
        let mode = |name: &str| std::fs::metadata(at(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("deep/run.sh"), mode("long")), (0o700, 0o600));
    }

    #[test]
    fn nothing_is_written_outside_of_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["../x", "/etc/x", "a/../../x", "", ".", "a/./../b", "a\0b"] {
            let mut received = Received::below(folder.path().join("run"));
            assert!(received.write(path, false, true, "").is_err(), "{path:?}");
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(Received::below(folder.path().to_owned()).write("a", false, true, "no base64").is_err());
    }
}
