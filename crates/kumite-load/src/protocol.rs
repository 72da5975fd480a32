//! Protocols: HTTP/1.1 or HTTP/2, in the clear or in TLS. They read bytes and make bytes; sockets are the
//! transport's.
//!
//! HTTP/1.1 in the clear is read by [`incoming`] directly. Everything else goes through [`layers`] first.

pub(crate) mod http2;
pub(crate) mod incoming;
pub(crate) mod layers;
pub(crate) mod response;
pub(crate) mod tls;
