//! `kumite play --serve`: a page to play macros from.

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::Ordering;
use std::time::Duration;

use kumite_play::{OpenDevice, Page, PageError};

use crate::closing::say_now;
use crate::exit::Failure;
use crate::{output, stop};

#[derive(clap::Args)]
pub struct Flags {
    /// Serve a page to play from, until SIGINT or SIGTERM
    #[arg(long)]
    pub serve: bool,
    /// Port of the page; 0 for any that is free
    #[arg(long, value_name = "N", default_value_t = 8080, requires = "serve")]
    port: u16,
    /// Address or name of this machine to serve the page at; 0.0.0.0 for all. Unless it is a loopback address, other
    /// machines can connect, with the token in the printed link. For trusted networks only: anyone who listens there can read
    /// the token
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1", requires = "serve", value_parser = host)]
    bind: String,
}

/// An address or a name. An IPv6 address may be in brackets, as in a link. The error is a message for clap.
fn host(text: &str) -> Result<String, &'static str> {
    let inside = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let host = inside.unwrap_or(text);
    let is_address = host.parse::<IpAddr>().is_ok();
    match host {
        "" => Err("expected an address or a name of this machine"),
        _ if host.parse::<SocketAddr>().is_ok() || !is_address && host.contains(':') => {
            Err("expected an address without a port, for which there is --port")
        }
        _ => Ok(host.to_owned()),
    }
}

/// Serves the page until a signal ends it. The device is opened on the thread that plays. An error if the page or the
/// device cannot be had.
pub fn run(flags: &Flags, fps: f64, open: Box<OpenDevice>) -> Result<(), Failure> {
    // Before the page is there, nothing is pressed that would have to be released: a signal just ends us.
    let page = Page::start(&flags.bind, flags.port, fps, open).map_err(failure)?;
    let stop = stop::flag_for_who_holds()?;
    if let Some(device) = page.device() {
        output::note(&format!("playing on {device}"));
    }
    say_now(&format!("listening on {}\n", page.link()))?;
    while !stop.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(20));
    }
    page.stop().map_err(failure)
}

fn failure(error: PageError) -> Failure {
    match error {
        PageError::Listen { .. } => Failure::Usage(error.to_string()),
        PageError::Device(_) | PageError::Random(_) | PageError::Start(_) | PageError::Hangs => {
            Failure::Incomplete(error.to_string())
        }
    }
}
