//! The search itself, which knows nothing of load, time or servers.
//!
//! Near the highest rate it is chance whether a trial meets an SLO: the same rate passes now and fails then. One
//! bisection thus gives one draw of an answer, and the scatter of answers makes an interval. There are three steps:
//!
//! 1. **Range.** The rate is doubled until a trial fails, or halved until one succeeds, and what lies between is bisected
//!    on a log scale down to 2 %. That answer is where the next step begins, and in no figure.
//! 2. **Repetitions.** A bracket of a factor of 1.2 to either side of the last answer, moved at random by up to half
//!    of that, is bisected in the same way. Its ends are not tried at first. An end at which the bisection arrives is
//!    tried then; if the bracket turns out not to hold the answer, the search goes on beyond that end, in a bracket
//!    as wide, then in one twice as wide, and so on. The answer is the geometric middle of what is left. Wrong turns
//!    upwards and downwards are thus alike, and the median of the answers is the rate at which half of the trials
//!    meet the SLO. (If it were the lower end, it would be 1 % lower.)
//! 3. **End.** From six repetitions on there is a confidence sequence of that median ([`sequential_median`]), which
//!    may be looked at after each; when that lies within 5 % of the median, the search is over.
//!
//! In simulations where the share of trials that meet the SLO falls with the rate as a logistic function does, 95 %
//! intervals hold the true rate in 96 to 98 % of searches, be the fall a cliff or so flat that it takes 55 % more
//! rate from nine met in ten to one (the test `the_interval_of_a_search_covers_the_capacity`). Narrower brackets
//! would need fewer trials, and miss where it is flat: each answer then stays near the one before it (1.1 for 1.2: 88
//! %). The up-and-down method (W. J. Dixon, A. M. Mood, "A Method for Obtaining and Analyzing Sensitivity Data", J.
//! Am. Stat. Assoc. 43, 1948) needs steps about as wide as the fall, which is not known; the probabilistic bisection
//! of R. Waeber, P. I. Frazier, S. G. Henderson ("Bisection Search with Noisy Responses", SIAM J. Control Optim.
//! 51(3), 2013) needs to know how often a trial misleads, or several at each rate.

use kumite_record::RateVerdict;
use kumite_stats::{Interval, sequential_median};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The ratio of its ends at which a bisection ends.
const PRECISION: f64 = 1.02;
/// The factor from the middle of a bracket to either end.
const REACH: f64 = 1.2;
/// The factor from the estimate to either end of its interval at which a search is over.
const CLOSE_ENOUGH: f64 = 1.05;
const ALPHA: f64 = 0.05;
/// The number of times that a draw tries the lowest rate before it says that no rate meets the SLO. A pause of the machine
/// fails a single trial at any rate.
const LOWEST_TRIED: usize = 3;

/// The reasons to make no further trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoTrial {
    OutOfTime,
    Interrupted,
    /// The upper end of what was bisected is the limit of the load engine, not of the server; or even the lowest rate
    /// is beyond the engine.
    EngineLimit,
    /// Not even the lowest rate met the SLO.
    NeverMet,
}

/// The findings of a search until now. Rates are in requests a second.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    /// The rate that each repetition found.
    pub answers: Vec<f64>,
    /// The last rate at which a trial met the SLO; `None` if none did.
    pub met: Option<f64>,
    /// The last rate at which a trial did not meet the SLO, by the server's fault; `None` if there was none.
    pub unmet: Option<f64>,
}

impl Known {
    /// The median of the answers, with its confidence interval; `None` before the sixth answer.
    pub fn interval(&self) -> Option<Interval> {
        sequential_median(&self.answers, ALPHA).ok()
    }

    fn is_close_enough(&self) -> bool {
        self.interval()
            .is_some_and(|it| it.high <= it.estimate * CLOSE_ENOUGH && it.low >= it.estimate / CLOSE_ENOUGH)
    }
}

/// A function that makes a trial at a rate, in requests a second, and returns its verdict.
pub(crate) type Try<'a> = dyn FnMut(f64) -> Result<RateVerdict, NoTrial> + 'a;

/// Searches from the rate `start` on, and not below `lowest` before it has found a rate that meets the SLO. Returns the
/// findings, and the reason why the search ended early; `None` if it came to its end.
pub(crate) fn search(attempt: &mut Try, start: f64, lowest: f64, seed: u64) -> (Known, Option<NoTrial>) {
    let mut search = Search::new(attempt, seed);
    let halt = search.run(start, lowest).err();
    (search.known, halt)
}

/// The result of one draw of a server's capacity. Rates are in requests a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Capacity {
    /// The capacity: the geometric middle of the bracket that was left. The bracket is wider than usual if the time was
    /// over before it was bisected to the end.
    Found(f64),
    /// The last rate at which the server met the objective. The capacity is likely not below it, but higher rates were
    /// beyond the load engine, or there was no time to try them.
    AtLeast(f64),
    /// The server met the objective at none of the rates that were tried. The value is the last rate at which the
    /// server was at fault. If the load engine may be the reason for all failures, it is the last rate that was tried.
    Never(f64),
    /// There was no time for a load.
    Untried,
    /// The draw was told to stop before it was done.
    Interrupted,
}

/// Draws one answer: a range from `guess` on, and not below `lowest` before a rate has met the SLO; then one bracket,
/// like that of a repetition of the search, about the middle of that range. If the time is over within the bracket, the
/// answer is the middle of what is left of it.
pub(crate) fn draw(attempt: &mut Try, guess: f64, lowest: f64, seed: u64) -> Capacity {
    let mut search = Search::new(attempt, seed);
    match search.draw(guess, lowest) {
        Ok(rate) => Capacity::Found(rate),
        Err(NoTrial::Interrupted) => Capacity::Interrupted,
        Err(NoTrial::OutOfTime) if search.left.is_some() => {
            let (low, high) = search.left.unwrap_or_default();
            Capacity::Found((low * high).sqrt())
        }
        Err(_) => match (search.known.met, search.known.unmet.or(search.engine)) {
            (Some(met), _) => Capacity::AtLeast(met),
            (None, Some(tried)) => Capacity::Never(tried),
            (None, None) => Capacity::Untried,
        },
    }
}

struct Search<'a, 'b> {
    attempt: &'a mut Try<'b>,
    known: Known,
    /// The ends of what is being bisected; `None` before there is a rate that met the SLO and one that did not.
    left: Option<(f64, f64)>,
    /// The last rate at which a trial failed, if the engine, and not the server, may have been the reason; otherwise
    /// `None`.
    engine: Option<f64>,
    random: ChaCha8Rng,
}

impl<'a, 'b> Search<'a, 'b> {
    fn new(attempt: &'a mut Try<'b>, seed: u64) -> Search<'a, 'b> {
        let random = ChaCha8Rng::seed_from_u64(seed);
        Search { attempt, known: Known::default(), left: None, engine: None, random }
    }

    fn draw(&mut self, guess: f64, lowest: f64) -> Result<f64, NoTrial> {
        let mut range = self.range(guess, lowest);
        for _ in 1..LOWEST_TRIED {
            if !matches!(range, Err(NoTrial::NeverMet)) {
                break;
            }
            range = self.range(lowest, lowest);
        }
        let (low, high) = range?;
        self.left = Some((low, high));
        let (low, high) = self.narrow(low, high, REACH * REACH)?;
        self.repeat((low * high).sqrt())
    }

    fn run(&mut self, start: f64, lowest: f64) -> Result<(), NoTrial> {
        let (low, high) = self.range(start, lowest)?;
        let mut last = self.bisect(low, high)?;
        while !self.known.is_close_enough() {
            last = self.repeat(last)?;
            self.known.answers.push(last);
        }
        Ok(())
    }

    /// Tries one rate. `true` if the trial meets the SLO.
    fn meets(&mut self, rate: f64) -> Result<bool, NoTrial> {
        match (self.attempt)(rate)? {
            RateVerdict::Met => {
                self.known.met = Some(rate);
                return Ok(true);
            }
            RateVerdict::Unmet => (self.known.unmet, self.engine) = (Some(rate), None),
            RateVerdict::Void => self.engine = Some(rate),
        }
        Ok(false)
    }

    fn range(&mut self, start: f64, lowest: f64) -> Result<(f64, f64), NoTrial> {
        let mut rate = start.max(lowest);
        if self.meets(rate)? {
            while self.meets(rate * 2.0)? {
                rate *= 2.0;
            }
            return Ok((rate, rate * 2.0));
        }
        loop {
            if rate <= lowest {
                return Err(if self.engine.is_some() { NoTrial::EngineLimit } else { NoTrial::NeverMet });
            }
            let lower = (rate / 2.0).max(lowest);
            if self.meets(lower)? {
                return Ok((lower, rate));
            }
            rate = lower;
        }
    }

    /// Bisects between two rates, and returns the geometric middle of what is left. Its upper end is a rate at which
    /// a trial failed, or `high`. An error if the engine may be the reason why that trial failed.
    fn bisect(&mut self, low: f64, high: f64) -> Result<f64, NoTrial> {
        let (low, high) = self.narrow(low, high, PRECISION)?;
        self.check_engine(high)?;
        Ok((low * high).sqrt())
    }

    /// Bisects between two rates until their ratio is at most `ratio`, and returns what is left.
    fn narrow(&mut self, mut low: f64, mut high: f64, ratio: f64) -> Result<(f64, f64), NoTrial> {
        while high / low > ratio {
            let middle = (low * high).sqrt();
            if self.meets(middle)? {
                low = middle
            } else {
                high = middle
            }
            self.left = Some((low, high));
        }
        Ok((low, high))
    }

    fn repeat(&mut self, last: f64) -> Result<f64, NoTrial> {
        let centre = last * REACH.powf(self.random.random_range(-0.5..0.5));
        let (mut low, mut high, mut reach) = (centre / REACH, centre * REACH, REACH);
        let (mut low_is_met, mut high_is_not) = (false, false);
        loop {
            let (lower, upper) = self.narrow(low, high, PRECISION)?;
            reach *= reach;
            if lower == low && !low_is_met && !self.meets(low)? {
                (low, high, high_is_not) = (low / reach, low, true);
            } else if upper == high && !high_is_not && self.meets(high)? {
                (low, high, low_is_met) = (high, high * reach, true);
            } else {
                self.check_engine(upper)?;
                return Ok((lower * upper).sqrt());
            }
        }
    }

    fn check_engine(&self, upper: f64) -> Result<(), NoTrial> {
        if self.engine == Some(upper) { Err(NoTrial::EngineLimit) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use kumite_stats::median_interval;

    use super::*;

    const BUDGET: usize = 80;

    /// A server that meets the SLO with a probability that falls as a logistic function of the rate's logarithm; `flat` is
    /// that function's scale, 0 for a cliff.
    fn simulated(capacity: f64, flat: f64, seed: u64) -> (Known, Option<NoTrial>, usize) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut trials = 0;
        let mut attempt = |rate: f64| {
            trials += 1;
            if trials > BUDGET {
                return Err(NoTrial::OutOfTime);
            }
            let beyond = (rate / capacity).ln();
            let chance =
                if flat > 0.0 { 1.0 / (1.0 + (beyond / flat).exp()) } else { f64::from(beyond <= 0.0) };
            Ok(if random.random_bool(chance) { RateVerdict::Met } else { RateVerdict::Unmet })
        };
        let (known, halt) = search(&mut attempt, 500.0, 100.0, seed);
        (known, halt, trials)
    }

    #[test]
    fn the_interval_of_a_search_covers_the_capacity() {
        for flat in [0.0, 0.003, 0.01, 0.03, 0.1] {
            let (mut covered, mut bias, mut all, mut width) = (0, 0.0, 0, 0.0);
            for seed in 0..500 {
                let capacity = 1000.0 * 2_f64.powf(seed as f64 / 500.0);
                let (known, _, trials) = simulated(capacity, flat, seed);
                let it = known.interval().unwrap_or_else(|| panic!("{flat}, {seed}: {known:?}"));
                covered += u32::from(it.low <= capacity && capacity <= it.high);
                bias += (it.estimate / capacity).ln() / 500.0;
                width += (it.high / it.low - 1.0) / 500.0;
                all += trials;
            }
            let (covered, trials) = (f64::from(covered) / 5.0, all as f64 / 500.0);
            let (bias, width) = (bias * 100.0, width * 100.0);
            println!("{flat}: covers {covered} %, bias {bias:.2} %, width {width:.1} %, {trials:.1} trials");
            assert!(covered >= 95.0, "{flat}: {covered} %");
            assert!(bias.abs() < 0.5, "{flat}: {bias} %");
        }
    }

    /// A kind of knee: how flat it is, as in `simulated`, and the standard deviation of the capacity's logarithm from
    /// trial to trial of a contender.
    const KNEES: [(f64, f64); 6] =
        [(0.0, 0.0), (0.0, 0.05), (0.01, 0.0), (0.03, 0.02), (0.1, 0.0), (0.1, 0.05)];

    /// One draw within 20 s, in loads of a second that take one more if they are not met, from a guess that is off by up
    /// to a factor of 2.
    fn drawn(capacity: f64, (flat, scatter): (f64, f64), random: &mut ChaCha8Rng, seed: u64) -> Capacity {
        let normal = (0..12).map(|_| random.random_range(0.0..1.0)).sum::<f64>() - 6.0;
        let of_trial = capacity * (scatter * normal).exp();
        let guess = capacity * 2_f64.powf(random.random_range(-1.0..1.0));
        let mut seconds = 0.0;
        let mut attempt = |rate: f64| {
            if seconds + 2.0 > 20.0 {
                return Err(NoTrial::OutOfTime);
            }
            let beyond = (rate / of_trial).ln();
            let chance =
                if flat > 0.0 { 1.0 / (1.0 + (beyond / flat).exp()) } else { f64::from(beyond <= 0.0) };
            let met = random.random_bool(chance);
            seconds += if met { 1.0 } else { 2.0 };
            Ok(if met { RateVerdict::Met } else { RateVerdict::Unmet })
        };
        draw(&mut attempt, guess, 100.0, seed)
    }

    #[test]
    fn the_interval_of_the_median_of_draws_covers_the_capacity() {
        for knee in KNEES {
            for blocks in [6, 12] {
                let (mut covered, mut bias, mut width) = (0, 0.0, 0.0);
                for experiment in 0..1000 {
                    let mut random = ChaCha8Rng::seed_from_u64(experiment);
                    let capacity = 1000.0 * 2_f64.powf(experiment as f64 / 1000.0);
                    let rates: Vec<f64> = (0..blocks)
                        .map(|block| match drawn(capacity, knee, &mut random, experiment * 100 + block) {
                            Capacity::Found(rate) => rate,
                            other => panic!("{knee:?}: {other:?}"),
                        })
                        .collect();
                    let it = median_interval(&rates, 0.95, experiment).unwrap();
                    covered += u32::from(it.low <= capacity && capacity <= it.high);
                    bias += (it.estimate / capacity).ln() / 10.0;
                    width += (it.high / it.low - 1.0) / 10.0;
                }
                let covered = f64::from(covered) / 10.0;
                println!(
                    "{knee:?}, {blocks} blocks: covers {covered} %, bias {bias:.2} %, width {width:.1} %"
                );
                assert!(covered >= 93.0, "{knee:?}, {blocks} blocks: {covered} %");
            }
        }
    }

    #[test]
    fn a_draw_says_what_it_could_not_know() {
        let with = |engine: f64, server: f64, most: u32| {
            let mut made = 0;
            let mut attempt = |rate: f64| {
                made += 1;
                match () {
                    () if made > most => Err(NoTrial::OutOfTime),
                    () if rate > engine => Ok(RateVerdict::Void),
                    () if rate > server => Ok(RateVerdict::Unmet),
                    () => Ok(RateVerdict::Met),
                }
            };
            draw(&mut attempt, 500.0, 100.0, 1)
        };
        let Capacity::AtLeast(met) = with(3_000.0, 3_500.0, 99) else { panic!("the engine is the limit") };
        assert!((0.98..=1.0).contains(&(met / 3_000.0)), "{met}");
        assert_eq!(with(1e9, 1e9, 3), Capacity::AtLeast(2_000.0), "there was no time for more");
        assert_eq!(with(1e9, 50.0, 99), Capacity::Never(100.0));
        assert_eq!(with(1e9, 1e9, 0), Capacity::Untried);
        let mut made = 0;
        let mut late = |rate: f64| {
            made += 1;
            Ok(if made > 4 && rate <= 700.0 { RateVerdict::Met } else { RateVerdict::Unmet })
        };
        let Capacity::Found(found) = draw(&mut late, 500.0, 100.0, 1) else {
            panic!("four failed by chance")
        };
        assert!((found / 700.0 - 1.0).abs() < 0.02, "{found}");
        assert_eq!(with(50.0, 1e9, 99), Capacity::Never(100.0));
        let Capacity::Found(early) = with(1e9, 700.0, 4) else { panic!("it lies between two") };
        assert!((early / 700.0 - 1.0).abs() < 0.1, "{early}");
    }

    #[test]
    fn a_cliff_is_found_wherever_it_is() {
        for capacity in [101.0, 499.0, 501.0, 1000.0, 123_456.0] {
            let (known, halt, trials) = simulated(capacity, 0.0, 1);
            let it = known.interval().unwrap();
            assert!(halt.is_none() && (it.estimate / capacity - 1.0).abs() < 0.01, "{capacity}: {it:?}");
            assert!(trials < 60, "{trials}");
        }
    }

    #[test]
    fn a_first_trial_that_misleads_is_made_up_for() {
        let mut trials = 0;
        let mut attempt = |rate: f64| {
            trials += 1;
            Ok(if rate < 8_000.0 && trials > 1 { RateVerdict::Met } else { RateVerdict::Unmet })
        };
        let (known, halt) = search(&mut attempt, 500.0, 100.0, 1);
        let it = known.interval().unwrap();
        assert!(halt.is_none() && (it.low..=it.high).contains(&8_000.0), "{it:?}");
    }

    #[test]
    fn an_engine_at_its_limit_gives_no_answer() {
        let end = |engine: f64, server: f64| {
            let mut attempt = |rate: f64| {
                Ok(match () {
                    () if rate > engine => RateVerdict::Void,
                    () if rate > server => RateVerdict::Unmet,
                    () => RateVerdict::Met,
                })
            };
            let (known, halt) = search(&mut attempt, 500.0, 100.0, 1);
            (known.met.map(|met| met / engine.min(server)), halt)
        };
        let (met, halt) = end(3_000.0, 3_500.0);
        assert!(halt == Some(NoTrial::EngineLimit) && (0.98..=1.0).contains(&met.unwrap()), "{met:?}");
        assert_eq!(end(50.0, 1_000.0), (None, Some(NoTrial::EngineLimit)));
        assert_eq!(end(4_000.0, 3_000.0).1, None);
    }

    #[test]
    fn a_server_that_never_meets_it_is_said_to() {
        let (known, halt, trials) = simulated(99.0, 0.0, 1);
        assert_eq!((known.met, known.unmet, halt, trials), (None, Some(100.0), Some(NoTrial::NeverMet), 4));
    }

    #[test]
    fn what_is_known_when_time_is_over_is_kept() {
        let mut left = 12;
        let mut attempt = |rate: f64| {
            left -= 1;
            if left < 0 {
                Err(NoTrial::OutOfTime)
            } else {
                Ok(if rate < 777.0 { RateVerdict::Met } else { RateVerdict::Unmet })
            }
        };
        let (known, halt) = search(&mut attempt, 500.0, 100.0, 1);
        assert_eq!((halt, known.interval()), (Some(NoTrial::OutOfTime), None));
        assert!(known.met.unwrap() < 777.0 && known.unmet.unwrap() >= 777.0);
    }
}
