//! What is spoken on a connection: HTTP/1.1 or HTTP/2, in the clear or in TLS.

pub(crate) mod http2;
pub(crate) mod incoming;
pub(crate) mod layers;
pub(crate) mod response;
pub(crate) mod tls;
