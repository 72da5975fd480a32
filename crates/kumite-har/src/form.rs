//! Queries and forms without their secrets.

use crate::json::holds_secret;
use crate::secret::{INSTEAD, is_secret};

/// Returns a query, or a form of `application/x-www-form-urlencoded`, without its secrets, and the names whose values
/// are `***` now.
pub(crate) fn clean(text: &str) -> (String, Vec<String>) {
    let mut taken = Vec::new();
    let field = |field: &str| {
        let Some((name, value)) = field.split_once('=') else { return field.to_owned() };
        let plain_name = decoded(name);
        if value.is_empty() || !(is_secret(&plain_name) || holds_secret(&decoded(value))) {
            return field.to_owned();
        }
        taken.push(plain_name);
        format!("{name}={INSTEAD}")
    };
    let fields: Vec<String> = text.split('&').map(field).collect();
    (fields.join("&"), taken)
}

/// Returns a URL, or its path, without its secrets and its fragment, and the names whose values are `***` now: from the
/// query, and from parameters in the path, as in `/a;jsessionid=1`.
pub(crate) fn clean_url(url: &str) -> (String, Vec<String>) {
    let url = url.split('#').next().unwrap_or(url);
    let (path, query) = url.split_once('?').map_or((url, None), |(path, query)| (path, Some(query)));
    let mut taken = Vec::new();
    let part = |part: &str| match part.split_once('=') {
        Some((name, value)) if !value.is_empty() && is_secret(&decoded(name)) => {
            taken.push(decoded(name));
            // What follows in the path is no part of the value.
            let rest = value.find('/').map_or("", |end| &value[end..]);
            format!("{name}={INSTEAD}{rest}")
        }
        _ => part.to_owned(),
    };
    let mut clean_text = path.split(';').map(part).collect::<Vec<_>>().join(";");
    if let Some(query) = query {
        let (query, of_query) = clean(query);
        clean_text += &format!("?{query}");
        taken.extend(of_query);
    }
    (clean_text, taken)
}

/// A URL without the user and the password before its host. True if there were any.
pub(crate) fn without_user(url: &str) -> (String, bool) {
    let Some((scheme, rest)) = url.split_once("://") else { return (url.to_owned(), false) };
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    match authority.rsplit_once('@') {
        Some((_, host)) => (format!("{scheme}://{host}{path}"), true),
        None => (url.to_owned(), false),
    }
}

/// A text without percent-encoding. Bytes that are no UTF-8 are replaced.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()).filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(if *first == b'+' { b' ' } else { *first });
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_secret_names_are_taken_and_nothing_else() {
        for (text, expected, taken) in [
            ("q=a%20b&token=x&token=&n=1", "q=a%20b&token=***&token=&n=1", &["token"][..]),
            ("user%5Bpassword%5D=p", "user%5Bpassword%5D=***", &["user[password]"]),
            ("v=%7B%22token%22%3A%22x%22%7D", "v=***", &["v"]),
            ("%=%&=", "%=%&=", &[]),
            ("", "", &[]),
        ] {
            let (found, names) = clean(text);
            assert_eq!(
                (found.as_str(), names),
                (expected, taken.iter().map(|&name| name.to_owned()).collect())
            );
        }
        assert_eq!(clean_url("/a?api_key=k#x").0, "/a?api_key=***");
        assert_eq!(clean_url("/a;jsessionid=1;v=2/b?c").0, "/a;jsessionid=***;v=2/b?c");
        assert_eq!(clean_url("/a=b/c").0, "/a=b/c");
    }

    #[test]
    fn a_url_loses_its_user_and_nothing_else_that_has_an_at_sign() {
        let cases = [
            ("https://me:secret@here:8080/a?b=c@d", "https://here:8080/a?b=c@d", true),
            ("https://me@here", "https://here", true),
            ("https://here/@me", "https://here/@me", false),
            ("https://here?to=me@there", "https://here?to=me@there", false),
            ("/a@b", "/a@b", false),
        ];
        for (url, without, had) in cases {
            assert_eq!(without_user(url), (without.to_owned(), had), "{url}");
        }
    }
}
