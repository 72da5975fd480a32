//! The comparison of two runs: how they differ, then claim by claim whether they say the same. Their texts may be a
//! stranger's, and are escaped in each format.

use anstyle::AnsiColor;
use comfy_table::CellAlignment::Left;
use kumite_record::{Claim, ClaimPair, Differing, Intervals, PairOutcome, Replication, Run, Untold};

use crate::leaf::{Leaf, Table, leaf};
use crate::markdown::{escaped, table};
use crate::style::Style;
use crate::tables::grid::grid;
use crate::words::number::plural;
use crate::words::reason::reason;
use crate::words::text::one_line;
use crate::words::verdict::VerdictText;

/// The most characters of a differing value that are shown; JSON has all of it.
const SHOWN_CHARS: usize = 48;

/// The comparison of two runs for a terminal: their differences, then their claims.
pub fn replication_terminal(replication: &Replication, style: &Style) -> String {
    format!("{}\n{}", replication_differences(replication, style), replication_claims(replication, style))
}

/// The two runs and their differences, for a terminal. They are known before the second run has a verdict.
pub fn replication_differences(replication: &Replication, style: &Style) -> String {
    let mut out = style.bold(&style.wrap(&title(replication), 0));
    for (name, run) in named_runs(replication) {
        out += &style.wrap(&format!("{name}: {run}"), 0);
    }
    out += &alarm(replication).map_or(String::new(), |alarm| {
        style.paint(AnsiColor::Yellow.on_default().bold(), &style.wrap(&format!("! {alarm}"), 0))
    });
    if replication.differences.is_empty() {
        return out + &style.wrap(NO_DIFFERENCE, 0);
    }
    let (heads, rows) = difference_rows(replication);
    let columns: Vec<_> = heads.iter().map(|(head, _)| (head.as_str(), Left)).collect();
    format!("{out}\n{}", grid(&columns, &rows, *style))
}

/// The claims of two runs, for a terminal: the tally, then both verdicts on each claim.
pub fn replication_claims(replication: &Replication, style: &Style) -> String {
    let mut out = style.bold(&style.wrap(&tally(replication), 0));
    for claim in claims(replication) {
        let color = match claim.outcome {
            PairOutcome::Same => AnsiColor::Green,
            PairOutcome::Another => AnsiColor::Red,
            PairOutcome::CouldNotTell => AnsiColor::Yellow,
        };
        let said = format!("{} {}", claim.symbol, claim.word);
        let line = style.wrap(&format!("{said}: {}", claim.title), 0);
        out += &format!("\n{}", line.replacen(&said, &style.paint(color.on_default().bold(), &said), 1));
        for line in claim.below {
            out += &style.wrap(&line, 2);
        }
    }
    out
}

/// The comparison of two runs in GitHub's Markdown.
pub fn replication_markdown(replication: &Replication) -> String {
    let mut out = format!("# {}\n\n", escaped(&title(replication)));
    for (name, run) in named_runs(replication) {
        out += &format!("- **{}**: {}\n", escaped(&name), escaped(&run));
    }
    out += &alarm(replication).map_or(String::new(), |alarm| format!("\n> ⚠ {}\n", escaped(alarm)));
    out += &match replication.differences.is_empty() {
        true => format!("\n{NO_DIFFERENCE}\n"),
        false => format!("\n{}", table(difference_rows(replication))),
    };
    out += &format!("\n**{}**\n\n", escaped(&tally(replication)));
    for claim in claims(replication) {
        out += &format!("- {} **{}**: {}\n", claim.symbol, claim.word, escaped(&claim.title));
        for line in claim.below {
            out += &format!("  - {}\n", escaped(&line));
        }
    }
    out
}

/// The comparison of two runs as one self-contained page.
pub fn replication_html(replication: &Replication) -> String {
    let heads = ["claim", "outcome", &replication.names[0], &replication.names[1], "intervals"];
    let rows = claims(replication).into_iter().map(|claim| {
        let Line { symbol, word, title, said, intervals, .. } = claim;
        let [first, second] = said;
        vec![title, format!("{symbol} {word}"), first, second, intervals.to_owned()]
    });
    let heads = heads.map(|head| (one_line(head), false)).to_vec();
    let of_claims = Table::from_rows((heads, rows.collect()));
    let differences =
        (!replication.differences.is_empty()).then(|| Table::from_rows(difference_rows(replication)));
    let none = replication.differences.is_empty().then(|| NO_DIFFERENCE.to_owned());
    leaf(&Leaf {
        title: title(replication),
        alarms: alarm(replication).map(str::to_owned).into_iter().collect(),
        sentences: vec![tally(replication)],
        tables: [of_claims].into_iter().chain(differences).collect(),
        notes: named_runs(replication).map(|(name, run)| format!("{name}: {run}")).chain(none).collect(),
        ..Leaf::default()
    })
}

const NO_DIFFERENCE: &str = "They differ in nothing that is recorded of them.";

/// The texts on a claim.
struct Line {
    outcome: PairOutcome,
    symbol: char,
    word: &'static str,
    title: String,
    /// The verdict of each run on the claim.
    said: [String; 2],
    intervals: &'static str,
    /// All lines below the title.
    below: Vec<String>,
}

fn claims(replication: &Replication) -> Vec<Line> {
    replication.claims.iter().map(|pair| line(replication, pair)).collect()
}

fn line(replication: &Replication, pair: &ClaimPair) -> Line {
    let [first, second] = &replication.runs;
    let said = [(first, &pair.claims[0]), (second, &pair.claims[1])].map(said);
    let names = replication.names.each_ref().map(|name| one_line(name));
    let named = names.iter().zip(&said).map(|(name, said)| format!("{name}: {said}"));
    let intervals = intervals(pair);
    let asked = matches!(pair.untold, Some(Untold::AskedOtherwise));
    let asked = asked.then(|| "they ask two things by this id".to_owned());
    let last = (!intervals.is_empty()).then(|| intervals.to_owned());
    Line {
        outcome: pair.outcome,
        symbol: match pair.outcome {
            PairOutcome::Same => '✓',
            PairOutcome::Another => '✗',
            PairOutcome::CouldNotTell => '?',
        },
        word: outcome_word(pair.outcome),
        title: pair.claims.iter().flatten().next().map_or_else(
            || one_line(&pair.id),
            |claim| one_line(claim.title.as_deref().unwrap_or(&claim.assert)),
        ),
        below: named.chain(asked).chain(last).collect(),
        intervals,
        said,
    }
}

fn outcome_word(outcome: PairOutcome) -> &'static str {
    match outcome {
        PairOutcome::Same => "same verdict",
        PairOutcome::Another => "another verdict",
        PairOutcome::CouldNotTell => "could not tell",
    }
}

/// The verdict of a run on a claim: with its effect, its bound, what was claimed and both figures, or with the reason
/// why there is no effect.
fn said((run, claim): (&Run, &Option<Claim>)) -> String {
    let Some(claim) = claim else { return "it has no such claim".to_owned() };
    let text = VerdictText::new(run, claim);
    match (&text.effect, &claim.reason) {
        (None, Some(why)) => format!("{}: {}", text.sentence, one_line(&reason(run, why))),
        _ => text.sentence,
    }
}

fn intervals(pair: &ClaimPair) -> &'static str {
    let have_effects = pair.claims.iter().all(|claim| claim.as_ref().is_some_and(|of| of.effect.is_some()));
    match pair.intervals {
        Some(Intervals::Overlap) => "the intervals overlap",
        Some(Intervals::Apart) => "the intervals have no effect in common",
        None if have_effects => "the intervals are not of one comparison, or have no bound",
        None => "",
    }
}

fn title(replication: &Replication) -> String {
    let names = replication.runs.each_ref().map(|run| one_line(&run.experiment));
    match names[0] == names[1] {
        true => format!("{}: two runs beside each other", names[0]),
        false => format!("{} and {}: two runs beside each other", names[0], names[1]),
    }
}

/// The name of each run in this comparison, and its id, time and profile.
fn named_runs(replication: &Replication) -> impl Iterator<Item = (String, String)> {
    replication.names.iter().zip(&replication.runs).map(|(name, run)| {
        let began = run.started.strftime("%Y-%m-%d %H:%M UTC");
        let cut =
            run.cut_short.as_ref().map_or(String::new(), |why| format!(", cut short: {}", one_line(why)));
        (one_line(name), format!("run {}, begun {began}, profile {}{cut}", run.id, one_line(&run.profile)))
    })
}

fn alarm(replication: &Replication) -> Option<&'static str> {
    let measures = replication.differences.iter().find(|of| of.of == Differing::Measures)?;
    Some(match measures.values {
        [Some(_), Some(_)] => {
            "their versions of kumite measure in two ways (MEASURES): an effect may be another for that reason alone"
        }
        _ => {
            "it is not known whether their versions of kumite measure in one way (MEASURES): an effect may be another for that reason alone"
        }
    })
}

fn difference_rows(replication: &Replication) -> (Vec<(String, bool)>, Vec<Vec<String>>) {
    let heads = ["they differ in", &replication.names[0], &replication.names[1]];
    let rows = replication.differences.iter().map(|difference| {
        let is_digest = matches!(difference.of, Differing::Source { .. });
        let values = difference.values.iter().map(|value| match value {
            Some(value) => shortened(value, if is_digest { 12 } else { SHOWN_CHARS }),
            None => "–".to_owned(),
        });
        [name(&difference.of)].into_iter().chain(values).collect()
    });
    (heads.map(|head| (one_line(head), false)).to_vec(), rows.collect())
}

fn shortened(text: &str, chars: usize) -> String {
    let line = one_line(text);
    match line.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

fn name(of: &Differing) -> String {
    one_line(&match of {
        Differing::Experiment => "experiment".to_owned(),
        Differing::Profile => "profile".to_owned(),
        Differing::Measures => "how kumite measures (MEASURES)".to_owned(),
        Differing::Kumite => "kumite".to_owned(),
        Differing::Rule => "rule of verdicts".to_owned(),
        Differing::Blocks => "blocks at each point, at most".to_owned(),
        Differing::Specification { key } => format!("experiment.toml, {key}"),
        Differing::Machine { fact } => format!("machine, {fact}"),
        Differing::Part { contender } => format!("{contender}, its part in the run"),
        Differing::Source { contender } => format!("{contender}, its files and build command"),
        Differing::Tools { contender } => format!("{contender}, its tools"),
        Differing::Service { name } => format!("service {name}"),
        Differing::Roles => "roles of other nodes".to_owned(),
    })
}

/// `6 claims: 4 same verdict, 1 another verdict, 1 could not tell.` Outcomes that none has are left out.
fn tally(replication: &Replication) -> String {
    let of = [PairOutcome::Same, PairOutcome::Another, PairOutcome::CouldNotTell];
    let counted = of.map(|outcome| (replication.count(outcome), outcome_word(outcome)));
    let parts: Vec<String> =
        counted.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
    match replication.claims.len() {
        0 => "Neither run has a claim.".to_owned(),
        n => format!("{}: {}.", plural(n, "claim"), parts.join(", ")),
    }
}
