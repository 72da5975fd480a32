//! A run's row in the overview of experiments: its last two columns say how many claims are decided, and its minutes.

use kumite_record::Export;
use serde_json::Value;

use super::{earlier, mark, minutes};

/// Why the row is not the run's, if it is not. `is_earlier`: the run is of an earlier specification, and the row says so.
pub fn wrong(overview: &str, name: &str, run: &Value, is_earlier: bool) -> Option<String> {
    let Some(row) = row(overview, name) else {
        return Some(format!("{name} has a found run and no row"));
    };
    let (Columns { sure, decided, minutes: shown }, of_run) = (columns(row), decided(run));
    match minutes(run) {
        _ if decided != of_run => Some(format!("{name} has \"{sure}\", and its run decided {of_run}")),
        Ok(_) if is_earlier != sure.ends_with(&of_earlier()) => {
            let which = if is_earlier { "an earlier" } else { "today's" };
            Some(format!("the found run of {name} is of {which} specification: `cargo xtask rejudge {name}`"))
        }
        Ok(minutes) if mark::is_shown(&minutes.into(), shown) => None,
        Ok(minutes) => Some(format!("{name} has {shown} minutes, and its run took {minutes:.1}")),
        Err(why) => Some(format!("{name}: {why:#}")),
    }
}

/// The overview with what the row is to say of the run now; none if it says so.
pub fn renewed(overview: &str, name: &str, run: &Value, is_earlier: bool) -> Option<String> {
    let row = row(overview, name)?;
    let Columns { sure, decided: was, minutes: shown } = columns(row);
    let mut is = sure.replacen(was, &decided(run), 1);
    is = is.strip_suffix(&of_earlier()).unwrap_or(&is).to_owned();
    if is_earlier {
        is += &of_earlier();
    }
    let took = minutes(run).ok().filter(|took| !mark::is_shown(&(*took).into(), shown));
    let took = took.map_or(shown.to_owned(), |took| format!("{took:.0}"));
    (sure != is || shown != took).then(|| {
        let before = row.rsplit_once(sure).map_or(row, |(before, _)| before);
        overview.replacen(row, &format!("{before}{is} | {took} |"), 1)
    })
}

/// The overview with a row for this experiment, if it has a mark `<!-- row of NAME -->` below the table and no row yet. What
/// was argued is the question, and what was found the first claim with its verdict: words to be written better.
pub fn with_row(overview: &str, name: &str, run: &Export) -> String {
    let mark = format!("<!-- row of {name} -->");
    if row(overview, name).is_some() || !overview.contains(&mark) {
        return overview.to_owned();
    }
    let found = run.claims.first().map_or(String::new(), |claim| {
        format!("{}: {}", claim.title.as_deref().unwrap_or(&claim.assert), claim.verdict)
    });
    let value = serde_json::to_value(run).unwrap_or_default();
    let minutes = minutes(&value).map_or("–".to_owned(), |minutes| format!("{minutes:.0}"));
    let cells =
        [&run.run.question.text, &found].map(|text| text.trim().replace('|', "\\|").replace('\n', " "));
    let row = format!("| [{name}]({name}) | {} | {} | {} | {minutes} |", cells[0], cells[1], decided(&value));
    overview.replacen(&mark, &format!("{row}\n{mark}"), 1)
}

fn of_earlier() -> String {
    format!("; {}", earlier::WORDS)
}

fn row<'a>(overview: &'a str, name: &str) -> Option<&'a str> {
    let begin = format!("| [{name}]({name}) |");
    overview.lines().find(|line| line.starts_with(&begin))
}

struct Columns<'a> {
    /// How sure it is, in words.
    sure: &'a str,
    /// The part of them that counts claims: `3 of 4`.
    decided: &'a str,
    minutes: &'a str,
}

fn columns(row: &str) -> Columns<'_> {
    let mut cells = row.trim_end_matches('|').rsplit('|').map(str::trim);
    let (minutes, sure) = (cells.next().unwrap_or_default(), cells.next().unwrap_or_default());
    let decided = sure.split([';', ',']).next().unwrap_or_default().trim_end_matches(" claims decided");
    Columns { sure, decided, minutes }
}

fn decided(run: &Value) -> String {
    let claims = run["claims"].as_array().map_or(&[][..], Vec::as_slice);
    let is_decided =
        |claim: &&Value| !["undecided", "not-tested"].map(Value::from).contains(&claim["verdict"]);
    format!("{} of {}", claims.iter().filter(is_decided).count(), claims.len())
}

#[cfg(test)]
mod tests {
    use super::super::tests::run;
    use super::*;

    fn overview(sure: &str, minutes: u32) -> String {
        format!("| [b](b) | why | 0 of 1 | 0 of 1 | 3 |\n| [a](a) | why | 0 of 1 | {sure} | {minutes} |\n")
    }

    #[test]
    fn the_overview_has_what_the_run_decided_and_its_minutes() {
        let finding = |sure: &str, minutes: u32| wrong(&overview(sure, minutes), "a", &run(), false);
        assert_eq!(finding("1 of 1; a check is red", 14), None);
        let said = |sure: &str, minutes: u32| finding(sure, minutes).unwrap_or_default();
        assert_eq!(said("1 of 1", 16), "a has 16 minutes, and its run took 13.6");
        assert!(finding("1 of 13", 14).is_some());
        assert_eq!(said("0 of 1", 14), "a has \"0 of 1\", and its run decided 1 of 1");
        assert_eq!(wrong("", "a", &run(), false).unwrap_or_default(), "a has a found run and no row");
    }

    #[test]
    fn a_row_gets_what_is_decided_now_and_the_minutes_and_keeps_its_words() {
        let renewed = |sure: &str, minutes: u32| renewed(&overview(sure, minutes), "a", &run(), false);
        assert_eq!(renewed("1 of 1 claims decided; a check is red", 14), None);
        let expected = overview("1 of 1 claims decided; a check is red", 14);
        assert_eq!(renewed("0 of 1 claims decided; a check is red", 14), Some(expected.clone()));
        assert_eq!(renewed("1 of 1 claims decided; a check is red", 9), Some(expected));
    }

    #[test]
    fn an_experiment_gets_its_row_where_the_overview_has_a_mark_for_it() {
        let run = super::super::sitting::made_up(0, 0.8);
        let overview = "| a |\n<!-- row of tiny -->\n";
        let with = with_row(overview, "tiny", &run);
        let row = "| [tiny](tiny) | Which is faster? | wall_ms(a) < wall_ms(b): holds | 1 of 1 | 20 |";
        assert_eq!(with, format!("| a |\n{row}\n<!-- row of tiny -->\n"));
        assert_eq!(wrong(&with, "tiny", &serde_json::to_value(&run).unwrap(), false), None);
        assert_eq!(with_row(&with, "tiny", &run), with);
        assert_eq!(with_row("| a |\n", "tiny", &run), "| a |\n");
    }

    #[test]
    fn a_row_says_of_an_earlier_specification_as_long_as_it_is_one() {
        let (today, before) =
            (overview("1 of 1; slow", 14), overview("1 of 1; slow; earlier specification", 14));
        assert_eq!(renewed(&today, "a", &run(), true), Some(before.clone()));
        assert_eq!(renewed(&before, "a", &run(), false), Some(today.clone()));
        assert_eq!(renewed(&before, "a", &run(), true), None);
        assert_eq!(wrong(&before, "a", &run(), true), None);
        assert!(wrong(&today, "a", &run(), true).unwrap().contains("an earlier specification"));
        assert!(wrong(&before, "a", &run(), false).unwrap().contains("today's specification"));
    }
}
