//! The protocol of a load: a version of HTTP, in the clear or in TLS.

use kumite_load::Http;

use crate::parameter::Params;
use crate::unfit::Unfit;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Http,
    Https,
    H2,
    H2c,
}

impl Protocol {
    /// The words for the protocols, in the order of the variants.
    pub const WORDS: [&str; 4] = ["http", "https", "h2", "h2c"];

    pub fn read(take: &Params) -> Result<Protocol, Unfit> {
        let all = [Protocol::Http, Protocol::Https, Protocol::H2, Protocol::H2c];
        take.word("protocol").map(|nth| all[nth])
    }

    /// The word for the protocol, in experiment.toml and in the environment of a contender.
    pub fn word(self) -> &'static str {
        Protocol::WORDS[self as usize]
    }

    pub fn is_secure(self) -> bool {
        matches!(self, Protocol::Https | Protocol::H2)
    }

    pub fn version(self) -> Http {
        match self {
            Protocol::Http | Protocol::Https => Http::Http1,
            Protocol::H2 | Protocol::H2c => Http::Http2,
        }
    }

    /// The words that follow "it does not speak" if a server does not speak this protocol.
    pub fn demand(self) -> &'static str {
        match self {
            Protocol::Http => "HTTP/1.1 in the clear",
            Protocol::Https => "HTTP/1.1 in TLS, with the certificate TLS_CERT and the key TLS_KEY",
            Protocol::H2 => "HTTP/2 in TLS (ALPN h2), with the certificate TLS_CERT and the key TLS_KEY",
            Protocol::H2c => "HTTP/2 in the clear, from the first byte on (h2c with prior knowledge)",
        }
    }
}

#[cfg(test)]
mod tests {
    use kumite_record::AxisValue;

    use super::*;
    use crate::driver::http::params::PARAMS;

    #[test]
    fn each_word_is_read_as_its_protocol() {
        for word in Protocol::WORDS {
            let given = [("protocol".to_owned(), AxisValue::Text(word.to_owned()))].into();
            assert_eq!(Protocol::read(&Params { given: &given, declared: PARAMS }).unwrap().word(), word);
        }
    }
}
