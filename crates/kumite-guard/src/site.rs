//! The check that tells requests for this server from those that another site's page makes a browser send.
//!
//! A server on a developer's machine is reachable by every page that the developer's browser shows. Two attacks
//! follow. A page of another site sends a request here: browsers then name that site in `Origin` or `Sec-Fetch-Site`,
//! and it is refused. Or the other site's *name* is made to lead here (DNS rebinding), so that the browser takes the
//! page for this server's: then `Host` has that name, and only names that cannot be made to lead elsewhere are
//! accepted. Programs send none of these headers but `Host`, and are served.

use std::net::{IpAddr, SocketAddr};

use axum::http::HeaderMap;
use axum::http::header::{HOST, ORIGIN};
use axum::http::uri::Authority;

/// A server, with the address and the name by which clients may ask for it.
#[derive(Clone, Debug)]
pub struct Site {
    address: IpAddr,
    port: u16,
    name: String,
}

/// The reason why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The request does not say in exactly one `Host` header that it is for this server. A name that somebody else
    /// could make lead here is refused; so is another port, with a name for which ports count.
    #[error("this server is not known by that name; ask for its address")]
    NotOurs,
    /// The request comes from a page of another site.
    #[error("only this server's own page and programs may ask this, not another site")]
    CrossSite,
}

impl Site {
    /// The server that listens on `listens`, and was bound to `name`, a name or an address.
    pub fn new(listens: SocketAddr, name: &str) -> Site {
        Site { address: listens.ip(), port: listens.port(), name: name.to_ascii_lowercase() }
    }

    /// Refuses a request that is not for this server, or that comes from another site.
    pub fn check(&self, headers: &HeaderMap) -> Result<(), Refused> {
        let host = self.host(headers)?;
        if is_from_us(host, headers) { Ok(()) } else { Err(Refused::CrossSite) }
    }

    /// The host that was asked for, as the header has it; an error if it is not this server. On loopback, `localhost`
    /// and loopback addresses are this server's. Otherwise any address is, since an address cannot be made to lead
    /// elsewhere. The name that the server was bound to always is.
    pub fn host<'h>(&self, headers: &'h HeaderMap) -> Result<&'h str, Refused> {
        let mut hosts = headers.get_all(HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else { return Err(Refused::NotOurs) };
        let given = host.to_str().map_err(|_| Refused::NotOurs)?;
        let is_ours = |host: &Authority| {
            let name = host.host().trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
            let address = name.parse::<IpAddr>().ok();
            if host.port_u16().is_none() && host.as_str() != host.host() {
                return false;
            }
            // Through a forwarded port another number is asked for. No other site can have these names, whatever the
            // port; and a page of another port of this machine is told by its origin.
            if self.address.is_loopback() && (name == "localhost" || address.is_some_and(|a| a.is_loopback()))
            {
                return true;
            }
            let by_address = !self.address.is_loopback() && address.is_some();
            host.port_u16().unwrap_or(80) == self.port && (by_address || name == self.name)
        };
        match given.parse::<Authority>() {
            Ok(host) if !given.contains('@') && is_ours(&host) => Ok(given),
            _ => Err(Refused::NotOurs),
        }
    }
}

/// True if the request comes from a program, or from a page that this host served. Every browser sends the origin
/// with a POST, and newer ones send the site with every request; programs send neither.
pub(crate) fn is_from_us(host: &str, headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site").is_none_or(|site| site == "same-origin" || site == "none");
    let origin =
        headers.get(ORIGIN).is_none_or(|origin| origin.as_bytes() == format!("http://{host}").as_bytes());
    site && origin
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};

    use super::*;

    fn check(site: &Site, headers: &[(&str, &str)]) -> Result<(), Refused> {
        let parsed = headers.iter().map(|(name, value)| -> (HeaderName, HeaderValue) {
            (name.parse().unwrap(), value.parse().unwrap())
        });
        let mut map = HeaderMap::new();
        for (name, value) in parsed {
            map.append(name, value);
        }
        site.check(&map)
    }

    #[test]
    fn on_loopback_only_names_that_point_there_by_definition_are_ours() {
        let site = Site::new("127.0.0.1:80".parse().unwrap(), "127.0.0.1");
        for host in ["localhost", "127.0.0.1", "127.0.0.2", "[::1]", "LOCALHOST:80"] {
            assert_eq!(check(&site, &[("host", host)]), Ok(()), "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:80",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "192.0.2.7",
            "0.0.0.0",
            "a@localhost",
            "localhost:x",
            "localhost:99999",
            "",
        ] {
            assert_eq!(check(&site, &[("host", host)]), Err(Refused::NotOurs), "{host}");
        }
        assert_eq!(check(&site, &[]), Err(Refused::NotOurs));
        assert_eq!(check(&site, &[("host", "localhost"), ("host", "localhost")]), Err(Refused::NotOurs));
    }

    #[test]
    fn a_name_that_it_was_bound_to_is_ours() {
        let site = Site::new("192.0.2.7:80".parse().unwrap(), "Home.local");
        for host in ["home.local:80", "home.local", "HOME.LOCAL", "192.0.2.7"] {
            assert_eq!(check(&site, &[("host", host)]), Ok(()), "{host}");
        }
        for host in ["localhost", "local", "home.local.", "home.local:81", "x.home.local"] {
            assert_eq!(check(&site, &[("host", host)]), Err(Refused::NotOurs), "{host}");
        }
    }

    #[test]
    fn on_loopback_a_port_may_have_been_forwarded() {
        let site = Site::new("127.0.0.1:9001".parse().unwrap(), "127.0.0.1");
        for host in ["localhost:8000", "localhost", "127.0.0.1:8000", "127.0.0.1", "[::1]:8000", "[::1]"] {
            assert_eq!(check(&site, &[("host", host)]), Ok(()), "{host}");
            let own = format!("http://{host}");
            assert_eq!(check(&site, &[("host", host), ("origin", &own)]), Ok(()), "{host}");
            // Two servers of one machine: a page of the one asks the other.
            for (name, other) in [("origin", "http://localhost:3000"), ("sec-fetch-site", "same-site")] {
                let found = check(&site, &[("host", host), (name, other)]);
                assert_eq!(found, Err(Refused::CrossSite), "{host} {other}");
            }
        }
    }

    #[test]
    fn a_page_of_another_site_is_refused() {
        let site = Site::new("127.0.0.1:8080".parse().unwrap(), "127.0.0.1");
        let from = |name, value| check(&site, &[("host", "localhost:8080"), (name, value)]);
        assert_eq!(from("origin", "http://localhost:8080"), Ok(()));
        assert_eq!(from("sec-fetch-site", "same-origin"), Ok(()));
        assert_eq!(from("sec-fetch-site", "none"), Ok(()));
        for origin in ["http://evil.example", "https://localhost:8080", "http://localhost:8081", "null"] {
            assert_eq!(from("origin", origin), Err(Refused::CrossSite), "{origin}");
        }
        for other in ["cross-site", "same-site"] {
            assert_eq!(from("sec-fetch-site", other), Err(Refused::CrossSite), "{other}");
        }
    }
}
