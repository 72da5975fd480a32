//! Suggestions for a name that is not known: the known name that it may be a typing error for.

/// The known name, other than `name` itself, that `name` is most likely a typing error for. None if no known name is
/// near. A known name is near if at most two edits turn one into the other, and at most one edit for each three letters
/// of the known name.
pub fn near<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Among short names many are near to one another.
    let allowed = |known: &str| (known.chars().count() / 3).min(2);
    let with_distance = known.into_iter().map(|known| (strsim::osa_distance(name, known), known));
    let near = with_distance.filter(|(distance, known)| (1..=allowed(known)).contains(distance));
    near.min().map(|(_, known)| known)
}

/// The clause to append to an error about an unknown name: `; did you mean 'blocks'?`. Empty if no known name is
/// near.
pub fn meant<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    near(name, known).map_or(String::new(), |meant| format!("; did you mean '{meant}'?"))
}

/// The clause of [`meant`], followed by all values of an axis or key: `; did you mean 'b'? It has a, b`. If no value is
/// near, it is `; it has a, b`.
pub fn it_has(value: &str, known: &[String]) -> String {
    let (meant, all) = (meant(value, known.iter().map(String::as_str)), known.join(", "));
    if meant.is_empty() { format!("; it has {all}") } else { format!("{meant} It has {all}") }
}

/// The clause of [`meant`], followed by all known names: `; did you mean 'b'? There are: a, b`. If no name is near, it
/// is `; there are: a, b`; if no name is known, `; there are none here`.
pub fn there_are(name: &str, known: &[&str]) -> String {
    if known.is_empty() {
        return "; there are none here".to_owned();
    }
    let (meant, all) = (meant(name, known.iter().copied()), known.join(", "));
    if meant.is_empty() { format!("; there are: {all}") } else { format!("{meant} There are: {all}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_a_typing_error_is_near_and_another_name_is_not() {
        let near = |name| near(name, ["iterations", "warm_up_iterations", "cpu", "cores", "compare"]);
        for mistyped in ["iteration", "itertaions", "iterration", "interations", "iteraton"] {
            assert_eq!(near(mistyped), Some("iterations"), "{mistyped}");
        }
        assert_eq!((near("core"), near("warmup_iterations")), (Some("cores"), Some("warm_up_iterations")));
        assert_eq!((near("cup"), near("compres")), (Some("cpu"), Some("compare")));
        for other in ["iterations", "rations", "records", "op", "n", ""] {
            assert_eq!(near(other), None, "{other}");
        }
    }

    #[test]
    fn one_letter_is_not_another() {
        assert_eq!(near("b", ["a", "io"]), None);
    }

    #[test]
    fn a_name_that_is_near_comes_before_all_names() {
        assert_eq!(there_are("quik", &["quick", "full"]), "; did you mean 'quick'? There are: quick, full");
        assert_eq!(there_are("slow", &["quick", "full"]), "; there are: quick, full");
        assert_eq!(there_are("slow", &[]), "; there are none here");
    }
}
