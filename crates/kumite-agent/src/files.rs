//! Files on their way: a folder as frames, and frames as files below a folder.
//!
//! A folder is sent without what `.gitignore` and `.ignore` files in it leave out, file after file by name, so that
//! the same folder makes the same frames. What arrives is written below one folder and nowhere else, whatever path a
//! frame names, and only its owner may read it. Both ends have a limit: 256 MiB for a folder that is sent, four times
//! that for a run that arrives.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use base64::prelude::BASE64_STANDARD;
use base64::{DecodeError, Engine};
use ignore::WalkBuilder;

use crate::error::Error;
use crate::message::Ask;

/// The most bytes of a piece. Base64 makes it a third longer, and a frame has room for that.
const PIECE: usize = 512 << 10;
/// The most MiB of a folder: an experiment has less.
const MOST_MIB_SENT: u64 = 256;
/// The most MiB of a run: an experiment, the kits, and what else its contenders use.
const MOST_MIB_RECEIVED: u64 = 4 * MOST_MIB_SENT;

/// A folder or a single file that is sent.
pub struct Folder {
    /// The path of the folder or file on this machine.
    pub from: PathBuf,
    /// The path on the node, relative to the run's folder.
    pub to: String,
}

impl Folder {
    /// Makes the frames of all files, in the order of the files' names, and gives each to `say`. Files that a
    /// `.gitignore` or `.ignore` file in the folder leaves out are not sent; links are followed. An error if a file
    /// cannot be read, a name is not UTF-8, the files have more than 256 MiB together, or `say` gives one. What `say`
    /// has taken by then is not taken back.
    pub fn send(&self, say: &mut dyn FnMut(Ask) -> Result<(), Error>) -> Result<(), Error> {
        let mut walk = WalkBuilder::new(&self.from);
        walk.hidden(false).require_git(false).git_global(false).git_exclude(false).parents(false);
        walk.sort_by_file_name(std::ffi::OsStr::cmp).follow_links(true);
        let mut left = MOST_MIB_SENT << 20;
        for entry in walk.build() {
            let entry = entry.map_err(|source| Error::Walk { folder: self.from.clone(), source })?;
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                continue;
            }
            let within = entry.path().strip_prefix(&self.from).unwrap_or(entry.path());
            // A contender may use a single file.
            let is_itself = within.as_os_str().is_empty();
            let to = Path::new(&self.to);
            let to = if is_itself { to.to_owned() } else { to.join(within) };
            let Some(path) = to.to_str() else { return Err(Error::NotUtf8 { path: to }) };
            let failed = Error::cannot("read", entry.path());
            let file = File::open(entry.path()).map_err(failed)?;
            let executable = file.metadata().map_err(failed)?.permissions().mode() & 0o111 != 0;
            let mut first = true;
            for piece in pieces(&file) {
                let piece = piece.map_err(failed)?;
                left = left
                    .checked_sub(piece.bytes.len() as u64)
                    .ok_or_else(|| Error::TooLarge { folder: self.from.clone(), mib: MOST_MIB_SENT })?;
                say(Ask::File { path: path.to_owned(), executable, first, data: piece.encoded() })?;
                first = false;
            }
        }
        Ok(())
    }
}

/// The folder below which the files of a run are written.
pub struct Received {
    folder: PathBuf,
    left: u64,
}

impl Received {
    /// Takes files below this folder, which need not exist yet: at most 1 GiB of them together.
    pub fn below(folder: PathBuf) -> Received {
        Received { folder, left: MOST_MIB_RECEIVED << 20 }
    }

    /// Writes a piece, in base64, of the file at `path`, which is relative to the folder. If `first`, the piece begins
    /// the file anew; else it is appended. Folders above the file are made. Errors: the path leads out of the folder,
    /// `data` is not base64, all pieces together have more than 1 GiB, or the file cannot be written. The first
    /// piece makes a new file, in the place of a file or a link that is there; its mode is 700 if it is `executable`, or
    /// else 600.
    pub fn write(&mut self, path: &str, executable: bool, first: bool, data: &str) -> Result<(), Error> {
        let file = below(&self.folder, path)?;
        let piece = decoded(data).map_err(|source| Error::NotBase64 { path: path.to_owned(), source })?;
        let left = self.left.checked_sub(piece.len() as u64);
        self.left = left.ok_or(Error::TooMany { mib: MOST_MIB_RECEIVED })?;
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder).map_err(Error::cannot("make", folder))?;
        }
        let mode = if executable { 0o700 } else { 0o600 };
        let mut options = OpenOptions::new();
        if first {
            // A file of before has a mode of its own, and may be a link to another.
            match std::fs::remove_file(&file) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(Error::cannot("write", &file)(error));
                }
                _ => options.write(true).create_new(true).mode(mode),
            };
        } else {
            options.append(true);
        }
        let written = options.open(&file).and_then(|mut file| file.write_all(&piece));
        written.map_err(Error::cannot("write", &file))
    }
}

/// The path of a file below `folder`. An error if `path` is empty or absolute, has `.` as its first part, or has a part
/// `..` or a NUL in it. Links on the disk are not looked at.
pub fn below(folder: &Path, path: &str) -> Result<PathBuf, Error> {
    let relative = Path::new(path);
    let is_plain = |part: Component| matches!(part, Component::Normal(_));
    match !path.is_empty() && !path.contains('\0') && relative.components().all(is_plain) {
        true => Ok(folder.join(relative)),
        false => Err(Error::NotBelow { path: path.to_owned() }),
    }
}

/// The bytes of a piece in base64.
pub(crate) fn decoded(data: &str) -> Result<Vec<u8>, DecodeError> {
    BASE64_STANDARD.decode(data)
}

/// A part of a file, small enough for a frame.
pub struct Piece {
    bytes: Vec<u8>,
    /// False for the last piece, which may be empty.
    pub more: bool,
}

impl Piece {
    /// The bytes in base64.
    pub fn encoded(&self) -> String {
        BASE64_STANDARD.encode(&self.bytes)
    }
}

/// Everything that can be read, in pieces of 512 KiB. The last piece is shorter, and may be empty; so there is at least
/// one. After an error no more pieces come.
pub fn pieces(mut from: impl Read) -> impl Iterator<Item = io::Result<Piece>> {
    let mut is_over = false;
    std::iter::from_fn(move || {
        (!is_over).then(|| {
            let mut bytes = Vec::new();
            let read = from.by_ref().take(PIECE as u64).read_to_end(&mut bytes);
            let more = bytes.len() == PIECE;
            is_over = read.is_err() || !more;
            read.map(|_| Piece { bytes, more })
        })
    })
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
    fn a_file_that_comes_again_is_a_new_one() {
        let folder = tempfile::tempdir().unwrap();
        let [elsewhere, file] = ["elsewhere", "file"].map(|name| folder.path().join(name));
        std::fs::write(&elsewhere, "kept").unwrap();
        std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
        let mut received = Received::below(folder.path().to_owned());
        for (executable, mode) in [(true, 0o700), (false, 0o600)] {
            received.write("file", executable, true, "eA==").unwrap();
            received.write("file", executable, false, "eQ==").unwrap();
            assert_eq!(std::fs::read_to_string(&file).unwrap(), "xy");
            assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, mode);
        }
        assert_eq!(std::fs::read_to_string(&elsewhere).unwrap(), "kept");
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

    #[test]
    fn a_file_that_is_gone_or_cannot_be_written_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let gone = Folder { from: folder.path().join("gone"), to: "x".to_owned() };
        let why = gone.send(&mut |ask| panic!("{ask:?}")).unwrap_err();
        let is_gone =
            |source: &ignore::Error| source.io_error().is_some_and(|of| of.kind() == io::ErrorKind::NotFound);
        assert!(
            matches!(&why, Error::Walk { folder, source } if *folder == gone.from && is_gone(source)),
            "{why}"
        );
        // Its folder is a file.
        std::fs::write(folder.path().join("file"), "").unwrap();
        let mut received = Received::below(folder.path().to_owned());
        let why = received.write("file/x", false, true, "").unwrap_err();
        let file = folder.path().join("file");
        assert!(matches!(&why, Error::File { doing: "make", path, .. } if *path == file), "{why}");
        let why = received.write("new", false, false, "").unwrap_err().to_string();
        let expected = format!("cannot write {}: No such file", folder.path().join("new").display());
        assert!(why.starts_with(&expected), "{why}");
    }

    #[test]
    fn pieces_end_with_one_that_says_so() {
        for (length, expected) in
            [(0, vec![0]), (1, vec![1]), (PIECE, vec![PIECE, 0]), (PIECE + 1, vec![PIECE, 1])]
        {
            let bytes = vec![7; length];
            let found: Vec<Piece> = pieces(&bytes[..]).collect::<Result<_, _>>().unwrap();
            assert_eq!(found.iter().map(|piece| piece.bytes.len()).collect::<Vec<_>>(), expected);
            let last = found.len() - 1;
            assert!(found.iter().enumerate().all(|(nth, piece)| piece.more == (nth < last)), "{length}");
        }
    }
}
