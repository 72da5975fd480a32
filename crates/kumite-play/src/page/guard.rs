//! Who may speak to the server: the page that it served itself, and programs of whoever started it.

use std::net::IpAddr;

use axum::http::header::{CONTENT_TYPE, COOKIE, HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};

use super::PageError;

/// What requests must have.
pub(crate) struct Guard {
    /// Where the server listens.
    address: IpAddr,
    port: u16,
    /// The name that it was bound to, or the address.
    name: String,
    /// None on loopback.
    pub token: Option<String>,
}

/// Why a request is refused.
pub(crate) type Refused = (StatusCode, &'static str);

const NOT_OURS: Refused =
    (StatusCode::FORBIDDEN, "this server is not known by that name; open the link that kumite printed");
const NO_TOKEN: Refused =
    (StatusCode::FORBIDDEN, "the token is missing or wrong; open the link that kumite printed");
const CROSS_SITE: Refused = (StatusCode::FORBIDDEN, "only the page itself may ask this, not another site");
const NOT_JSON: Refused = (StatusCode::UNSUPPORTED_MEDIA_TYPE, "the content type must be application/json");

impl Guard {
    /// With a new token, unless only this machine can connect.
    pub fn new(address: IpAddr, port: u16, name: &str) -> Result<Guard, PageError> {
        let token = if address.is_loopback() { None } else { Some(random_token()?) };
        Ok(Guard { address, port, name: name.to_ascii_lowercase(), token })
    }

    /// Whether the request is to be answered.
    pub fn check(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), Refused> {
        let host = self.host(headers).ok_or(NOT_OURS)?;
        if let Some(token) = &self.token {
            let given = [in_query(uri), self.in_cookie(headers)];
            if !given.into_iter().flatten().any(|given| same(given, token)) {
                return Err(NO_TOKEN);
            }
        }
        // A link on another site may lead to the page; nothing else may come from there.
        let is_page = *method == Method::GET && uri.path() == "/";
        let site = headers.get("sec-fetch-site").is_none_or(|site| site == "same-origin" || site == "none");
        // Every browser sends it with a post; programs that are none need not.
        let origin =
            headers.get(ORIGIN).is_none_or(|origin| origin.as_bytes() == format!("http://{host}").as_bytes());
        if !(is_page || site && origin) {
            return Err(CROSS_SITE);
        }
        // A form cannot send it, and a script of another site not without asking first, which is never granted.
        if *method == Method::POST && !headers.get(CONTENT_TYPE).is_some_and(is_json) {
            return Err(NOT_JSON);
        }
        Ok(())
    }

    /// The host that was asked for, if it is us: a name that somebody else can let point here is none of ours (DNS
    /// rebinding), but an address cannot point elsewhere.
    fn host<'h>(&self, headers: &'h HeaderMap) -> Option<&'h str> {
        let mut hosts = headers.get_all(HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else { return None };
        let given = host.to_str().ok()?;
        let host: Authority = given.parse().ok().filter(|_| !given.contains('@'))?;
        let name = host.host().trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        let ours = if self.address.is_loopback() {
            name == "localhost" || name == "127.0.0.1" || name == "::1"
        } else {
            name.parse::<IpAddr>().is_ok()
        };
        let port = host.port_u16().unwrap_or(80) == self.port;
        (port && (ours || name == self.name)).then_some(given)
    }

    fn in_cookie<'h>(&self, headers: &'h HeaderMap) -> Option<&'h str> {
        let cookies = headers.get_all(COOKIE).iter().filter_map(|cookies| cookies.to_str().ok());
        let mut pairs =
            cookies.flat_map(|cookies| cookies.split(';')).filter_map(|c| c.trim().split_once('='));
        pairs.find(|(name, _)| *name == self.cookie()).map(|(_, token)| token)
    }

    /// Ports of a host share their cookies.
    fn cookie(&self) -> String {
        format!("kumite_{}", self.port)
    }

    /// What the browser is to keep if it came by the link. A cookie, for a header could not be sent with the first
    /// requests for styles and script, and the script could be made to tell it.
    pub fn set_cookie(&self, uri: &Uri) -> Option<HeaderValue> {
        let token = self.token.as_ref().filter(|_| in_query(uri).is_some())?;
        let cookie = format!("{}={token}; Path=/; HttpOnly; SameSite=Strict", self.cookie());
        HeaderValue::from_str(&cookie).ok()
    }
}

/// 128 bits in hex.
fn random_token() -> Result<String, PageError> {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits).map_err(PageError::Random)?;
    Ok(format!("{:032x}", u128::from_be_bytes(bits)))
}

fn in_query(uri: &Uri) -> Option<&str> {
    uri.query()?.split('&').find_map(|pair| pair.strip_prefix("token="))
}

/// In a time that does not tell how much of it was right.
fn same(given: &str, token: &str) -> bool {
    let differences = given.bytes().zip(token.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
    given.len() == token.len() && differences == 0
}

fn is_json(value: &HeaderValue) -> bool {
    let essence = value.to_str().unwrap_or_default().split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/json")
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderName;

    use super::*;

    #[test]
    fn a_name_that_it_was_bound_to_is_ours() {
        let guard = Guard::new("192.0.2.7".parse().unwrap(), 80, "Home.local").unwrap();
        let uri: Uri = format!("/?token={}", guard.token.as_ref().unwrap()).parse().unwrap();
        let check = |host: &str| {
            let host: (HeaderName, HeaderValue) = (HOST, host.parse().unwrap());
            guard.check(&Method::GET, &uri, &HeaderMap::from_iter([host])).is_ok()
        };
        assert!(["home.local:80", "home.local", "HOME.LOCAL", "192.0.2.7"].into_iter().all(check));
        assert!(
            !["localhost", "local", "home.local.", "home.local:81", "x.home.local"].into_iter().any(check)
        );
    }
}
