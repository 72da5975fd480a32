//! The libraries of a project that a program loads. A copy of the program would load those of another day, or find none.

use std::path::{Path, PathBuf};

use object::elf::{DT_NEEDED, DT_RPATH, DT_RUNPATH, FileHeader32, FileHeader64};
use object::read::elf::FileHeader;
use object::{Endianness, FileKind};

/// The environment variable with further folders in which the loader looks for libraries.
pub const LIBRARIES: &str = "LD_LIBRARY_PATH";
/// The folder of a program, as it names it itself.
const ORIGIN: [&str; 2] = ["$ORIGIN", "${ORIGIN}"];

/// A program as its loader reads it.
#[derive(Default)]
struct Loaded {
    /// The names of the libraries that it needs.
    needed: Vec<String>,
    /// The folders that it has them looked for in, before those of the system.
    folders: Vec<String>,
}

/// The first library that a program would load from the project, or from a folder that is relative to the program's.
/// `bytes` are those of the program's file, `more` are the folders of [`LIBRARIES`]. `None` if the program loads no
/// such library, if `bytes` are no ELF file, or if there is no file at `program`.
pub fn own_library(bytes: &[u8], program: &Path, project: &Path, more: &[PathBuf]) -> Option<PathBuf> {
    let loaded = loaded(bytes)?;
    let program = program.canonicalize().ok()?;
    let beside = program.parent().unwrap_or(Path::new("."));
    let folders: Vec<(PathBuf, bool)> = loaded
        .folders
        .iter()
        .map(|folder| match ORIGIN.iter().find_map(|origin| folder.strip_prefix(origin)) {
            Some(rest) => (beside.join(rest.trim_start_matches('/')), true),
            None => (PathBuf::from(folder), false),
        })
        .chain(more.iter().map(|folder| (folder.clone(), false)))
        .collect();
    let project = project.canonicalize().unwrap_or(project.to_owned());
    loaded.needed.iter().find_map(|name| {
        let mut found = folders.iter().map(|(folder, moves)| (folder.join(name), *moves));
        let (file, moves) = found.find(|(file, _)| file.exists())?;
        let is_of_project = file.canonicalize().is_ok_and(|file| file.starts_with(&project));
        (moves || is_of_project).then_some(file)
    })
}

fn loaded(bytes: &[u8]) -> Option<Loaded> {
    match FileKind::parse(bytes).ok()? {
        FileKind::Elf32 => read::<FileHeader32<Endianness>>(bytes),
        FileKind::Elf64 => read::<FileHeader64<Endianness>>(bytes),
        _ => None,
    }
}

fn read<E: FileHeader<Endian = Endianness>>(bytes: &[u8]) -> Option<Loaded> {
    let header = E::parse(bytes).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.sections(endian, bytes).ok()?;
    let table = sections.dynamic_table(endian, bytes).ok()?;
    let mut loaded = Loaded::default();
    for entry in table.iter() {
        let text = || table.string(entry).map(|text| String::from_utf8_lossy(text).into_owned());
        match entry.tag {
            DT_NEEDED => loaded.needed.push(text().ok()?),
            DT_RPATH | DT_RUNPATH => loaded.folders.extend(text().ok()?.split(':').map(str::to_owned)),
            _ => {}
        }
    }
    Some(loaded)
}
