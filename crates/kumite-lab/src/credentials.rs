//! The certificate of the servers of a run, with its key.
//!
//! kumite makes them anew for each run. The certificate signs itself, and the load engine trusts it and no other, so
//! neither is worth anything to anybody when the run is over.

use std::net::Ipv4Addr;

use rcgen::{CertificateParams, KeyPair};
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// A certificate and its key, each as PEM.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Credentials {
    pub certificate: String,
    pub key: String,
}

impl Credentials {
    /// Makes a key, and a certificate for `localhost` and these addresses that is signed by this key. An error if that
    /// fails.
    pub fn new(addresses: &[Ipv4Addr]) -> Result<Credentials, Error> {
        let made = || {
            let key = KeyPair::generate()?;
            let names = addresses.iter().map(Ipv4Addr::to_string).chain(["localhost".to_owned()]);
            let certificate = CertificateParams::new(names.collect::<Vec<_>>())?.self_signed(&key)?;
            Ok::<_, rcgen::Error>(Credentials { certificate: certificate.pem(), key: key.serialize_pem() })
        };
        made().map_err(Error::step("cannot make a certificate"))
    }
}
