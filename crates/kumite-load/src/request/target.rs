//! Targets of a load: URLs, resolved once, so that no request pays for a name look-up.

use std::net::{Ipv6Addr, SocketAddr, TcpStream, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use http::Uri;
use http::uri::{Authority, PathAndQuery, Scheme};
use rustix::io::Errno;
use rustix::net::addr::SocketAddrArg;
use rustix::net::{AddressFamily, SocketAddrAny, SocketAddrUnix, SocketFlags, SocketType, sockopt};

/// The time for which an address is tried alone, before the next one is tried beside it.
const HEAD_START: Duration = Duration::from_millis(250);
/// The longest time for which an address is tried.
const PATIENCE: Duration = Duration::from_secs(2);

/// An address to connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// An IP address with a TCP port.
    Tcp(SocketAddr),
    /// The path of a Unix socket.
    Unix(PathBuf),
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Address::Tcp(address) => address.fmt(f),
            Address::Unix(path) => path.display().fmt(f),
        }
    }
}

impl Address {
    /// A new socket for a connection to this address. It does not block, and sends small messages at once.
    pub(crate) fn socket(&self) -> Result<OwnedFd, Errno> {
        let family = match self {
            Address::Tcp(SocketAddr::V4(_)) => AddressFamily::INET,
            Address::Tcp(SocketAddr::V6(_)) => AddressFamily::INET6,
            Address::Unix(_) => AddressFamily::UNIX,
        };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
        if let Address::Tcp(_) = self {
            sockopt::set_tcp_nodelay(&socket, true)?;
        }
        Ok(socket)
    }

    /// The address in the form that the kernel takes.
    pub(crate) fn any(&self) -> Result<SocketAddrAny, Errno> {
        Ok(match self {
            Address::Tcp(address) => SocketAddrAny::from(*address),
            Address::Unix(path) => SocketAddrUnix::new(path)?.as_any(),
        })
    }
}

impl From<SocketAddr> for Address {
    fn from(address: SocketAddr) -> Address {
        Address::Tcp(address)
    }
}

/// A resolved `http://` or `https://` URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The address to connect to.
    pub address: Address,
    /// `true` if the server is spoken to in TLS.
    pub secure: bool,
    /// Host and port as the URL has them: the value of the `Host` header. The host alone is the name that a
    /// certificate must be for.
    pub authority: Authority,
    /// The path with its query; it starts with `/`, and has no fragment.
    pub path: String,
}

/// The reason why a URL is no target.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The text has no `scheme://` at the front.
    #[error("{url:?} is not a URL: write http://host[:port]/path or https://…")]
    NotAUrl {
        /// The text that was given.
        url: String,
    },
    /// The scheme is neither `http` nor `https`.
    #[error("{url:?}: the scheme {scheme:?} is not supported, only http and https are")]
    Scheme {
        /// The text that was given.
        url: String,
        /// The scheme in the text.
        scheme: String,
    },
    /// There is no host, or the text in its place cannot be one.
    #[error("{url:?}: the host {host:?} is not a name, an IPv4 address or an IPv6 address in brackets")]
    Host {
        /// The text that was given.
        url: String,
        /// The host in the text.
        host: String,
    },
    /// The port is not a number from 1 to 65535.
    #[error("{url:?}: the port {port:?} is not a number from 1 to 65535")]
    Port {
        /// The text that was given.
        url: String,
        /// The port in the text.
        port: String,
    },
    /// There is a `user:password@` in front of the host.
    #[error("{url:?}: a user name in the URL is not supported, send an Authorization header")]
    UserInfo {
        /// The text that was given.
        url: String,
    },
    /// The path or query has a character that a URL must not have.
    #[error("{url:?}: the path holds {found:?}, write it percent-encoded")]
    Path {
        /// The text that was given.
        url: String,
        /// The first character that a URL must not have.
        found: char,
    },
    /// The URL has more than 65,534 bytes.
    #[error("the URL has {bytes} bytes, which is too long: send what it says in a header or in the body")]
    TooLong {
        /// The URL's length in bytes.
        bytes: usize,
    },
    /// The host could not be looked up, or has no address.
    #[error(
        "{url:?}: cannot resolve {host:?}: {}",
        .source.as_ref().map_or_else(|| "it has no address".to_owned(), ToString::to_string)
    )]
    Resolve {
        /// The text that was given.
        url: String,
        /// The host that was looked up.
        host: String,
        /// The resolver's error; `None` if it gave neither an error nor an address.
        source: Option<std::io::Error>,
    },
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let scheme = if self.secure { "https" } else { "http" };
        write!(f, "{scheme}://{}{}", self.authority, self.path)
    }
}

impl Target {
    /// The target of `http://ADDRESS/`, without TLS.
    pub fn plain(address: SocketAddr) -> Target {
        Target {
            address: address.into(),
            secure: false,
            authority: address.to_string().parse().expect("an address and a port are an authority"),
            path: "/".to_owned(),
        }
    }

    /// Parses `http://host[:port][/path][?query]`, or the same with `https`, and resolves the host. An error if the
    /// text is no such URL, or the host has no address.
    ///
    /// If a name has several addresses, they are tried, IPv4 before IPv6, for some seconds at most. The target has the
    /// first address that takes a connection; if none does, it has the first of all. `http://[::1]:8080/` asks for
    /// IPv6.
    pub fn parse(url: &str) -> Result<Target, TargetError> {
        Target::read(url, None)
    }

    /// Parses a URL as [`parse`](Self::parse) does, for connecting to this address. The host is not resolved. An error
    /// if the text is no such URL.
    pub fn at(url: &str, address: Address) -> Result<Target, TargetError> {
        Target::read(url, Some(address))
    }

    fn read(url: &str, address: Option<Address>) -> Result<Target, TargetError> {
        let own = || url.to_owned();
        let uri: Uri = url.parse().map_err(|_| refused(url))?;
        let (Some(scheme), Some(authority)) = (uri.scheme(), uri.authority()) else {
            return Err(TargetError::NotAUrl { url: own() });
        };
        let secure = *scheme == Scheme::HTTPS;
        if !secure && *scheme != Scheme::HTTP {
            return Err(TargetError::Scheme { url: own(), scheme: scheme.to_string() });
        }
        if authority.as_str().contains('@') {
            return Err(TargetError::UserInfo { url: own() });
        }
        let host = authority.host();
        let bare = bare(host);
        // `Uri` takes all of `$&'()*+,;=~` in a name, and anything in brackets and behind them.
        let is_host = if bare == host { is_name(host) } else { bare.parse::<Ipv6Addr>().is_ok() };
        let after = &authority.as_str()[host.len()..];
        if !is_host || !(after.is_empty() || after.starts_with(':')) {
            return Err(TargetError::Host { url: own(), host: host.to_owned() });
        }
        let port = match after.strip_prefix(':') {
            None if secure => 443,
            None => 80,
            // `Uri` takes any text for a port, and has none if it is no number; and it takes 0 and a sign.
            Some(digits) => authority
                .port_u16()
                .filter(|&port| port != 0 && !digits.starts_with('+'))
                .ok_or_else(|| TargetError::Port { url: own(), port: digits.to_owned() })?,
        };
        let path = uri.path_and_query().map_or("/", PathAndQuery::as_str);
        // `Uri` takes UTF-8 as it is; not every server does.
        if let Some(found) = path.chars().find(|c| !c.is_ascii()) {
            return Err(TargetError::Path { url: own(), found });
        }
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        let address = match address {
            Some(address) => address,
            None => resolved(url, bare, port)?.into(),
        };
        Ok(Target { address, secure, authority: authority.clone(), path })
    }

    /// The host's name or address, without port and brackets.
    pub fn host(&self) -> &str {
        bare(self.authority.host())
    }
}

fn resolved(url: &str, host: &str, port: u16) -> Result<SocketAddr, TargetError> {
    let unresolved = |source| TargetError::Resolve { url: url.to_owned(), host: host.to_owned(), source };
    let mut addresses: Vec<SocketAddr> =
        (host, port).to_socket_addrs().map_err(|error| unresolved(Some(error)))?.collect();
    addresses.sort_by_key(SocketAddr::is_ipv6);
    addresses.dedup();
    let first = addresses.first().copied().ok_or_else(|| unresolved(None))?;
    Ok(if addresses.len() == 1 { first } else { answering(&addresses).unwrap_or(first) })
}

/// The first of several addresses that takes a connection; `None` if none does. Each address has a head start before
/// the next one is tried as well (RFC 8305), so that one that does not answer does not keep the next waiting.
fn answering(addresses: &[SocketAddr]) -> Option<SocketAddr> {
    let (send, receive) = mpsc::channel();
    let mut waits = 0;
    let mut next = addresses.iter().copied();
    loop {
        if let Some(address) = next.next() {
            let send = send.clone();
            waits += 1;
            std::thread::spawn(move || {
                let taken = TcpStream::connect_timeout(&address, PATIENCE).is_ok();
                let _ = send.send(taken.then_some(address));
            });
        } else if waits == 0 {
            return None;
        }
        let head_start = if next.len() > 0 { HEAD_START } else { PATIENCE };
        match receive.recv_timeout(head_start) {
            Ok(Some(address)) => return Some(address),
            Ok(None) => waits -= 1,
            Err(_) if next.len() == 0 => return None,
            Err(_) => {}
        }
    }
}

/// `true` if this path is too long for a Unix socket.
pub(crate) fn is_too_long(path: &Path) -> bool {
    SocketAddrUnix::new(path) == Err(Errno::NAMETOOLONG)
}

/// The error that names the wrong part of a URL. [`Uri`] says only that some part is wrong.
fn refused(url: &str) -> TargetError {
    let own = || url.to_owned();
    let Some((scheme, rest)) = url.split_once("://") else { return TargetError::NotAUrl { url: own() } };
    if !["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
        return TargetError::Scheme { url: own(), scheme: scheme.to_owned() };
    }
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    if authority.parse::<Authority>().is_err() {
        return TargetError::Host { url: own(), host: authority.to_owned() };
    }
    match path.chars().find(|c| !c.is_ascii_graphic() || "\"<>`".contains(*c)) {
        Some(found) => TargetError::Path { url: own(), found },
        None => TargetError::TooLong { bytes: url.len() },
    }
}

fn bare(host: &str) -> &str {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

fn is_name(host: &str) -> bool {
    !host.is_empty() && host.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_of_http_or_https_is_a_target() {
        for (url, addr, authority, host, path) in [
            ("http://127.0.0.1", "127.0.0.1:80", "127.0.0.1", "127.0.0.1", "/"),
            (
                "http://127.0.0.1:8080/a/b?c=d&e",
                "127.0.0.1:8080",
                "127.0.0.1:8080",
                "127.0.0.1",
                "/a/b?c=d&e",
            ),
            ("HTTP://127.0.0.1?q", "127.0.0.1:80", "127.0.0.1", "127.0.0.1", "/?q"),
            ("http://127.0.0.1/x#part", "127.0.0.1:80", "127.0.0.1", "127.0.0.1", "/x"),
            ("http://127.0.0.1#part", "127.0.0.1:80", "127.0.0.1", "127.0.0.1", "/"),
            (
                "http://127.0.0.1/{{id}}?{{seq}}|",
                "127.0.0.1:80",
                "127.0.0.1",
                "127.0.0.1",
                "/{{id}}?{{seq}}|",
            ),
            ("http://127.0.0.1/a:b", "127.0.0.1:80", "127.0.0.1", "127.0.0.1", "/a:b"),
            ("http://[::1]:9/x", "[::1]:9", "[::1]:9", "::1", "/x"),
            ("http://[::1]", "[::1]:80", "[::1]", "::1", "/"),
            ("http://localhost:81/", "127.0.0.1:81", "localhost:81", "localhost", "/"),
            ("https://127.0.0.1/x", "127.0.0.1:443", "127.0.0.1", "127.0.0.1", "/x"),
            ("https://[::1]:444", "[::1]:444", "[::1]:444", "::1", "/"),
        ] {
            let address = Address::Tcp(addr.parse().unwrap());
            let secure = url.starts_with("https");
            let expected =
                Target { address, secure, authority: authority.parse().unwrap(), path: path.into() };
            assert_eq!(Target::parse(url).unwrap(), expected, "{url}");
            assert_eq!(expected.host(), host);
        }
    }

    #[test]
    fn a_url_that_is_no_target_is_refused_by_its_wrong_part() {
        for (url, message) in [
            ("localhost:80", "is not a URL"),
            ("", "is not a URL"),
            ("/x", "is not a URL"),
            ("http", "is not a URL"),
            ("http:/a", "is not a URL"),
            ("ftp://localhost/", "only http and https"),
            ("://localhost/", "only http and https"),
            ("a b://localhost/", "the scheme \"a b\""),
            ("http:///x", "the host \"\""),
            ("http://::1/", "the host"),
            ("http://[::1/", "the host"),
            ("http://[localhost]/", "the host"),
            ("http://[v1.x]/", "the host \"[v1.x]\""),
            ("http://[::1]x/", "the host"),
            ("http://a b/", "the host \"a b\""),
            ("http://ü/", "the host \"ü\""),
            ("http://%61/", "the host"),
            ("http://a$b/", "the host \"a$b\""),
            ("http://a:1:2/", "the host"),
            ("http://:80/", "the host \"\""),
            ("http://a:0/", "the port \"0\""),
            ("http://a:65536/", "the port \"65536\""),
            ("http://a:x/", "the port \"x\""),
            ("http://a:+80/", "the port"),
            ("http://a:/", "the port \"\""),
            ("http://me@a/", "user name"),
            ("http://a/x y", "percent-encoded"),
            ("http://a/x\r\nHost: b", "percent-encoded"),
            ("http://me:you@a/", "user name"),
            ("http://a/ü", "the path holds 'ü', write it percent-encoded"),
            ("http://a/?ü", "the path holds 'ü', write it percent-encoded"),
            ("http://a/?x=\"y\"", "the path holds '\"', write it percent-encoded"),
            (&format!("http://a/{}", "x".repeat(66_000)), "66009 bytes"),
        ] {
            let error = Target::parse(url).unwrap_err().to_string();
            assert!(error.contains(message), "{url}: {error}");
        }
    }
}
