//! The readiness of a command as a service, and how it is recognized.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddrV4, TcpStream};
use std::path::Path;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::unfit::Unfit;

/// The longest time that one look may take.
const LOOK_LIMIT: Duration = Duration::from_secs(1);

/// The sign by which a command shows that it is ready.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(try_from = "Keys")]
#[schemars(with = "Keys")]
pub(super) enum Ready {
    /// The command takes connections on its port.
    Tcp,
    /// The command answers a GET of this path with 2xx.
    Http(String),
    /// The command has written a line with this text.
    Line(String),
}

/// The sign that the command is ready; exactly one of these keys.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { tcp = true }")]
#[schemars(rename = "ServiceReady")]
struct Keys {
    /// Ready once it takes connections on its port.
    tcp: Option<bool>,
    /// Ready once a GET of this path on its port is answered with 2xx.
    http: Option<String>,
    /// Ready once a line of its output has this text in it.
    line: Option<String>,
}

impl TryFrom<Keys> for Ready {
    type Error = Unfit;

    fn try_from(keys: Keys) -> Result<Ready, Unfit> {
        match keys {
            Keys { tcp: Some(true), http: None, line: None } => Ok(Ready::Tcp),
            Keys { tcp: None, http: Some(path), line: None } => {
                let is_path = path.starts_with('/') && path.chars().all(|c| c.is_ascii_graphic());
                if is_path {
                    Ok(Ready::Http(path))
                } else {
                    Err(Unfit::new(format!("write a path from / on, not '{path}'")))
                }
            }
            Keys { tcp: None, http: None, line: Some(text) } => {
                let is_line = !text.is_empty() && !text.contains('\n');
                if is_line { Ok(Ready::Line(text)) } else { Err(Unfit::new("write a text of one line")) }
            }
            _ => Err(Unfit::new("write one of { tcp = true }, { http = \"/path\" } and { line = \"text\" }")),
        }
    }
}

/// A watch on a command that looks again and again whether it is ready.
pub(super) struct Watch<'a> {
    ready: &'a Ready,
    address: SocketAddrV4,
    output: Output<'a>,
}

impl<'a> Watch<'a> {
    /// Watches a command that listens at `address` and whose output goes to `log`.
    pub fn new(ready: &'a Ready, address: SocketAddrV4, log: &'a Path) -> Watch<'a> {
        Watch { ready, address, output: Output { log, file: None, unfinished: Vec::new() } }
    }

    pub fn is_ready(&mut self) -> bool {
        match self.ready {
            Ready::Tcp => connect(self.address).is_ok(),
            Ready::Http(path) => get(self.address, path).is_ok_and(|status| status / 100 == 2),
            Ready::Line(text) => self.output.has(text).unwrap_or(false),
        }
    }
}

fn connect(address: SocketAddrV4) -> io::Result<TcpStream> {
    TcpStream::connect_timeout(&address.into(), LOOK_LIMIT)
}

/// The HTTP status of the answer to a GET. The body is not waited for.
fn get(address: SocketAddrV4, path: &str) -> io::Result<u16> {
    let mut stream = connect(address)?;
    stream.set_read_timeout(Some(LOOK_LIMIT))?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut line = String::new();
    BufReader::new(stream).take(1024).read_line(&mut line)?;
    let status = line.strip_prefix("HTTP/1.").and_then(|rest| rest.split(' ').nth(1)?.trim().parse().ok());
    status.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
}

/// The output of a command, read as it comes.
struct Output<'a> {
    log: &'a Path,
    /// The log, from where it was read last. None before it could be opened.
    file: Option<File>,
    /// The bytes of the last line, which has no end yet.
    unfinished: Vec<u8>,
}

impl Output<'_> {
    /// True if the text was written since the last look, or completes a line that had no end then.
    fn has(&mut self, text: &str) -> io::Result<bool> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(File::open(self.log)?),
        };
        file.read_to_end(&mut self.unfinished)?;
        let found = String::from_utf8_lossy(&self.unfinished).contains(text);
        let finished =
            self.unfinished.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        self.unfinished.drain(..finished);
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn watch(ready: &Ready, port: u16) -> bool {
        let address = SocketAddrV4::new(std::net::Ipv4Addr::LOCALHOST, port);
        Watch::new(ready, address, Path::new("none")).is_ready()
    }

    #[test]
    fn a_port_is_ready_once_somebody_listens() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(watch(&Ready::Tcp, port));
        drop(listener);
        assert!(!watch(&Ready::Tcp, port));
    }

    #[test]
    fn an_answer_of_2xx_alone_is_ready() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let answers = ["HTTP/1.1 503 Starting\r\n\r\n", "nonsense\r\n", "HTTP/1.0 204 No Content\r\n\r\n"];
        let server = std::thread::spawn(move || {
            answers.map(|answer| {
                let (stream, _) = listener.accept().unwrap();
                let mut asked = String::new();
                let mut reader = BufReader::new(&stream);
                while !asked.ends_with("\r\n\r\n") {
                    reader.read_line(&mut asked).unwrap();
                }
                (&stream).write_all(answer.as_bytes()).unwrap();
                asked
            })
        });
        let ready = Ready::Http("/health".into());
        assert_eq!(answers.map(|_| watch(&ready, port)), [false, false, true]);
        assert_eq!(server.join().unwrap()[0].lines().next(), Some("GET /health HTTP/1.1"));
    }

    #[test]
    fn a_line_is_found_although_it_comes_in_parts() {
        let log = tempfile::NamedTempFile::new().unwrap();
        let mut output = Output { log: log.path(), file: None, unfinished: Vec::new() };
        let mut says = |text: &str| {
            log.as_file().write_all(text.as_bytes()).unwrap();
            output.has("ready now").unwrap()
        };
        assert!(!says("starting\nrea"));
        assert!(!says("dy n"));
        assert!(says("ow, really\n"));
        assert!(!says("more\n"));
    }
}
