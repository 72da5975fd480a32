//! Origins: the servers of a recording.

use http::Uri;

/// A server's scheme, host and port. The host is in lower case, and a port that a URL leaves out is 80 or 443: so all
/// URLs of one server have equal origins.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    secure: bool,
    host: String,
    port: u16,
}

impl Origin {
    /// The origin of a URL; `None` if the text is no URL, or its scheme is neither `http` nor `https`.
    pub fn of(url: &str) -> Option<Origin> {
        Origin::of_uri(&url.parse().ok()?)
    }

    pub(crate) fn of_uri(uri: &Uri) -> Option<Origin> {
        let secure = match uri.scheme_str()? {
            "http" => false,
            "https" => true,
            _ => return None,
        };
        let port = uri.port_u16().unwrap_or(if secure { 443 } else { 80 });
        Some(Origin { secure, host: uri.host()?.to_ascii_lowercase(), port })
    }
}

/// Shows the URL without a path, and without the port that its scheme has by default.
impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (scheme, default) = if self.secure { ("https", 443) } else { ("http", 80) };
        write!(f, "{scheme}://{}", self.host)?;
        if self.port != default { write!(f, ":{}", self.port) } else { Ok(()) }
    }
}
