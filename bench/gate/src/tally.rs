//! Gates counted, and what is asked of them.

use kumite_compare::RecordedGate;
use kumite_record::{GateDoubt, GateState};

use crate::case::Case;

/// What is asked of gates, beside that they are shut by mistake no more often than promised.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// The rounds within which 3 % are to be shown in 95 of 100; `None` if nothing is asked of what is slower.
    pub rounds: Option<usize>,
    /// The most of them that may be undecided because of the control.
    pub cannot_tell: f64,
}

/// The gates of one case.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub gates: usize,
    pub shut: usize,
    /// Of those that are shut, how many with a doubt.
    pub doubtful: usize,
    pub open: usize,
    /// Undecided, because of the control.
    pub cannot_tell: usize,
    /// The rounds after which it was first shown to be slower than each run of the reference, of those of which it ever was.
    shown: Vec<f64>,
    rounds: Vec<f64>,
    seconds: Vec<f64>,
}

impl Tally {
    pub fn count(&mut self, gate: &RecordedGate) {
        self.gates += 1;
        match (gate.gate.state, gate.gate.doubt) {
            (GateState::Shut, doubt) => {
                self.shut += 1;
                self.doubtful += usize::from(doubt.is_some());
            }
            (GateState::Open, _) => self.open += 1,
            (GateState::Undecided, doubt) => {
                let is_of_control = matches!(
                    doubt,
                    Some(
                        GateDoubt::ControlIsOff | GateDoubt::SlowerThanOneOnly | GateDoubt::NotClearOfControl
                    )
                );
                self.cannot_tell += usize::from(is_of_control);
            }
        }
        self.shown.extend(gate.first_shut.map(|rounds| rounds as f64));
        self.rounds.push(gate.blocks as f64);
        self.seconds.push(gate.seconds);
    }

    /// Undecided for want of evidence.
    pub fn undecided(&self) -> usize {
        self.gates - self.shut - self.open - self.cannot_tell
    }

    /// How many were shown to be slower within so many rounds.
    pub fn shown_within(&self, rounds: usize) -> usize {
        self.shown.iter().filter(|shown| **shown <= rounds as f64).count()
    }

    /// The heads of [`Tally::row`].
    pub fn heads() {
        println!(
            "| case | gates | shut | of these with a doubt | open | undecided | cannot tell | rounds until shown, median / 95 % | rounds, median / 95 % | seconds, median / 95 % |"
        );
        println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    }

    pub fn row(&self, case: &str) {
        println!(
            "| {case} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            self.gates,
            self.shut,
            self.doubtful,
            self.open,
            self.undecided(),
            self.cannot_tell,
            spread(&self.shown, 0),
            spread(&self.rounds, 0),
            spread(&self.seconds, 1),
        );
    }

    pub fn shown(&self) -> String {
        spread(&self.shown, 0)
    }

    pub fn rounds(&self) -> String {
        spread(&self.rounds, 0)
    }

    pub fn seconds(&self) -> String {
        spread(&self.seconds, 1)
    }

    /// What is worse than asked.
    pub fn problems(&self, case: Case, asked: Asked) -> Vec<String> {
        let share = |count: usize| count as f64 / self.gates.max(1) as f64;
        let mut problems = Vec::new();
        let mut ask = |is_met: bool, what: String| {
            if !is_met {
                problems.push(format!("{}: {what} of {}", case.name(), self.gates));
            }
        };
        let told =
            (share(self.cannot_tell) <= asked.cannot_tell, format!("{} cannot be told", self.cannot_tell));
        match (case, asked.rounds) {
            // As many as 3 and 6 of 200.
            (Case::Equal | Case::Border, _) => {
                let most = if case == Case::Equal { 0.015 } else { 0.03 };
                ask(share(self.shut) <= most, format!("{} are shut", self.shut));
                ask(told.0, told.1);
            }
            (Case::Lucky, _) => ask(self.shut == 0, format!("{} are shut", self.shut)),
            (Case::Slower, Some(rounds)) => {
                let found = self.shown_within(rounds);
                ask(share(found) >= 0.95, format!("{found} are shown within {rounds} rounds"));
                ask(told.0, told.1);
            }
            (Case::FarSlower, Some(_)) => ask(share(self.shut) >= 0.95, format!("{} are shut", self.shut)),
            (Case::Slower | Case::FarSlower, None) => {}
        }
        problems
    }
}

/// The rounds in which 3 % are shown, at a margin of 1 %, against both runs of the reference in 95 of 100 gates, where a
/// round's ratio has this standard deviation: simulated before the gate was made, and straight in between.
pub fn rounds_asked(deviation: f64) -> usize {
    const SIMULATED: [(f64, f64); 4] = [(0.007, 8.0), (0.01, 19.0), (0.015, 32.0), (0.02, 52.0)];
    let between = SIMULATED.windows(2).find(|of| deviation <= of[1].0).unwrap_or(&SIMULATED[2..]);
    let ((s, rounds), (t, more)) = (between[0], between[1]);
    (rounds + (more - rounds) * (deviation - s) / (t - s)).max(SIMULATED[0].1).ceil() as usize
}

fn spread(values: &[f64], decimals: usize) -> String {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| {
        let place = ((sorted.len() as f64 * share).ceil() as usize).clamp(1, sorted.len().max(1)) - 1;
        sorted.get(place).map_or("–".to_owned(), |value| format!("{value:.decimals$}"))
    };
    format!("{} / {}", at(0.5), at(0.95))
}

#[cfg(test)]
mod tests {
    use kumite_record::{ComparisonEnd, PairGate};

    use super::*;

    #[test]
    fn the_rounds_asked_for_are_those_simulated_and_go_on_beyond() {
        let asked = [0.005, 0.007, 0.01, 0.0125, 0.02, 0.025].map(rounds_asked);
        assert_eq!(asked, [8, 8, 19, 26, 52, 72]);
    }

    #[test]
    fn a_gate_counts_by_its_answer_and_what_is_worse_than_asked_is_said() {
        let gate = |state, doubt, first_shut| RecordedGate {
            gate: PairGate { doubt, ..PairGate::of(state) },
            ended: ComparisonEnd::Decided,
            blocks: 30,
            seconds: 27.0,
            first_shut,
        };
        let mut tally = Tally::default();
        tally.count(&gate(GateState::Shut, None, Some(8)));
        tally.count(&gate(GateState::Shut, Some(GateDoubt::NotClearOfControl), Some(20)));
        tally.count(&gate(GateState::Open, None, None));
        tally.count(&gate(GateState::Undecided, Some(GateDoubt::SlowerThanOneOnly), None));
        tally.count(&gate(GateState::Undecided, None, None));
        let counts =
            [tally.gates, tally.shut, tally.doubtful, tally.open, tally.cannot_tell, tally.undecided()];
        assert_eq!(counts, [5, 2, 1, 1, 1, 1]);
        assert_eq!((tally.shown(), tally.seconds()), ("8 / 20".to_owned(), "27.0 / 27.0".to_owned()));
        let asked = Asked { rounds: Some(19), cannot_tell: 0.5 };
        assert_eq!(tally.problems(Case::Equal, asked), ["equal: 2 are shut of 5"]);
        assert_eq!(tally.problems(Case::Slower, asked), ["+3 %: 1 are shown within 19 rounds of 5"]);
        assert_eq!(tally.problems(Case::Slower, Asked { rounds: None, ..asked }), [""; 0]);
        let none = Asked { cannot_tell: 0.0, ..asked };
        assert_eq!(tally.problems(Case::Equal, none).len(), 2);
        assert_eq!(tally.problems(Case::Lucky, none).len(), 1, "what cannot be told is right there");
    }
}
