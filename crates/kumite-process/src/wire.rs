//! What the runner and its helper say to each other: numbers of eight bytes, strings after their length. Both are the
//! same program, so that neither needs to be ready for another version.

use std::ffi::{CString, OsStr, OsString};
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// A command line and an environment fit in the kernel's limit for both.
const LONGEST: u64 = 1 << 24;

pub(crate) struct Message(Vec<u8>);

impl Message {
    pub(crate) fn new() -> Message {
        Message(Vec::new())
    }

    pub(crate) fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    pub(crate) fn count(&mut self, count: usize) {
        self.number(count as u64);
    }

    pub(crate) fn string(&mut self, string: &OsStr) {
        self.count(string.len());
        self.0.extend_from_slice(string.as_bytes());
    }

    pub(crate) fn path(&mut self, path: Option<&Path>) {
        self.string(path.map_or(OsStr::new(""), Path::as_os_str));
    }

    pub(crate) fn strings<'a>(&mut self, strings: impl ExactSizeIterator<Item = &'a OsStr>) {
        self.count(strings.len());
        strings.for_each(|string| self.string(string));
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// The reading side.
pub(crate) trait Wire: Read {
    fn number(&mut self) -> io::Result<u64> {
        let mut bytes = [0; 8];
        self.read_exact(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn count(&mut self) -> io::Result<usize> {
        match self.number()? {
            count if count <= LONGEST => Ok(count as usize),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    fn string(&mut self) -> io::Result<OsString> {
        let mut bytes = vec![0; self.count()?];
        self.read_exact(&mut bytes)?;
        Ok(OsString::from_vec(bytes))
    }

    /// `None` for an empty one.
    fn path(&mut self) -> io::Result<Option<PathBuf>> {
        Ok(Some(self.string()?).filter(|path| !path.is_empty()).map(PathBuf::from))
    }

    fn strings(&mut self) -> io::Result<Vec<CString>> {
        let count = self.count()?;
        (0..count).map(|_| Ok(CString::new(self.string()?.into_vec())?)).collect()
    }
}

impl<R: Read> Wire for R {}
