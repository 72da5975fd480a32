//! The folder of a project's baselines.
//!
//! Each baseline has a folder, with `baseline.json` and a folder `kept-…` with the program, if one is kept. A baseline is
//! replaced by renaming its file, so that it is the old one or the new one. Programs lie in a new folder each time: a
//! kumite that measures the old one does not notice. It locks that folder meanwhile, and a folder that nobody has
//! locked or named is removed at the next save.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use kumite_record::there_are;
use tempfile::{Builder, NamedTempFile, TempDir};

use super::kept::{Baseline, FORM, Source};
use crate::exit::Failure;
use crate::store::project_state;

const FILE: &str = "baseline.json";
const KEPT: &str = "kept-";
/// A kumite that replaces a baseline may remove a program between two looks. It does so once each time.
const LOOKS: usize = 5;

pub struct Shelf {
    /// The folder with a folder for each baseline.
    folder: PathBuf,
    /// The folder of the project.
    project: PathBuf,
    /// The folder that the user is in.
    here: PathBuf,
}

impl Shelf {
    /// The folder for baselines of the project that the user is in. It is beside the results store if the project has
    /// one. An error if the current folder cannot be found.
    pub fn of_project() -> Result<Shelf, Failure> {
        let here = std::env::current_dir().map_err(|error| {
            Failure::Incomplete(format!("cannot find the folder that it is run in: {error}"))
        })?;
        let (state, project) = project_state(&here);
        Ok(Shelf { folder: state.join("baselines"), project, here })
    }

    /// The folder that the user is in, relative to the project's.
    pub fn below(&self) -> PathBuf {
        self.here.strip_prefix(&self.project).unwrap_or(&self.here).to_owned()
    }

    /// An error if the user is in another folder than `below`, in which the baseline was saved: the words of its
    /// command would mean other files.
    pub fn check_folder(&self, name: &str, below: &Path) -> Result<(), Failure> {
        match self.below() == below {
            true => Ok(()),
            false => Err(Failure::Usage(format!(
                "baseline {name} was saved in {}, and can be measured only there",
                self.project.join(below).components().collect::<PathBuf>().display()
            ))),
        }
    }

    /// The folder of the project.
    pub fn project(&self) -> &Path {
        &self.project
    }

    /// The folder of the baseline of this name, whether it exists or not.
    pub fn of(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Reads a baseline. Returns it with the path of the program that it has kept, and with the lock that keeps this
    /// program from being removed; both are `None` if it has kept no program. An error if there is no such baseline, if
    /// its file cannot be read, or if its program is gone, was changed, or is for another kind of machine.
    pub fn open(&self, name: &str) -> Result<(Baseline, Option<PathBuf>, Option<File>), Failure> {
        let mut gone = None;
        for _ in 0..LOOKS {
            let baseline = self.read(name)?;
            let Source::Program { program, folder, file } = &baseline.source else {
                return Ok((baseline, None, None));
            };
            let unread = |what: &dyn std::fmt::Display| {
                Failure::Usage(format!("baseline {name} cannot be measured: {what}; save it again"))
            };
            let is_plain = |text: &str| Path::new(text).file_name().is_some_and(|last| last == text);
            if !is_plain(folder) || !is_plain(file) {
                return Err(unread(&format!(
                    "{} names files outside of its folder",
                    self.of(name).join(FILE).display()
                )));
            }
            if program.arch != std::env::consts::ARCH {
                return Err(unread(&format!(
                    "its program {} is for {}, and this machine is {}",
                    program.word,
                    program.arch,
                    std::env::consts::ARCH
                )));
            }
            let folder = self.of(name).join(folder);
            let held = match File::open(&folder) {
                Ok(held) => held,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    gone = Some(unread(&format!("its program {} is gone", program.word)));
                    continue;
                }
                Err(error) => return Err(unread(&format!("{}: {error}", folder.display()))),
            };
            // Where no file can be locked, nothing is removed either.
            let _ = held.lock_shared();
            let file = folder.join(file);
            let bytes =
                std::fs::read(&file).map_err(|error| unread(&format!("{}: {error}", file.display())))?;
            if digest(&bytes) != program.digest {
                return Err(unread(&format!("its program {} is not as it was saved", program.word)));
            }
            return Ok((baseline, Some(file), Some(held)));
        }
        Err(gone.expect("each look but the last was in vain"))
    }

    fn read(&self, name: &str) -> Result<Baseline, Failure> {
        let file = self.of(name).join(FILE);
        let text = match std::fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(self.unknown(name)),
            Err(error) => return Err(unreadable(&file, &error)),
        };
        let form: Form = serde_json::from_str(&text).map_err(|error| unreadable(&file, &error))?;
        if form.form != FORM {
            return Err(unreadable(&file, &"another version of kumite has written it"));
        }
        serde_json::from_str(&text).map_err(|error| unreadable(&file, &error))
    }

    fn unknown(&self, name: &str) -> Failure {
        let names = self.names();
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        let there_are = match known[..] {
            [] => format!(": --save-baseline {name} makes it"),
            _ => there_are(name, &known),
        };
        Failure::Usage(format!("this project has no baseline {name}{there_are}"))
    }

    fn names(&self) -> Vec<String> {
        let folders = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let names = folders.filter(|folder| folder.path().join(FILE).is_file());
        let mut names: Vec<String> =
            names.filter_map(|folder| folder.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    /// Makes a new folder for the program of a baseline. Dropping the result removes the folder again, unless the
    /// baseline was put in its place. An error if the folder cannot be made.
    pub fn room(&self, name: &str) -> Result<Room, Failure> {
        let folder = self.of(name);
        let make = || -> io::Result<Room> {
            std::fs::create_dir_all(&folder)?;
            let kept = Builder::new().prefix(KEPT).tempdir_in(&folder)?;
            let held = File::open(kept.path())?;
            let _ = held.lock_shared();
            Ok(Room { folder: folder.clone(), kept: Some(kept), _held: held })
        };
        make().map_err(|error| cannot_write(&folder, &error))
    }
}

#[derive(serde::Deserialize)]
struct Form {
    form: u32,
}

/// The folder of a baseline that is being saved.
pub struct Room {
    folder: PathBuf,
    kept: Option<TempDir>,
    _held: File,
}

impl Room {
    /// The folder for the program.
    pub fn kept(&self) -> &Path {
        self.kept.as_ref().expect("it is there until the end").path()
    }

    /// Puts the baseline in the place of the one of the same name. An error, and the old one stays, if the file cannot
    /// be written.
    pub fn put(mut self, baseline: &Baseline) -> Result<(), Failure> {
        let put = || -> io::Result<File> {
            let mut file = NamedTempFile::new_in(&self.folder)?;
            serde_json::to_writer_pretty(&mut file, baseline)?;
            file.write_all(b"\n")?;
            file.as_file().sync_all()?;
            file.persist(self.folder.join(FILE)).map_err(|error| error.error)
        };
        put().map_err(|error| cannot_write(&self.folder, &error))?;
        let kept = self.kept.take().expect("it is there until the end");
        let kept = match baseline.source {
            Source::Program { .. } => Some(kept.keep()),
            _ => None,
        };
        self.tidy(kept.as_deref());
        Ok(())
    }

    /// Removes the programs of baselines that were replaced, and what a killed kumite has left. A folder that is in use
    /// stays until the next time.
    fn tidy(&self, kept: Option<&Path>) {
        for entry in std::fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let is_program = entry.file_name().to_string_lossy().starts_with(KEPT);
            let is_other = Some(&*path) != kept;
            if is_program && is_other && File::open(&path).is_ok_and(|folder| folder.try_lock().is_ok()) {
                let _ = std::fs::remove_dir_all(&path);
            }
        }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        drop(self.kept.take());
        // It goes only if nothing is in it.
        let _ = std::fs::remove_dir(&self.folder);
    }
}

/// The BLAKE3 digest of a program, in hexadecimal digits.
pub fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

fn unreadable(file: &Path, why: &dyn std::fmt::Display) -> Failure {
    Failure::Usage(format!("cannot read the baseline {}: {why}; save it again", file.display()))
}

fn cannot_write(folder: &Path, why: &dyn std::fmt::Display) -> Failure {
    Failure::Incomplete(format!("cannot save the baseline in {}: {why}", folder.display()))
}
