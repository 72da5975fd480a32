//! A baseline that is being saved: its program is copied before the first run, and it takes its place after the last.

use std::path::{Path, PathBuf};

use kumite_compare::{Bench, Setting, program};
use kumite_record::{Comparison, KeptProgram, short_commit, without_secrets};
use kumite_report::bytes;

use super::flags::KeptFlags;
use super::kept::{Baseline, FORM, Source, Unkept};
use super::libraries::{LIBRARIES, own_library};
use super::shelf::{Room, Shelf, digest};
use crate::exit::Failure;
use crate::output;

/// The first bytes of a program for this system's loader.
const ELF: &[u8] = b"\x7fELF";

/// A baseline that is being saved. Dropping it before [`put`](Self::put) leaves the old baseline of this name, or none.
pub struct Keeping {
    name: String,
    shelf: Shelf,
    room: Room,
    command: String,
    source: Source,
    flags: KeptFlags,
    /// The program that is measured, and was copied.
    measured: Option<PathBuf>,
    was_changed: bool,
}

impl Keeping {
    pub fn begin(
        shelf: Shelf,
        name: &str,
        bench: &Bench,
        setting: &Setting,
        build_env: &[String],
    ) -> Result<Keeping, Failure> {
        let flags = KeptFlags::of(bench, setting);
        if let Some(text) = [&bench.command].into_iter().chain(flags.texts()).find(|text| has_secret(text)) {
            return Err(Failure::Usage(format!(
                "--save-baseline {name} would write a secret to a file: `{}`; give it by a variable of the environment",
                without_secrets(text)
            )));
        }
        let room = shelf.room(name)?;
        let (source, measured) = source(bench, build_env, &shelf, room.kept())?;
        if let (Source::Nothing { why }, None) = (&source, &setting.counts) {
            return Err(Failure::Usage(format!(
                "--save-baseline {name}: {why}; with --counts its instructions are kept, which can be compared on another day"
            )));
        }
        let command = bench.command.clone();
        Ok(Keeping {
            name: name.to_owned(),
            shelf,
            room,
            command,
            source,
            flags,
            measured,
            was_changed: false,
        })
    }

    /// Compares the program that was measured with the copy that was kept, after the last run. If they differ,
    /// [`put`](Self::put) gives an error. To be called while the tree of a revision, in which the program may be, is
    /// still there.
    pub fn look_again(&mut self) {
        if let (Some(measured), Source::Program { program, .. }) = (&self.measured, &self.source) {
            self.was_changed = std::fs::read(measured).map_or(true, |bytes| digest(&bytes) != program.digest);
        }
    }

    /// Puts the baseline in its place, with the figures of the comparison. An error, and the old baseline stays, if the
    /// program was changed meanwhile, if no run has a time, if a command that cannot be measured again has no count, or
    /// if the files cannot be written.
    pub fn put(self, comparison: &Comparison) -> Result<(), Failure> {
        let Keeping { name, shelf, room, command, source, flags, was_changed, .. } = self;
        if let (true, Source::Program { program, .. }) = (was_changed, &source) {
            return Err(Failure::Incomplete(format!(
                "baseline {name} is not saved: {} was changed while it was measured",
                program.word
            )));
        }
        if comparison.commands.iter().all(|command| command.times.is_empty()) {
            return Err(Failure::Incomplete(format!(
                "baseline {name} is not saved: no run of it has a time"
            )));
        }
        let counted = comparison.commands.iter().filter_map(|command| command.counts.as_ref());
        let was_counted = counted.flat_map(|counts| &counts.instructions).next().is_some();
        if let (Source::Nothing { .. }, false) = (&source, was_counted) {
            return Err(Failure::Incomplete(format!(
                "baseline {name} is not saved: nothing of it was counted"
            )));
        }
        let kept = match &source {
            Source::Revision { commit, .. } => format!("commit {}", short_commit(commit)),
            Source::Program { program, .. } => {
                format!("a copy of {}, {}", program.word, bytes(program.bytes as f64))
            }
            Source::Nothing { .. } => "its instructions alone".to_owned(),
        };
        let is_measured_again = !matches!(source, Source::Nothing { .. });
        let comparison = comparison.clone();
        room.put(&Baseline { form: FORM, folder: shelf.below(), command, source, flags, comparison })?;
        let again = match is_measured_again {
            true => {
                format!("`kumite compare --baseline {name}` measures it again, beside what is there then")
            }
            false => {
                format!("`kumite compare --baseline {name} --counts` compares its instructions, and no time")
            }
        };
        output::note(&format!("saved as baseline {name} ({kept}) in {}: {again}", shelf.of(&name).display()));
        Ok(())
    }
}

fn has_secret(text: &str) -> bool {
    without_secrets(text) != *text
}

/// Further folders in which the command's program looks for libraries.
fn folders_of_libraries(bench: &Bench) -> Vec<PathBuf> {
    let given = bench.env.iter().rev().find(|(name, _)| name == LIBRARIES);
    let folders = given.map(|(_, value)| value.into()).or_else(|| std::env::var_os(LIBRARIES));
    folders.map_or(Vec::new(), |folders| std::env::split_paths(&folders).collect())
}

/// The thing that a command can be measured again by, and the program that was copied into `kept`, if one was.
fn source(
    bench: &Bench,
    build_env: &[String],
    shelf: &Shelf,
    kept: &Path,
) -> Result<(Source, Option<PathBuf>), Failure> {
    let command = bench.command.clone();
    let place = bench.place.as_ref();
    if let Some(place) = place.filter(|place| place.revision.changed.is_none()) {
        let (commit, build) = (place.revision.commit.clone(), place.revision.build.clone());
        return Ok((Source::Revision { commit, build, build_env: build_env.to_owned() }, None));
    }
    let nothing = |why| Ok((Source::Nothing { why }, None));
    if place.is_some() && command.contains("{dir}") {
        return nothing(Unkept::Folder { command });
    }
    let Some(word) = program(&command) else { return nothing(Unkept::NoPath { command }) };
    let measured = place.map_or(PathBuf::from(&word), |place| place.folder.join(&word));
    let unread =
        |error: std::io::Error| Failure::Usage(format!("cannot read {}: {error}", measured.display()));
    let bytes = std::fs::read(&measured).map_err(unread)?;
    if !bytes.starts_with(ELF) {
        return nothing(Unkept::Script { word });
    }
    let project = place.map_or(shelf.project(), |place| &place.folder);
    if let Some(library) = own_library(&bytes, &measured, project, &folders_of_libraries(bench)) {
        return nothing(Unkept::Library { word, library });
    }
    let Some(file) = measured.file_name().and_then(|file| file.to_str()) else {
        return nothing(Unkept::NoPath { command });
    };
    let copy = kept.join(file);
    let written = std::fs::write(&copy, &bytes).and_then(|()| {
        let permissions = std::fs::metadata(&measured)?.permissions();
        std::fs::set_permissions(&copy, permissions)
    });
    written.map_err(|error| {
        Failure::Incomplete(format!("cannot copy {} to {}: {error}", measured.display(), copy.display()))
    })?;
    let program = KeptProgram {
        word,
        bytes: bytes.len() as u64,
        digest: digest(&bytes),
        arch: std::env::consts::ARCH.to_owned(),
    };
    let folder = kept.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok((Source::Program { program, folder, file: file.to_owned() }, Some(measured)))
}
