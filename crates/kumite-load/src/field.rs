//! The characters that may be in an HTTP header field.

/// `true` if this byte may be in a field's name (RFC 9110, section 5.6.2).
pub(crate) fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// `true` if this byte may be in a field's value (RFC 9110, section 5.5).
pub(crate) fn is_text(byte: u8) -> bool {
    !byte.is_ascii_control() || byte == b'\t'
}
