//! The files from which servers on this machine have their certificate and its key.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::credentials::Credentials;
use crate::driver::scratch::{Scratch, ScratchPlace};
use crate::error::Error;

/// The files of a certificate and its key.
pub(crate) struct WrittenCredentials {
    pub certificate: PathBuf,
    key: PathBuf,
    _folder: Scratch,
}

impl WrittenCredentials {
    /// Writes credentials to files that only this user can read, and that are removed when this is dropped. `state` is
    /// the folder of the results store. An error if the files cannot be written.
    pub fn new(of: &Credentials, state: &Path) -> Result<WrittenCredentials, Error> {
        let folder = Scratch::new(&ScratchPlace::for_store(state)?)?;
        let [certificate, key] = ["cert.pem", "key.pem"].map(|name| folder.path().join(name));
        for (path, text) in [(&certificate, &of.certificate), (&key, &of.key)] {
            write_private(path, text).map_err(Error::cannot("write", path))?;
        }
        Ok(WrittenCredentials { certificate, key, _folder: folder })
    }

    /// The variables that tell a contender where the files are.
    pub fn env(&self) -> [(String, String); 2] {
        [("TLS_CERT", &self.certificate), ("TLS_KEY", &self.key)]
            .map(|(name, path)| (name.to_owned(), path.display().to_string()))
    }
}

fn write_private(path: &Path, text: &str) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn they_are_for_their_owner_alone_and_go() {
        let state = tempfile::tempdir().unwrap();
        let made = Credentials::new(&[Ipv4Addr::LOCALHOST]).unwrap();
        let written = WrittenCredentials::new(&made, state.path()).unwrap();
        let paths = written.env().map(|(_, path)| PathBuf::from(path));
        for path in &paths {
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
        drop(written);
        assert_eq!(paths.map(|path| path.exists()), [false; 2]);
    }
}
