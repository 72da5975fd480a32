//! The guard of the page's server: it admits the page that the server served, and programs: all of this machine if
//! nobody else can connect, else those that have the token.

use std::net::SocketAddr;

use axum::http::header::{CONTENT_TYPE, COOKIE};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};

use kumite_guard::Site;

use super::PageError;

/// The names, and the token, that requests must have.
pub(crate) struct Guard {
    site: Site,
    port: u16,
    /// The token; none if only this machine can connect.
    pub token: Option<String>,
}

/// The status and the message of a refusal.
pub(crate) type Refused = (StatusCode, &'static str);

const NOT_OURS: Refused =
    (StatusCode::FORBIDDEN, "this server is not known by that name; open the link that kumite printed");
const NO_TOKEN: Refused =
    (StatusCode::FORBIDDEN, "the token is missing or wrong; open the link that kumite printed");
const CROSS_SITE: Refused = (StatusCode::FORBIDDEN, "only the page itself may ask this, not another site");
const NOT_JSON: Refused = (StatusCode::UNSUPPORTED_MEDIA_TYPE, "the content type must be application/json");

impl Guard {
    /// A guard with a new random token; without a token if only this machine can connect. An error if the system gives
    /// no random bytes.
    pub fn new(listens: SocketAddr, name: &str) -> Result<Guard, PageError> {
        let token = if listens.ip().is_loopback() { None } else { Some(random_token()?) };
        Ok(Guard { site: Site::new(listens, name), port: listens.port(), token })
    }

    /// Refuses a request for another host name, without the token, or from another site (but for a link to the page),
    /// and a POST that is not JSON.
    pub fn check(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), Refused> {
        let from_us = self.site.check(headers);
        if from_us == Err(kumite_guard::Refused::NotOurs) {
            return Err(NOT_OURS);
        }
        if let Some(token) = &self.token {
            let given = [in_query(uri), self.in_cookie(headers)];
            if !given.into_iter().flatten().any(|given| same(given, token)) {
                return Err(NO_TOKEN);
            }
        }
        // A link on another site may lead to the page; nothing else may come from there.
        let is_page = *method == Method::GET && uri.path() == "/";
        if !is_page && from_us.is_err() {
            return Err(CROSS_SITE);
        }
        // A form cannot send this content type. A script of another site must ask before it sends it, which is never
        // granted.
        if *method == Method::POST && !headers.get(CONTENT_TYPE).is_some_and(is_json) {
            return Err(NOT_JSON);
        }
        Ok(())
    }

    fn in_cookie<'h>(&self, headers: &'h HeaderMap) -> Option<&'h str> {
        let cookies = headers.get_all(COOKIE).iter().filter_map(|cookies| cookies.to_str().ok());
        let mut pairs =
            cookies.flat_map(|cookies| cookies.split(';')).filter_map(|c| c.trim().split_once('='));
        pairs.find(|(name, _)| *name == self.cookie()).map(|(_, token)| token)
    }

    /// The name of the cookie. The port is in it, since the ports of a host share their cookies.
    fn cookie(&self) -> String {
        format!("kumite_{}", self.port)
    }

    /// The cookie that a browser is to keep if it came by the link; none if it did not, or if no token is needed. A
    /// header would not do instead of a cookie: it could not be sent with the first requests for styles and script,
    /// and the script could be made to tell it.
    pub fn set_cookie(&self, uri: &Uri) -> Option<HeaderValue> {
        let token = self.token.as_ref().filter(|_| in_query(uri).is_some())?;
        let cookie = format!("{}={token}; Path=/; HttpOnly; SameSite=Strict", self.cookie());
        HeaderValue::from_str(&cookie).ok()
    }
}

/// A new token: 128 random bits, in hexadecimal.
fn random_token() -> Result<String, PageError> {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits).map_err(PageError::Random)?;
    Ok(format!("{:032x}", u128::from_be_bytes(bits)))
}

fn in_query(uri: &Uri) -> Option<&str> {
    uri.query()?.split('&').find_map(|pair| pair.strip_prefix("token="))
}

/// True if both are the same. The comparison takes equally long, however much of it is right.
fn same(given: &str, token: &str) -> bool {
    let differences = given.bytes().zip(token.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
    given.len() == token.len() && differences == 0
}

fn is_json(value: &HeaderValue) -> bool {
    let essence = value.to_str().unwrap_or_default().split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/json")
}
