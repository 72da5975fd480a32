//! Bodies without their secrets.

use crate::form;
use crate::json::{self, Cleaned};
use crate::secret::{INSTEAD, Secret, is_secret, may_hold_secret};

/// A body of this media type without its secrets, and what was taken; `None` if it may have a secret in a form in
/// which secrets cannot be told from the rest.
pub(crate) fn clean(text: &str, media_type: &str) -> Option<(String, Vec<Secret>)> {
    let media = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let body = |name| Secret::Body { name };
    if media == "application/x-www-form-urlencoded" {
        let (text, taken) = form::clean(text);
        return Some((text, taken.into_iter().map(body).collect()));
    }
    if media == "multipart/form-data" {
        return multipart(text, media_type);
    }
    match json::clean(text) {
        Cleaned::Clean(text, taken) => Some((text, taken)),
        Cleaned::TooDeep => None,
        Cleaned::Other => (!may_hold_secret(text)).then(|| (text.to_owned(), Vec::new())),
    }
}

/// A form of several parts; `None` if it is not well-formed.
fn multipart(text: &str, media_type: &str) -> Option<(String, Vec<Secret>)> {
    let (_, boundary) = media_type.split_once("boundary=")?;
    let boundary = boundary.split(';').next()?.trim().trim_matches('"');
    let delimiter = format!("--{boundary}");
    let mut parts = text.split(delimiter.as_str());
    let (mut clean_text, mut taken) = (parts.next()?.to_owned(), Vec::new());
    for part in parts {
        clean_text += &delimiter;
        if part.starts_with("--") {
            clean_text += part;
            continue;
        }
        let (head, content) = part.split_once("\r\n\r\n")?;
        let content = content.strip_suffix("\r\n")?;
        let lower = head.to_ascii_lowercase();
        let at = lower.find(" name=\"").or(lower.find(";name=\""))? + " name=\"".len();
        let name = head[at..].split('"').next()?;
        let content = if is_secret(name) {
            taken.push(Secret::Body { name: name.to_owned() });
            INSTEAD.to_owned()
        } else {
            let (content, of_part) = clean(content, "")?;
            let within = |secret| match secret {
                Secret::Body { name: place } => Secret::Body { name: format!("{name}{place}") },
                other => other,
            };
            taken.extend(of_part.into_iter().map(within));
            content
        };
        clean_text += &format!("{head}\r\n\r\n{content}\r\n");
    }
    Some((clean_text, taken))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_of_several_parts_loses_its_secrets() {
        let form = "--b\r\nContent-Disposition: form-data; name=\"user\"\r\n\r\nann\r\n\
                    --b\r\ncontent-disposition: form-data; name=\"Password\"\r\n\r\nhunter2\r\n\
                    --b\r\nContent-Disposition: form-data; name=\"more\"\r\n\r\n{\"pin\":1}\r\n--b--\r\n";
        let (text, taken) = clean(form, "multipart/form-data; boundary=b").unwrap();
        assert_eq!(text, form.replace("hunter2", "***").replace("{\"pin\":1}", "{\"pin\":0}"));
        let taken: Vec<String> = taken.iter().map(ToString::to_string).collect();
        assert_eq!(taken, ["body Password", "body more/pin"]);
        assert!(clean(form, "multipart/form-data").is_none());
        assert!(clean("--b\r\nname", "multipart/form-data; boundary=b").is_none());
    }

    #[test]
    fn a_text_that_may_hold_a_secret_is_not_taken() {
        assert!(clean("<password>x</password>", "application/xml").is_none());
        assert_eq!(clean("<name>x</name>", "application/xml").unwrap().0, "<name>x</name>");
        // A beacon's JSON is sent as text.
        assert_eq!(clean("{\"token\":\"x\"}", "text/plain").unwrap().0, "{\"token\":\"***\"}");
    }
}
