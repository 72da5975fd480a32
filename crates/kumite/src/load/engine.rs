//! The flags on how `kumite load` sends and receives.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use kumite_host::cores;
use kumite_load::{Address, Io, Target};

use crate::exit::Failure;
use crate::output;

#[derive(clap::Args)]
#[group(skip)]
pub struct Args {
    /// System interface for sockets [default: io_uring where the system has it, else epoll]
    #[arg(long, value_name = "IO", value_parser = io())]
    io: Option<Io>,
    /// CPUs of the engine, each with a thread, e.g. 2,3 [default: the last core]
    #[arg(long, value_name = "CPU,…", value_delimiter = ',')]
    cores: Vec<usize>,
    /// Connect to this Unix socket, and take only the request from the URL
    #[arg(long, value_name = "PATH")]
    pub unix_socket: Option<PathBuf>,
    /// Connect to this address, and take only the request and the certificate's name from the URL
    #[arg(long, value_name = "HOST:PORT", conflicts_with = "unix_socket")]
    pub connect_to: Option<String>,
}

/// Notes the address to which requests go, if the name of the target has several addresses.
pub fn say_address(target: &Target) {
    let Address::Tcp(address) = target.address else { return };
    let all = (target.host(), address.port()).to_socket_addrs();
    if all.is_ok_and(|mut all| all.any(|other| other != address)) {
        output::note(&format!("{} has several addresses; {} is asked", target.host(), address.ip()));
    }
}

/// The first address of a name and port. An error if the text is no name and port, or the name has no address.
pub fn resolved(place: &str) -> Result<SocketAddr, Failure> {
    let wrong = |what: &str| Failure::Usage(format!("--connect-to {place}: {what}"));
    // oha has the URL's host and port before it.
    let parts: Vec<&str> = place.split(':').collect();
    if let [_, _, host, port] = parts[..] {
        return Err(wrong(&format!("give the address alone: --connect-to {host}:{port}")));
    }
    let mut found = place.to_socket_addrs().map_err(|error| wrong(&error.to_string()))?;
    found.next().ok_or_else(|| wrong("there is no such address"))
}

fn io() -> impl TypedValueParser<Value = Io> {
    let io = |word: String| if word == "epoll" { Io::Epoll } else { Io::Uring };
    PossibleValuesParser::new(["epoll", "io_uring"]).map(io)
}

impl Args {
    pub fn io(&self) -> Io {
        self.io.unwrap_or(Io::Auto)
    }

    /// The CPUs of the engine: those of `--cores`, or else those that kumite leaves to the engine. Empty if the engine
    /// has none of its own. An error if kumite may not use one of `--cores`.
    pub fn cores(&self) -> Result<Vec<usize>, Failure> {
        let found = cores();
        let mut here: Vec<usize> = [found.contender, found.engine.clone()].concat();
        here.sort_unstable();
        here.dedup();
        if let Some(missing) = self.cores.iter().find(|core| !here.contains(core)) {
            let here: Vec<String> = here.iter().map(usize::to_string).collect();
            return Err(Failure::Usage(format!(
                "--cores: kumite has no CPU {missing} here, it has {}",
                here.join(", ")
            )));
        }
        let own = self.has_own_cores() && self.cores.is_empty();
        Ok(if own { found.engine } else { self.cores.clone() })
    }

    /// True if the engine has CPUs that the server is not to use.
    pub fn has_own_cores(&self) -> bool {
        let found = cores();
        !self.cores.is_empty() || found.engine != found.contender
    }
}
