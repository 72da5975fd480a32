//! A jar of cookies for one connection, so that each connection is a user of its own.
//!
//! The jar keeps a cookie's name and value, until the server deletes it (by a `Max-Age` of 0 or less, or else by an
//! `Expires` in the past). `Domain`, `Path`, `Secure` and a later expiry are ignored: a load goes to one address, and
//! every cookie is sent with every request on its connection.

use std::time::SystemTime;

/// The most cookies of a jar; [`COOKIE_LIMIT`] is the most bytes of each name and value together. RFC 6265, section
/// 6.1, asks for at least so many.
const COOKIES_LIMIT: usize = 50;
const COOKIE_LIMIT: usize = 4096;
/// The most bytes of a `Cookie` header.
pub(crate) const LONGEST: usize = COOKIES_LIMIT * (COOKIE_LIMIT + 4);

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Jar(Vec<(Vec<u8>, Vec<u8>)>);

impl Jar {
    /// Takes the value of one `Set-Cookie` header, read as in RFC 6265, section 5.2: what makes no sense is ignored.
    pub fn set(&mut self, header: &[u8]) {
        let mut parts = header.split(|&b| b == b';');
        let Some((name, value)) = parts.next().and_then(|pair| split(pair, b'=')) else { return };
        if name.is_empty() || name.len() + value.len() > COOKIE_LIMIT {
            return;
        }
        let (mut max_age, mut expires) = (None, None);
        for (key, value) in parts.filter_map(|part| split(part, b'=')) {
            let Ok(value) = std::str::from_utf8(value) else { continue };
            if key.eq_ignore_ascii_case(b"max-age") {
                max_age = over(value).or(max_age);
            } else if key.eq_ignore_ascii_case(b"expires") {
                // Some write the date with hyphens.
                let date = httpdate::parse_http_date(&value.replace('-', " "));
                expires = date.ok().map(|date| date <= SystemTime::now()).or(expires);
            }
        }
        let known = self.0.iter().position(|(own, _)| own == name);
        match (known, max_age.or(expires) == Some(true)) {
            (Some(known), true) => drop(self.0.remove(known)),
            (Some(known), false) => self.0[known].1 = value.to_vec(),
            (None, false) if self.0.len() < COOKIES_LIMIT => self.0.push((name.to_vec(), value.to_vec())),
            (None, _) => {}
        }
    }

    /// Appends the line of the `Cookie` header to `out`, if there is a cookie.
    pub fn write(&self, out: &mut Vec<u8>) {
        for (index, (name, value)) in self.0.iter().enumerate() {
            out.extend_from_slice(if index == 0 { b"Cookie: " } else { b"; " });
            out.extend_from_slice(name);
            out.push(b'=');
            out.extend_from_slice(value);
        }
        if !self.0.is_empty() {
            out.extend_from_slice(b"\r\n");
        }
    }
}

/// `true` if this `Max-Age` says that the cookie is over; `None` if it is not a number.
fn over(max_age: &str) -> Option<bool> {
    let digits = max_age.strip_prefix('-').unwrap_or(max_age);
    let number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    number.then(|| max_age.starts_with('-') || digits.bytes().all(|b| b == b'0'))
}

fn split(text: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let at = text.iter().position(|&b| b == at)?;
    Some((text[..at].trim_ascii(), text[at + 1..].trim_ascii()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(headers: &[&str]) -> String {
        let mut jar = Jar::default();
        headers.iter().for_each(|header| jar.set(header.as_bytes()));
        let mut out = Vec::new();
        jar.write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_cookie_is_sent_back_until_it_is_deleted() {
        for (headers, sent) in [
            (&[][..], ""),
            (&["a=b"], "Cookie: a=b\r\n"),
            (&["a=b; Path=/; HttpOnly", " c = d = e ;Domain=x"], "Cookie: a=b; c=d = e\r\n"),
            (&["a=b", "c=d", "a=e"], "Cookie: a=e; c=d\r\n"),
            (&["a=", "A=1"], "Cookie: a=; A=1\r\n"),
            (&["a=\"b\""], "Cookie: a=\"b\"\r\n"),
            (&["a", "=b", "", ";a=b"], ""),
            // Deleted.
            (&["a=b", "c=d", "a=; Max-Age=0"], "Cookie: c=d\r\n"),
            (&["a=b", "a=; max-age=-1"], ""),
            (&["a=b", "a=b; Expires=Thu, 01 Jan 1970 00:00:00 GMT"], ""),
            (&["a=b", "a=b; expires=Thu, 01-Jan-1970 00:00:00 GMT"], ""),
            (&["a=b; Max-Age=0"], ""),
            // Not deleted.
            (&["a=b; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT"], "Cookie: a=b\r\n"),
            (&["a=b; Max-Age=x; Expires=Fri, 31 Dec 9999 23:59:59 GMT"], "Cookie: a=b\r\n"),
            (&["a=b; Max-Age=99999999999999999999999; Expires=never"], "Cookie: a=b\r\n"),
            (&["a=b; Max-Age=; Max-Age=-"], "Cookie: a=b\r\n"),
        ] {
            assert_eq!(after(headers), sent, "{headers:?}");
        }
    }

    #[test]
    fn a_jar_is_bounded() {
        let mut jar = Jar::default();
        jar.set(format!("a={}", "x".repeat(COOKIE_LIMIT)).as_bytes());
        assert_eq!(jar, Jar::default());
        for number in 0..=COOKIES_LIMIT {
            jar.set(format!("{number}=x").as_bytes());
        }
        assert_eq!(jar.0.len(), COOKIES_LIMIT);
        jar.set(b"0=y");
        assert_eq!(jar.0[0].1, b"y");
    }
}
