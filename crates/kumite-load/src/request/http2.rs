//! Requests in the form that HTTP/2 needs, made from their bytes in HTTP/1.1.

use bytes::Bytes;
use http::uri::{Authority, PathAndQuery, Scheme};

/// A request in the form that HTTP/2 needs.
#[derive(Debug, Clone)]
pub(crate) struct Http2Request {
    pub head: http::Request<()>,
    pub body: Bytes,
}

impl Http2Request {
    /// Parses the bytes of a request in HTTP/1.1, as [`crate::Request`] makes them. `None` if it holds something that
    /// HTTP/2 cannot express.
    pub fn parse(bytes: &[u8], secure: bool) -> Option<Http2Request> {
        let end = memchr::memmem::find(bytes, b"\r\n\r\n")?;
        let (head, body) = (&bytes[..end], &bytes[end + 4..]);
        let (first, mut rest) = split(head, b"\r\n");
        let (method, path) = split(first, b" ");
        let path = path.strip_suffix(b" HTTP/1.1")?;
        let mut request = http::Request::new(());
        *request.method_mut() = http::Method::from_bytes(method).ok()?;
        let mut authority = None;
        while !rest.is_empty() {
            let (line, after) = split(rest, b"\r\n");
            rest = after;
            let (name, value) = split(line, b": ");
            if name.eq_ignore_ascii_case(b"host") {
                authority = Some(Authority::try_from(value).ok()?);
                continue;
            }
            let name = http::HeaderName::from_bytes(name).ok()?;
            request.headers_mut().append(name, http::HeaderValue::from_bytes(value).ok()?);
        }
        let mut uri = http::uri::Parts::default();
        uri.scheme = Some(if secure { Scheme::HTTPS } else { Scheme::HTTP });
        uri.authority = Some(authority?);
        uri.path_and_query = Some(PathAndQuery::try_from(&*encode(path)).ok()?);
        *request.uri_mut() = http::Uri::from_parts(uri).ok()?;
        Some(Http2Request { head: request, body: Bytes::copy_from_slice(body) })
    }
}

fn split<'a>(bytes: &'a [u8], at: &[u8]) -> (&'a [u8], &'a [u8]) {
    match memchr::memmem::find(bytes, at) {
        Some(found) => (&bytes[..found], &bytes[found + at.len()..]),
        None => (bytes, &[]),
    }
}

/// The path with those characters percent-encoded that RFC 3986 does not allow, because `http::Uri` refuses them.
fn encode(path: &[u8]) -> std::borrow::Cow<'_, [u8]> {
    let odd = |byte: u8| b"\"#<>\\^`{|}".contains(&byte);
    if !path.iter().any(|&byte| odd(byte)) {
        return path.into();
    }
    let encoded = path
        .iter()
        .flat_map(|&byte| if odd(byte) { format!("%{byte:02X}").into_bytes() } else { vec![byte] });
    encoded.collect::<Vec<u8>>().into()
}
