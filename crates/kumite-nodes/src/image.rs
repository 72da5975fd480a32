//! Names of container images, as registries and Kubernetes take them.

use std::str::FromStr;

/// The name of a container image: a path, and a registry, a tag and a digest if it has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image(String);

/// The text is no name of a container image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write it as registry.example/kumite:1")]
pub struct NoImage;

impl FromStr for Image {
    type Err = NoImage;

    /// Takes `[REGISTRY[:PORT]/]PATH[:TAG][@ALGORITHM:DIGEST]`, with parts as the OCI distribution specification
    /// defines them. The text before the first slash is the registry if it has a dot or a port, or is `localhost`. A
    /// digest is one of `sha256` or `sha512`.
    fn from_str(text: &str) -> Result<Image, NoImage> {
        let (name, digest) = text.split_once('@').map_or((text, None), |(name, digest)| (name, Some(digest)));
        let (registry, path) = match name.split_once('/') {
            Some((first, path)) if first.contains(['.', ':']) || first == "localhost" => (Some(first), path),
            _ => (None, name),
        };
        let (path, tag) = path.rsplit_once(':').map_or((path, None), |(path, tag)| (path, Some(tag)));
        let is_one = registry.is_none_or(is_registry)
            && path.split('/').all(is_component)
            && name.len() <= LONGEST
            && tag.is_none_or(is_tag)
            && digest.is_none_or(is_digest);
        is_one.then(|| Image(text.to_owned())).ok_or(NoImage)
    }
}

impl Image {
    /// The name as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The most bytes of a registry and a path that clients take.
const LONGEST: usize = 255;

fn is_registry(text: &str) -> bool {
    let (host, port) = text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port)));
    let is_label = |label: &str| {
        !label.is_empty()
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    host.split('.').all(is_label) && port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0))
}

/// Small letters and digits, with a dot, one or two underscores, or dashes between them.
fn is_component(text: &str) -> bool {
    let is_alphanumeric = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let ends = |byte: Option<&u8>| byte.is_some_and(|byte| is_alphanumeric(*byte));
    let (first, last) = (text.as_bytes().first(), text.as_bytes().last());
    let mut between = text.split(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
    ends(first)
        && ends(last)
        && between.all(|between| {
            ["", ".", "_", "__"].contains(&between) || between.bytes().all(|byte| byte == b'-')
        })
}

fn is_tag(text: &str) -> bool {
    let is_of_tag = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    (1..=128).contains(&text.len()) && text.bytes().all(is_of_tag) && !text.starts_with(['.', '-'])
}

fn is_digest(text: &str) -> bool {
    let Some((algorithm, hex)) = text.split_once(':') else { return false };
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let digits = match algorithm {
        "sha256" => 64,
        "sha512" => 128,
        _ => return false,
    };
    hex.len() == digits && hex.bytes().all(is_hex)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_an_image_is_what_a_registry_takes() {
        let digest = format!("kumite@sha256:{}", "0af9".repeat(16));
        for text in [
            "kumite",
            "kumite:1",
            "library/kumite:1.2.3-rc_1",
            "registry.example/kumite:1",
            "localhost/kumite",
            "localhost:5000/a/b__c-d.e",
            "registry.example:443/team/kumite:V1",
            digest.as_str(),
        ] {
            assert_eq!(text.parse::<Image>().map(|image| image.as_str().to_owned()), Ok(text.to_owned()));
        }
        let (short, long_tag) = ("kumite@sha256:0af9", format!("a:{}", "t".repeat(129)));
        for text in [
            "",
            "Kumite",
            "a b",
            "a//b",
            "/a",
            "a/",
            "a:",
            "a:b:c",
            "a@b",
            "a@",
            "-a",
            "a-",
            "a..b",
            "a___b",
            "a:-1",
            "http://registry.example/kumite",
            "registry.example:port/kumite",
            "registry.example:0/kumite",
            "$(x)",
            "a\nb",
            "../a",
            "a/../b",
            ":1",
            "@sha256:00",
            short,
            long_tag.as_str(),
        ] {
            assert_eq!(text.parse::<Image>(), Err(NoImage), "{text:?}");
        }
        assert_eq!("a".repeat(256).parse::<Image>(), Err(NoImage));
    }
}
