//! The folder of kumite in the user's cache.

use std::path::PathBuf;

/// The folder of kumite in the user's cache, which need not exist. None if neither `XDG_CACHE_HOME` nor `HOME` is an
/// absolute path.
pub fn user_cache() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).map(PathBuf::from);
    user_cache_of(variable("XDG_CACHE_HOME"), variable("HOME"))
}

fn user_cache_of(xdg: Option<PathBuf>, home: Option<PathBuf>) -> Option<PathBuf> {
    // A relative one is to be ignored, says the XDG Base Directory Specification.
    let xdg = xdg.filter(|folder| folder.is_absolute());
    let home = home.filter(|folder| folder.is_absolute()).map(|home| home.join(".cache"));
    Some(xdg.or(home)?.join("kumite"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_cache_is_the_users() {
        let folder = |xdg: Option<&str>, home: Option<&str>| {
            user_cache_of(xdg.map(PathBuf::from), home.map(PathBuf::from))
        };
        assert_eq!(folder(Some("/x"), Some("/h")).as_deref(), Some(Path::new("/x/kumite")));
        assert_eq!(folder(None, Some("/h")).as_deref(), Some(Path::new("/h/.cache/kumite")));
        assert_eq!(folder(Some("x"), Some("/h")).as_deref(), Some(Path::new("/h/.cache/kumite")));
        assert_eq!(folder(Some(""), Some("")), None);
        assert_eq!(folder(None, None), None);
    }
}
