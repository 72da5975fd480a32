//! A result as a reviewer's comment in GitHub's Markdown, of at most 25 lines: the worst first.
//!
//! The first line is a comment of HTML, by which a program finds its own comment again and edits it. Names stand in
//! code spans, in which GitHub makes no link, mention or reference; all other texts are [`inert`].

use kumite_record::GateState;

use super::{Case, Kind, Part, Review};
use crate::markdown::{code, inert};
use crate::words::letters::letters;
use crate::words::number::count;
use crate::words::quantity::length;
use crate::words::text::cut;

/// The most lines of each part, with the line that counts those that are left out.
const MOST_DOUBTS: usize = 3;
const MOST_WRONG: usize = 7;
const MOST_UNTOLD: usize = 4;
const MOST_RIGHT: usize = 3;

/// The most characters of a name. If one is longer, all become letters, and a line says what they stand for.
const LONGEST_NAME: usize = 60;
/// The most characters of a sentence and of what a letter stands for. GitHub refuses a comment of 65,536.
const LONGEST_TEXT: usize = 400;

/// The result as a comment, which begins with its marker.
pub fn comment(review: &Review) -> String {
    format!("{}\n{}", marker(&review.title), body(review))
}

/// The first line of a comment, by which its next version finds it: `<!-- kumite compare -->`.
fn marker(title: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() { c } else { ' ' };
    let words: String = title.chars().map(kept).collect();
    format!("<!-- {} -->", words.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The comment without its marker.
pub(super) fn body(review: &Review) -> String {
    let names = Names::new(review);
    let mut lines = vec![heading(review), String::new(), summary(review, &names), String::new()];
    let doubts = review.doubts.iter().map(|doubt| format!("- ! {}", text(doubt)));
    lines.extend(at_most(MOST_DOUBTS, "- !", doubts.collect()));
    for (part, most, sign) in
        [(Part::Wrong, MOST_WRONG, "✗"), (Part::Untold, MOST_UNTOLD, "?"), (Part::Right, MOST_RIGHT, "✓")]
    {
        let cases = review.of(part).into_iter().map(|case| format!("- {sign} {}", names.said(case)));
        lines.extend(at_most(most, &format!("- {sign}"), cases.collect()));
    }
    lines.push(String::new());
    lines.extend(names.legend());
    lines.push(format!(
        "kumite {}, {} of measuring; all of it is in the report of this job. Again: {}",
        inert(&cut(&review.kumite, LONGEST_NAME)),
        length(review.seconds),
        code(&cut(&review.command, LONGEST_TEXT))
    ));
    lines.join("\n") + "\n"
}

fn heading(review: &Review) -> String {
    let title = text(&review.title);
    match review.gate.as_ref().map(|gate| gate.state) {
        None if !review.of(Part::Wrong).is_empty() => format!("### ✗ {title}"),
        None => format!("### {title}"),
        Some(GateState::Open) => format!("### ✓ {title}: the gate is open"),
        Some(GateState::Shut) => format!("### ✗ {title}: the gate is shut"),
        Some(GateState::Undecided) => format!("### ? {title}: the gate is undecided"),
    }
}

/// How many there are of each part, against whom, and by which margin and level.
fn summary(review: &Review, names: &Names) -> String {
    let against =
        review.against.as_ref().map_or(String::new(), |name| format!("Against {}, ", names.of(name)));
    let asked = review.asked.as_ref().map_or(String::new(), |asked| format!("{}: ", text(asked)));
    let said = format!("{against}{asked}{}.", review.counts());
    let mut letters = said.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

fn text(text: &str) -> String {
    inert(&cut(text, LONGEST_TEXT))
}

/// These lines, or as many of them as there is room for and one that counts the others.
fn at_most(most: usize, sign: &str, mut lines: Vec<String>) -> Vec<String> {
    if lines.len() > most {
        let more = lines.len() - (most - 1);
        lines.truncate(most - 1);
        lines.push(format!("{sign} and {} more, in the report of this job", count(more as f64)));
    }
    lines
}

/// The names of a comment: as they are, or letters if any of them is too long.
struct Names<'a> {
    all: Vec<&'a str>,
    are_letters: bool,
}

impl<'a> Names<'a> {
    fn new(review: &'a Review) -> Names<'a> {
        let subjects = review.cases.iter().map(|case| &*case.subject).filter(|name| !name.is_empty());
        let mut all: Vec<&str> = Vec::new();
        for name in review.against.as_deref().into_iter().chain(subjects) {
            if !all.contains(&name) {
                all.push(name);
            }
        }
        Names { are_letters: all.iter().any(|name| name.chars().count() > LONGEST_NAME), all }
    }

    fn of(&self, name: &str) -> String {
        match self.all.iter().position(|known| *known == name).filter(|_| self.are_letters) {
            Some(at) => letters(at),
            None if name.is_empty() => "(no name)".to_owned(),
            None => code(&cut(name, LONGEST_NAME)),
        }
    }

    fn said(&self, case: &Case) -> String {
        let answer = text(&case.answer());
        if case.kind == Kind::Whole { answer } else { format!("{}: {answer}", self.of(&case.subject)) }
    }

    /// A line with what the letters stand for, as far as there is room for it. None if names are their own.
    fn legend(&self) -> Option<String> {
        const MOST: usize = 20;
        let stands =
            |(at, name): (usize, &&str)| format!("{}: {}", letters(at), code(&cut(name, LONGEST_TEXT)));
        let all: Vec<String> = self.all.iter().enumerate().take(MOST).map(stands).collect();
        self.are_letters.then(|| all.join("; ") + if self.all.len() > MOST { "; …\\" } else { "\\" })
    }
}
