//! The variables of the environment that a build depends on.

use std::ffi::OsString;

/// The whole names of variables that builds depend on.
const NAMES: [&str; 5] = ["PATH", "CC", "CXX", "RUSTUP_TOOLCHAIN", "JAVA_HOME"];
/// The beginnings of names of variables that builds depend on.
const BEGINNINGS: [&str; 3] = ["CARGO_", "GO", "NODE"];
/// The end of names of variables that builds depend on.
const ENDING: &str = "FLAGS";

/// The variables that a build depends on, in the order of their names: those of compilers and build tools, and those
/// that `more` names.
pub(crate) fn inputs(
    environment: impl Iterator<Item = (OsString, OsString)>,
    more: &[String],
) -> Vec<(OsString, OsString)> {
    let is_input = |name: &str| {
        NAMES.contains(&name)
            || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
            || name.ends_with(ENDING)
            || more.iter().any(|other| other == name)
    };
    let mut found: Vec<_> = environment.filter(|(name, _)| name.to_str().is_some_and(is_input)).collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_compilers_and_build_tools_read_is_an_input_and_the_rest_is_not() {
        let names = [
            "ZED",
            "PATH",
            "CC",
            "CXX",
            "CCACHE_DIR",
            "RUSTFLAGS",
            "CFLAGS",
            "LDFLAGS_X",
            "CARGO_HOME",
            "CARGO",
            "RUSTUP_TOOLCHAIN",
            "RUSTUP_HOME",
            "GOFLAGS",
            "GOOS",
            "NODE_ENV",
            "JAVA_HOME",
            "HOME",
        ];
        let environment = || names.into_iter().map(|name| (OsString::from(name), OsString::from("x")));
        let of = |more: &[&str]| -> Vec<String> {
            let more: Vec<String> = more.iter().map(ToString::to_string).collect();
            inputs(environment(), &more).into_iter().map(|(name, _)| name.into_string().unwrap()).collect()
        };
        let usual = [
            "CARGO_HOME",
            "CC",
            "CFLAGS",
            "CXX",
            "GOFLAGS",
            "GOOS",
            "JAVA_HOME",
            "NODE_ENV",
            "PATH",
            "RUSTFLAGS",
            "RUSTUP_TOOLCHAIN",
        ];
        assert_eq!(of(&[]), usual);
        assert_eq!(of(&["ZED", "ABSENT"]), [&usual[..], &["ZED"]].concat());
    }
}
