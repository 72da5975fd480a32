//! The way to a node by the system's ssh, with its user's configuration and keys. It never asks for a password.

use std::str::FromStr;

/// A host for ssh: a name of ssh's configuration, or `user@host`. It is one word of at most 255 bytes, and cannot be
/// taken for an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host(String);

impl Host {
    /// The name of the host, as it was typed.
    pub fn name(&self) -> &str {
        &self.0
    }

    /// A shell command that runs this script on the host. The user's login shell reads the script first, whichever
    /// shell that is: a script that [is plain](is_plain) is one word to all of them, which they hand to `sh`.
    pub(crate) fn command(&self, script: &str) -> String {
        debug_assert!(is_plain(script), "{script}");
        let script = quoted(&format!("sh -c '{script}'"));
        format!("exec ssh -T -o BatchMode=yes -- {} {script}", quoted(&self.0))
    }
}

/// True if every login shell leaves the text as it is between single quotes. fish reads a backslash there; csh reads
/// the `!` of its history and the end of the line.
pub(crate) fn is_plain(text: &str) -> bool {
    !text.contains(['\'', '\\', '!', '\n'])
}

/// The text as one word of a shell's command line. Panics if it has a NUL.
pub(crate) fn quoted(text: &str) -> String {
    shlex::try_quote(text).expect("what we say has no NUL").into_owned()
}

/// A text that is no host for ssh: it is empty, has more than 255 bytes, begins with `-`, or has a character that no
/// host has.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("'{0}' is no host: write a name of your ssh configuration, or user@host")]
pub struct NotAHost(pub String);

impl FromStr for Host {
    type Err = NotAHost;

    fn from_str(text: &str) -> Result<Host, NotAHost> {
        let fits = |c: char| c.is_ascii_alphanumeric() || "._-@:[]%".contains(c);
        match !text.is_empty() && text.len() < 256 && !text.starts_with('-') && text.chars().all(fits) {
            true => Ok(Host(text.to_owned())),
            false => Err(NotAHost(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_a_host_and_no_option_and_no_command() {
        for text in ["n1", "root@10.0.0.7", "user@node-3.example", "[::1]"] {
            assert!(text.parse::<Host>().is_ok(), "{text}");
        }
        for text in ["", "-oProxyCommand=x", "a b", "a;b", "$(x)", "a'b", "a\nb"] {
            assert!(text.parse::<Host>().is_err(), "{text}");
        }
        let host: Host = "n1".parse().unwrap();
        assert_eq!(host.command("echo a"), r#"exec ssh -T -o BatchMode=yes -- n1 "sh -c 'echo a'""#);
    }
}
