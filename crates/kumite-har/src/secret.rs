//! Secrets, which are found by their names.

/// Parts of names that tell a secret, wherever in the name they are.
const PARTS: [&str; 14] = [
    "authorization",
    "cookie",
    "apikey",
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "credential",
    "session",
    "signature",
    "assertion",
    "privatekey",
    "accesskey",
];
/// Words of names that tell a secret. They are too short to be looked for within words.
const WORDS: [&str; 16] = [
    "auth", "bearer", "csrf", "jwt", "otp", "pass", "passcode", "pin", "pwd", "saml", "sid", "sig", "totp",
    "xsrf", "cvc", "cvv",
];
/// What stands for a secret where something has to stand.
pub(crate) const INSTEAD: &str = "***";

/// The place of a secret that was left out.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Secret {
    /// A header. The whole header is left out.
    Header {
        /// The header's name in lower case.
        name: String,
    },
    /// A parameter of a query or of a path (`/a;jsessionid=1`), also in the URL of a `Referer` header. Its value is
    /// `***` now.
    Query {
        /// The parameter's name.
        name: String,
    },
    /// A value in a body, which is `***` now, or 0 if it was a number.
    Body {
        /// The JSON pointer of the value, or the name of a form's field. For JSON in a field of a `multipart/form-data`
        /// body it is the name with the pointer behind it (`more/pin`).
        name: String,
    },
    /// The user's name and password before the host of a URL. Both are left out.
    User,
}

impl std::fmt::Display for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Secret::Header { name } => write!(f, "header {name}"),
            Secret::Query { name } => write!(f, "query {name}"),
            Secret::Body { name } => write!(f, "body {name}"),
            Secret::User => f.write_str("user in the URL"),
        }
    }
}

/// True if what has this name is a secret: `x-api-key`, `accessToken`, `user[password]`, `PHPSESSID`.
pub(crate) fn is_secret(name: &str) -> bool {
    let letters: String =
        name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    PARTS.iter().any(|part| letters.contains(part))
        || letters.ends_with("sessid")
        || words(name).iter().any(|word| WORDS.contains(&word.as_str()))
}

/// True if a text without a form, such as XML, has a name in it that may be that of a secret.
pub(crate) fn may_hold_secret(text: &str) -> bool {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))).any(is_secret)
}

/// The words of a name in lower case: they end where a letter is large after a small one, and at other characters.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for c in name.chars() {
        let begins = !c.is_ascii_alphanumeric() || (was_small && c.is_ascii_uppercase());
        was_small = c.is_ascii_lowercase();
        if begins {
            words.push(String::new());
        }
        if c.is_ascii_alphanumeric() {
            words.last_mut().expect("there is always a word").push(c.to_ascii_lowercase());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_known_by_its_name_however_that_is_written() {
        for name in [
            "Authorization",
            "proxy-authorization",
            "Cookie",
            "Set-Cookie",
            "X-API-Key",
            "api_key",
            "apiKey",
            "access_token",
            "accessToken",
            "XSRF-TOKEN",
            "user[password]",
            "new_passwd",
            "PHPSESSID",
            "connect.sid",
            "sessionId",
            "X-Amz-Signature",
            "client_secret",
            "userPin",
            "otp",
            "SAMLResponse-saml",
            "x-auth",
            "jwt",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in
            ["author", "shipping", "opinion", "key", "considered", "accept", "user-agent", "compass", "", "é"]
        {
            assert!(!is_secret(name), "{name}");
        }
        assert!(may_hold_secret("<user><password>x</password></user>"));
        assert!(!may_hold_secret("<user><name>x</name></user>"));
    }
}
