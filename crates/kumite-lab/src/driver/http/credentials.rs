//! The certificate of the servers of a run, with its key.
//!
//! kumite makes them anew for each run. The certificate signs itself, and the load engine trusts it and no other, so
//! neither is worth anything to anybody when the run is over.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rcgen::{CertificateParams, KeyPair};
use serde::{Deserialize, Serialize};

use crate::driver::scratch::{Scratch, ScratchPlace};
use crate::error::Error;

/// A certificate and its key, each as PEM.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Credentials {
    certificate: String,
    key: String,
}

impl Credentials {
    /// Makes a certificate for `localhost` and these addresses.
    pub fn new(addresses: &[Ipv4Addr]) -> Result<Credentials, Error> {
        let made = || {
            let key = KeyPair::generate()?;
            let names = addresses.iter().map(Ipv4Addr::to_string).chain(["localhost".to_owned()]);
            let certificate = CertificateParams::new(names.collect::<Vec<_>>())?.self_signed(&key)?;
            Ok::<_, rcgen::Error>(Credentials { certificate: certificate.pem(), key: key.serialize_pem() })
        };
        made().map_err(Error::step("cannot make a certificate"))
    }

    /// Writes them to files, which last until the value that is returned is dropped. `state` is the folder of the
    /// store.
    pub fn write(&self, state: &Path) -> Result<WrittenCredentials, Error> {
        let folder = Scratch::new(&ScratchPlace::for_store(state)?)?;
        let [certificate, key] = ["cert.pem", "key.pem"].map(|name| folder.path().join(name));
        for (path, text) in [(&certificate, &self.certificate), (&key, &self.key)] {
            write_private(path, text).map_err(Error::cannot("write", path))?;
        }
        Ok(WrittenCredentials { certificate, key, _folder: folder })
    }
}

fn write_private(path: &Path, text: &str) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?.write_all(text.as_bytes())
}

/// The files of a certificate and its key.
pub(crate) struct WrittenCredentials {
    pub certificate: PathBuf,
    key: PathBuf,
    _folder: Scratch,
}

impl WrittenCredentials {
    /// The variables that tell a contender where the files are.
    pub fn env(&self) -> [(String, String); 2] {
        [("TLS_CERT", &self.certificate), ("TLS_KEY", &self.key)]
            .map(|(name, path)| (name.to_owned(), path.display().to_string()))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn they_are_for_their_owner_alone_and_go() {
        let state = tempfile::tempdir().unwrap();
        let written = Credentials::new(&[Ipv4Addr::LOCALHOST]).unwrap().write(state.path()).unwrap();
        let paths = written.env().map(|(_, path)| PathBuf::from(path));
        for path in &paths {
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
        drop(written);
        assert_eq!(paths.map(|path| path.exists()), [false; 2]);
    }
}
