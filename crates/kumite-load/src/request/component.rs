//! The components of a request in which a value may stand.

use crate::field::is_text;

/// The part of a request that a text is in, which decides what characters a value may have.
///
/// The strictest is the greatest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Component {
    Body,
    HeaderValue,
    Path,
}

impl Component {
    pub fn in_words(self) -> &'static str {
        match self {
            Component::Path => "path",
            Component::HeaderValue => "header",
            Component::Body => "body",
        }
    }

    pub fn allows(self, byte: u8) -> bool {
        match self {
            Component::Path => byte.is_ascii_graphic(),
            Component::HeaderValue => is_text(byte),
            Component::Body => true,
        }
    }
}
