//! The claims of a found run in the overview: between two marks a table, with what each sitting says where there are some.

use kumite_record::Export;
use kumite_report::ClaimRow;

/// Why the overview does not have the run's table, if it does not.
pub fn wrong(overview: &str, name: &str, run: &Export) -> Option<String> {
    match renewed(overview, name, run) {
        None => Some(format!("there is no {} for the claims of {name}", begin(name))),
        Some(renewed) => (renewed != overview)
            .then(|| format!("the claims of {name} are not its run's: `cargo xtask rejudge {name}`")),
    }
}

/// The overview with the table of this run. None if it has no place for it.
pub fn renewed(overview: &str, name: &str, run: &Export) -> Option<String> {
    let (before, rest) = overview.split_once(&begin(name))?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{}\n{}{END}{after}", begin(name), table(name, run)))
}

const END: &str = "<!-- end of claims -->";

fn begin(name: &str) -> String {
    format!("<!-- claims of {name} -->")
}

fn table(name: &str, run: &Export) -> String {
    let rows: Vec<ClaimRow> = run.claims.iter().map(|claim| ClaimRow::new(&run.run, claim)).collect();
    let sittings = run.run.sittings.len();
    let of = match sittings {
        0 => "one run, not made in sittings".to_owned(),
        1 => "one sitting".to_owned(),
        of => format!("{of} sittings"),
    };
    let day = run.run.started.strftime("%Y-%m-%d");
    let mut text = format!("\n**[{name}]({name})**: {of}, {} trials, from {day} on\n\n", run.trials.len());
    let heads: &[&str] = match sittings {
        0 => &["claim", "verdict", "effect", "bound"],
        _ => &["claim", "verdict", "effect", "bound", "stood", "the next, in 80 %"],
    };
    let line = |cells: &[&str]| format!("| {} |\n", cells.join(" | "));
    text += &line(heads);
    text += &line(&vec!["---"; heads.len()]);
    for row in &rows {
        let ClaimRow { id, verdict, effect, bound, stood, next } = row;
        let optional =
            [effect, bound, stood, next].map(|of| of.as_deref().unwrap_or("–").replace('|', "\\|"));
        let cells = [id.as_str(), verdict.as_str()].into_iter().chain(optional.iter().map(String::as_str));
        text += &line(&cells.take(heads.len()).collect::<Vec<_>>());
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::super::sitting::made_up;
    use super::*;

    #[test]
    fn a_claim_says_what_each_sitting_says_where_there_are_some() {
        let place = "# A\n<!-- claims of tiny -->\nold\n<!-- end of claims -->\nafter\n";
        let of_sitting = renewed(place, "tiny", &made_up(0, 0.8)).unwrap();
        assert!(of_sitting.starts_with("# A\n<!-- claims of tiny -->\n\n**[tiny](tiny)**: one sitting, 20 trials, from 1970-01-01 on\n"), "{of_sitting}");
        assert!(of_sitting.contains("| a-first | holds | a / b = 0.800 × | at most 0.800 × | one sitting says nothing of the next | – |\n"), "{of_sitting}");
        assert!(of_sitting.ends_with("<!-- end of claims -->\nafter\n"));
        let mut whole = made_up(0, 0.8);
        whole.run.sittings.clear();
        let of_run = renewed(place, "tiny", &whole).unwrap();
        assert!(
            of_run.contains("| claim | verdict | effect | bound |\n| --- | --- | --- | --- |\n"),
            "{of_run}"
        );
        assert_eq!(wrong(&of_run, "tiny", &whole), None);
        assert!(wrong(place, "tiny", &whole).unwrap().ends_with("`cargo xtask rejudge tiny`"));
        assert!(wrong("# A\n", "tiny", &whole).unwrap().starts_with("there is no <!-- claims of tiny -->"));
    }
}
