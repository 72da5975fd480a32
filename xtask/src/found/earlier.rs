//! A found run of another specification than the experiment has today. Its verdicts are of what it asked, so it stays; but
//! the README says so, in a sentence that ends with a mark.

use kumite_lab::Asked;
use serde_json::Value;

/// The mark of the sentence. Markdown does not show it.
pub const MARK: &str = "<!-- found: earlier specification -->";

/// What the sentence, and the row of the overview, says.
pub const WORDS: &str = "earlier specification";

/// True if the run asked something else than today's `experiment.toml`, words for people aside.
pub fn is_of_earlier(run: &Value, experiment: &str) -> bool {
    let asked = |text: &str| Asked::new(text, run["run"]["profile"].as_str().unwrap_or_default()).ok();
    asked(run["run"]["spec"].as_str().unwrap_or_default()) != asked(experiment)
}

/// Why a README does not say what is so, if it does not.
pub fn wrong(readme: &str, is_earlier: bool) -> Option<String> {
    // A sentence may go on from the line before.
    let flat = readme.replace('\n', " ");
    let says = |before: &str| before.rsplit("<!--").next().unwrap_or_default().contains(WORDS);
    match flat.split_once(MARK) {
        None if is_earlier => Some(format!(
            "experiment.toml has changed since the found run: say in a sentence that it is of an {WORDS}, and end it with {MARK}"
        )),
        Some(_) if !is_earlier => Some(format!(
            "the found run is of today's specification: take out the sentence that ends with {MARK}"
        )),
        Some((before, _)) if !says(before) => {
            Some(format!("the sentence before {MARK} does not say \"{WORDS}\""))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::run;
    use super::*;

    #[test]
    fn a_run_is_of_the_specification_whatever_words_it_has_now() {
        assert!(!is_of_earlier(&run(), "question = \"b\"\nblocks = 3\n"));
        assert!(is_of_earlier(&run(), "question = \"a\"\nblocks = 4\n"));
    }

    #[test]
    fn the_readme_says_of_an_earlier_specification_what_is_so_and_no_more() {
        let said = format!("# A\n\nThe figures are of an earlier\nspecification. {MARK}\n");
        assert_eq!(wrong(&said, true), None);
        assert_eq!(wrong("# A\n", false), None);
        assert!(wrong("# A\n", true).unwrap().starts_with("experiment.toml has changed since"));
        assert!(wrong(&said, false).unwrap().starts_with("the found run is of today's specification"));
        assert!(
            wrong(&format!("# A\n{MARK}"), true).unwrap().ends_with("does not say \"earlier specification\"")
        );
    }
}
