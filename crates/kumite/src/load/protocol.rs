//! The flags for the protocol that a server is spoken to in.

use std::path::PathBuf;

use kumite_load::{Http, Trust};

#[derive(clap::Args)]
#[group(skip)]
pub struct Args {
    /// Most requests in flight on one connection [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pipeline: Option<u32>,
    /// Speak HTTP/2: agreed on over TLS, without asking in the clear
    #[arg(long)]
    http2: bool,
    /// PEM file with certificates to trust besides the system's
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    ca: Option<PathBuf>,
    /// Trust any certificate
    #[arg(long)]
    insecure: bool,
}

impl Args {
    pub fn pipeline(&self) -> usize {
        self.pipeline.unwrap_or(1) as usize
    }

    pub fn http(&self) -> Http {
        if self.http2 { Http::Http2 } else { Http::Http1 }
    }

    pub fn trust(&self) -> Trust {
        match &self.ca {
            _ if self.insecure => Trust::Any,
            Some(file) => Trust::Also(file.clone()),
            None => Trust::System,
        }
    }

    /// The first of these flags that is given; `None` if none of them is.
    pub fn given(&self) -> Option<&'static str> {
        let given = [
            ("--pipeline", self.pipeline.is_some()),
            ("--http2", self.http2),
            ("--ca", self.ca.is_some()),
            ("--insecure", self.insecure),
        ];
        given.into_iter().find_map(|(flag, is_given)| is_given.then_some(flag))
    }
}
