//! Removal of secrets from command lines. A record does not keep them: whoever repeats its command has to give their
//! own.

/// Words that tell a secret header: if its name holds one of them, its value is removed.
const SECRET: [&str; 9] =
    ["authorization", "cookie", "api-key", "apikey", "token", "secret", "password", "credential", "session"];
const INSTEAD: &str = "***";

/// Returns a command-line argument in which the values of secret headers are replaced by three stars. So `cookie: a=b`
/// becomes `cookie: ***`, alone or within a longer command. A header is secret if its name contains a word such as
/// `token`, `cookie` or `password`. A secret that does not follow such a name and a colon stays.
pub fn without_secrets(text: &str) -> String {
    let (mut clean, mut rest) = (String::new(), text);
    while let Some(colon) = rest.find(':') {
        let name = rest[..colon].trim_end();
        let start = name
            .rfind(|c: char| !is_of_name(c))
            .map_or(0, |at| at + name[at..].chars().next().map_or(1, char::len_utf8));
        let (before, after) = rest.split_at(colon + 1);
        clean.push_str(before);
        // Within quotes a value ends with them.
        let quote = rest[..start].chars().next_back().filter(|c| matches!(c, '"' | '\''));
        let end = match quote {
            Some(quote) => after.find(quote),
            None => after.find(['\n', '\r', '"', '\'']),
        };
        let end = end.unwrap_or(after.len());
        if is_secret(&name[start..]) && !after.starts_with("//") && !after[..end].trim().is_empty() {
            let blank = if after.starts_with(' ') { " " } else { "" };
            clean.push_str(blank);
            clean.push_str(INSTEAD);
            rest = &after[end..];
        } else {
            rest = after;
        }
    }
    clean + rest
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_')
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('_', "-");
    SECRET.iter().any(|secret| name.contains(secret))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_secret_headers_are_left_out_and_nothing_else() {
        for (text, clean) in [
            ("authorization: Bearer abc.def", "authorization: ***"),
            ("-HAuthorization: Basic eHg=", "-HAuthorization: ***"),
            ("Proxy-Authorization:x", "Proxy-Authorization:***"),
            ("cookie: a=b; c=d", "cookie: ***"),
            ("X-API-Key: k", "X-API-Key: ***"),
            ("x_auth_token: k:l", "x_auth_token: ***"),
            (
                "curl -H 'Authorization: Bearer x' http://a/ -H \"Cookie: a='b'\" x",
                "curl -H 'Authorization: ***' http://a/ -H \"Cookie: ***\" x",
            ),
            ("accept: text/plain", "accept: text/plain"),
            ("content-type: application/json", "content-type: application/json"),
            ("http://localhost:3000/token:x", "http://localhost:3000/token:***"),
            ("{\"token\": \"kept, for it is a body\"}", "{\"token\": \"kept, for it is a body\"}"),
            ("token://x", "token://x"),
            ("authorization:", "authorization:"),
            ("é: authorization: é", "é: authorization: ***"),
            ("", ""),
        ] {
            assert_eq!(without_secrets(text), clean);
        }
    }
}
