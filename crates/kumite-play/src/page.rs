//! The page: a server that plays what its page, or a program, asks for.
//!
//! `POST /play {"macro": …, "replace": false}` and `POST /press {"keys": "2,mk"}` are answered with 202 and the
//! number of the play; with 400 and a message, and with line and column if the macro is at fault; or with 409 while a
//! macro plays that is not to be replaced, or too many presses wait. `POST /stop` ends what plays. `GET /status` says
//! what plays, on which device, and the outcome of the last play.

mod api;
mod guard;
mod playing;
#[cfg(test)]
mod tests;

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use kumite_guard::Limits;
use tokio::runtime::Builder;
use tokio::sync::Notify;

use crate::{OpenDevice, OpenError};
use api::App;
use guard::Guard;
use playing::{PlayerThread, Playing};

/// The time that a device has to be released at the end.
const PATIENCE: Duration = Duration::from_secs(3);
/// The longest time for the body of a request.
const BODY: Duration = Duration::from_secs(10);
/// The time from one look at the threads to the next, until they have ended.
const LOOK: Duration = Duration::from_millis(5);

/// A server of the page. It serves until it is stopped or dropped; then everything is released.
pub struct Page {
    link: String,
    device: Option<String>,
    playing: Arc<Playing>,
    stop: Arc<Notify>,
    threads: Vec<JoinHandle<()>>,
    patience: Duration,
}

/// The reason why there is no page, or why it did not end well.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// The server cannot listen on the address and port.
    #[error("cannot listen on {host}, port {port}: {source}")]
    Listen {
        /// The address or name, as it was given.
        host: String,
        /// The port, as it was given.
        port: u16,
        /// The error of the system.
        source: io::Error,
    },
    /// The device cannot be opened.
    #[error("{0}")]
    Device(OpenError),
    /// The system gives no random bytes for a token.
    #[error("cannot make a token: {0}")]
    Random(getrandom::Error),
    /// A thread or its runtime cannot be started, or the opening of the device panicked.
    #[error("cannot start: {0}")]
    Start(io::Error),
    /// The device has not let go 3 s after the page was to end: what is pressed may stay pressed.
    #[error("the device takes nothing more: what is pressed may stay pressed")]
    Hangs,
}

impl Page {
    /// Listens on an address or name of this machine (port 0: any that is free) and opens the device. Requests need a
    /// token, which [`Page::link`] has, unless only this machine can connect to the address.
    pub fn start(host: &str, port: u16, fps: f64, open: Box<OpenDevice>) -> Result<Page, PageError> {
        let listen = |source| PageError::Listen { host: host.to_owned(), port, source };
        let listener = TcpListener::bind((host, port)).map_err(listen)?;
        listener.set_nonblocking(true).map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let runtime = Builder::new_current_thread().enable_all().build().map_err(PageError::Start)?;
        let guard = Guard::new(address, host)?;
        let link = link(host, address, guard.token.as_deref());
        let PlayerThread { playing, thread: player, device } = Playing::start(open, fps)?;
        let stop = Arc::new(Notify::new());
        let mut page = Page {
            link,
            device: device.clone(),
            playing: Arc::clone(&playing),
            stop: Arc::clone(&stop),
            threads: vec![player],
            patience: PATIENCE,
        };
        let app = Arc::new(App { guard, playing, fps, device });
        let serve = async move {
            let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
            tokio::select! {
                () = serve(listener, app) => {}
                () = stop.notified() => {}
            }
        };
        let thread = std::thread::Builder::new().name("kumite-page".to_owned());
        let server = thread.spawn(move || runtime.block_on(serve)).map_err(PageError::Start)?;
        page.threads.push(server);
        Ok(page)
    }

    /// The address to open in a browser, with the token if one is needed.
    pub fn link(&self) -> &str {
        &self.link
    }

    /// The description of the device from its first opening; none if the device gave none.
    pub fn device(&self) -> Option<&str> {
        self.device.as_deref()
    }

    /// Releases everything, and ends the server. An error if the device has not let go within 3 s.
    pub fn stop(mut self) -> Result<(), PageError> {
        self.end()
    }

    fn end(&mut self) -> Result<(), PageError> {
        self.playing.end();
        self.stop.notify_one();
        let asked = Instant::now();
        while self.threads.iter().any(|thread| !thread.is_finished()) {
            if asked.elapsed() > self.patience {
                self.threads.clear();
                return Err(PageError::Hangs);
            }
            std::thread::sleep(LOOK);
        }
        Ok(())
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

async fn serve(listener: tokio::net::TcpListener, app: Arc<App>) {
    let limits = Limits { body: BODY, ..Limits::default() };
    kumite_guard::serve(listener, api::routes(app), limits, |_| {}).await;
}

fn link(host: &str, address: SocketAddr, token: Option<&str>) -> String {
    let host = match address.ip() {
        ip if ip.is_unspecified() => reached_by(ip).to_string(),
        _ => host.to_owned(),
    };
    let host = if host.contains(':') { format!("[{host}]") } else { host };
    let query = token.map(|token| format!("?token={token}")).unwrap_or_default();
    format!("http://{host}:{}/{query}", address.port())
}

/// The address by which others probably reach this machine: the one that it would send from. Nothing is sent.
fn reached_by(any: IpAddr) -> IpAddr {
    // Addresses for documentation: nobody has them.
    let (elsewhere, loopback): (IpAddr, IpAddr) = match any {
        IpAddr::V4(_) => (Ipv4Addr::new(192, 0, 2, 1).into(), Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(_) => (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1).into(), Ipv6Addr::LOCALHOST.into()),
    };
    let towards = |socket: UdpSocket| {
        socket.connect((elsewhere, 9))?;
        socket.local_addr()
    };
    UdpSocket::bind((any, 0)).and_then(towards).map_or(loopback, |address| address.ip())
}
