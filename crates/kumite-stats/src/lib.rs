//! Pure, seeded statistics: intervals, paired ratios, bets, steady states. No clock, no file, no colour.
//!
//! Intervals are made of *blocks*: one value, or one pair, for each block of trials. The same input and seed give the
//! same output, bit for bit; the order of the blocks does not matter. Input that cannot be used is an [`Error`] or
//! has no result; no value is dropped.
//!
//! # Confidence sequences
//!
//! [`sequential_median`] and [`sequential_ratio`] may be looked at after every block, and are wrong with a probability of
//! at most alpha in all looks together, whatever makes one stop. A value is excluded once a gambler who betted, block
//! after block, that more than half of all lie on one side of it has 1/alpha times his money (Ville's inequality). Half
//! of it goes on every share alike: H. Robbins, "Statistical Methods Related to the Law of the Iterated Logarithm",
//! Ann. Math. Statist. 41(5), 1970; as a confidence sequence for quantiles: S. R. Howard, A. Ramdas, "Sequential
//! Estimation of Quantiles with Applications to A/B Testing and Best-Arm Identification", Bernoulli 28(3), 2022. The test
//! `peeking` of the example `discoveries` simulates it; docs/compare.md has its table.
//!
//! # Bets on one side
//!
//! [`wealth`] is what a gambler has who betted, round after round, that a thing is so in more than half of all rounds:
//! half of his money on every share above ½ alike, half on "in all". It is assumed that the thing has the same chance of
//! being so in every round, whatever came before. (That the order within a block is random makes it exactly ½ where
//! contenders are alike, on any machine.) A chance of exactly ½ counts as not so. If it is not so, the game is fair or a
//! losing one, so that the wealth is 1 or less on average, whenever one stops, and ever reaches 1/α with a probability of
//! at most α (Ville's inequality).
//!
//! - **A claim** of k comparisons holds if all of them do ([`ClaimRounds`]). If it is false, one of them is, and the
//!   *least* wealth is not above that one's. If it is true, all bets against it are fair or losing, and so is their *mean*:
//!   one k-th of the money on each. That costs at most about log2 k rounds, where all are on one side. The mean says that at
//!   least one comparison is false; one is named only if its own wealth reaches k times the threshold.
//! - **No difference** is a claim that holds when loosened by the margin, and fails when tightened by it. Whatever is true,
//!   all false verdicts of a claim come from one and the same game (a test has it for every input).
//! - **A run** of m claims ([`Decisions`]) gives d verdicts, the largest d such that d claims have m/(d α) or more (e-BH:
//!   R. Wang, A. Ramdas, "False discovery rate control with e-values", JRSS B 84(3), 2022). A false verdict adds 1/d to the
//!   share that is false, which is at most α/m of the wealth in its game; so that share is at most α on average, however
//!   claims depend on one another. All wealths must move in one common time, the rounds.
//! - **A decided claim** is measured no further. Not to play is allowed in any game: its wealth stays as it is, and so
//!   verdicts only become more, and are those that e-BH gives at the end.
//! - **No running maximum**, anywhere. The wealth at the end counts, not the most there ever was, which is above 1 on
//!   average even where nothing is so. 1/max is a p-value, and with p-values false discoveries are bounded only for claims
//!   that depend on one another in certain ways, or at log m times the price.
//! - **Bounds** ([`at_least`], [`at_most`]) are shown at the threshold of the run. A verdict can be false on one side of the
//!   truth only, a bound on either: where the truth lies so near to the border that both verdicts are given at times, up to
//!   2 α of the bounds are false on average, and α elsewhere. At twice the threshold it is α everywhere.
//!
//! `cargo run --release -p kumite-stats --example discoveries` simulates it: runs of six claims of k comparisons, looked at
//! after every round, in five kinds of noise; comparisons that are independent, or see the same pairs, or all six claims
//! do; 20,000 runs of each. How many of the verdicts are false on average, in percent, the highest of all noises and
//! dependences: stopped after 24 rounds, at the first verdict, and at the first false one (by an oracle, or after 100
//! rounds). Equal contenders differ in nothing; clear ones differ in nine of ten rounds. (`cargo test` asserts some of it.)
//!
//! | | k = 1 | k = 2 | k = 6 | k = 30 |
//! | --- | --- | --- | --- | --- |
//! | 3 equal, and claimed to be above | 1.8 1.7 2.0 | 1.8 1.7 2.1 | 1.8 1.6 2.0 | 1.9 1.7 2.1 |
//! | 6 equal, and claimed to be above | 3.5 4.1 4.1 | 3.5 4.1 4.1 | 3.5 4.0 4.0 | 3.5 4.0 4.0 |
//! | 3 one comparison equal, the others clear | 1.8 1.6 2.0 | 1.8 1.6 2.0 | 1.8 1.7 2.1 | 1.8 1.6 2.0 |
//! | 6 one comparison equal, the others clear | 3.6 4.2 4.2 | 3.7 4.2 4.2 | 3.6 4.0 4.0 | 3.7 4.1 4.1 |
//! | 3 equal, and claimed to be above or equal | 1.3 1.7 2.0 | 1.4 1.8 2.1 | 1.4 1.8 2.1 | 1.4 1.8 2.1 |
//! | 6 equal, and claimed to be above or equal | 3.5 3.9 3.9 | 3.5 4.0 4.0 | 3.8 4.3 4.3 | 3.6 4.1 4.1 |
//!
//! The same for the bounds that are shown:
//!
//! | | k = 1 | k = 2 | k = 6 | k = 30 |
//! | --- | --- | --- | --- | --- |
//! | all true and clear | 3.4 3.4 3.4 | 3.3 3.3 3.3 | 3.4 3.4 3.4 | 3.3 3.3 3.3 |
//! | 6 equal, and claimed to be above | 7.0 8.1 8.1 | 3.5 4.1 4.1 | 3.5 4.0 4.0 | 3.5 4.0 4.0 |
//! | 6 one comparison equal, the others clear | 7.2 8.3 8.3 | 5.4 6.2 6.2 | 4.0 4.6 4.6 | 3.8 4.3 4.3 |
//! | 6 equal, and claimed to be above or equal | 6.9 7.9 7.9 | 3.6 4.1 4.1 | 3.5 4.0 4.0 | 3.7 4.1 4.1 |
//! | 6 clearly false | 3.3 3.3 3.3 | 1.8 1.4 2.2 | 1.3 1.1 1.3 | 0.7 0.2 0.7 |
//!
//! Of claims that are all true, or clearly false, 0.0 % of the verdicts were false. At most 3.4 % of the runs had any false
//! verdict where that is what is bounded ([`ErrorRate::FamilyWise`]); at most 4.0 % of the verdicts were false with a margin
//! (where equal, or at either end of it), and 3.9 % at the border of a band. Those two tables go to six comparisons.
//!
//! One thing would bias it: blocks that are void, and repeated, more often where one contender is slower. At 2 % for either,
//! 4.3 % of the verdicts on equal contenders were false. At 2 % and 5 %, which makes 50.8 % of the rounds that are left
//! "so", 4.8 %; at 2 % and 10 % (52.1 %) 5.6 %; at 2 % and 20 % (55.1 %) 12.4 %, and with more rounds it would be all. No
//! bias is harmless for ever, and one percentage point is within a hundred rounds. So nothing that a contender does may
//! make a block void.
//!
//! Rounds until all of six claims are decided, the median of 2,000 simulated runs: with two-sided bets at 5 %/m, of which
//! a claim failed at 5 %/(m k), and with one-sided bets and e-BH.
//!
//! | | before | after |
//! | --- | --- | --- |
//! | all rounds on one side | 9 | 5 |
//! | 95 % | 20 | 12 |
//! | 90 % | 30 | 19 |
//! | three all, three 85 % | 34 | 22 |
//! | k = 6, all hold, all rounds | 9 | 5 |
//! | k = 6, one of them fails, all rounds | 12 | 8 |
//! | k = 6, all hold, 90 % | 40 | 28 |
//! | k = 6, one of them fails, 90 % | 34 | 26 |
//! | k = 6, all fail, 90 % | 20 | 8 |
//!
//! # Intervals for one look
//!
//! Those of [`median_interval`] are percentile bootstrap intervals with the percentiles expanded for few blocks: instead of α/2 on either
//! side, Φ(−√(n/(n−1)) · t), where t is the 1−α/2 quantile of Student's t with n−1 degrees of freedom: the expanded
//! percentile interval of T. Hesterberg, "What Teachers Should Know About the Bootstrap", The American Statistician
//! 69(4), 2015. The plain percentile interval is too narrow for few blocks: for means by about √((n−1)/n) and by normal
//! for Student quantiles.
//!
//! The true median lies in a 95 % interval from n blocks as often as this, in 20,000 simulated sequences of each kind
//! (the test `coverage` repeats it, smaller): never less than asked for, and sometimes more, because the median of few
//! values takes few values.
//!
//! | noise | n = 6 | 7 | 8 | 9 | 10 | 12 | 15 | 20 | 30 |
//! | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
//! | normal | 97.0 % | 98.4 % | 98.5 % | 95.9 % | 96.4 % | 96.2 % | 96.4 % | 95.8 % | 95.8 % |
//! | lognormal | 97.0 % | 98.4 % | 98.4 % | 95.9 % | 96.3 % | 96.2 % | 96.4 % | 95.8 % | 95.8 % |
//! | two modes, skewed | 96.8 % | 98.5 % | 98.2 % | 96.0 % | 96.0 % | 95.9 % | 96.4 % | 96.0 % | 95.7 % |
//!
//! It holds for one look. Whoever looks after every block and stops when an interval is to their liking is wrong more
//! often than 1 − confidence.
//!
//! # Steady state
//!
//! [`steady()`] says of one series, such as the throughput in steps of 100 ms, whether and from where it is steady. The
//! classes, and the idea of removing outliers before looking for changes, are those of E. Barrett, C. F. Bolz-Tereick,
//! R. Killick, S. Mount, L. Tratt, "Virtual Machine Warmup Blows Hot and Cold", Proc. ACM Program. Lang. 1 (OOPSLA), 2017,
//! section 4. Theirs are 2,000 iterations of one process; ours are as few as 15 points, and neighbours are correlated:
//!
//! 1. **Outliers.** A point that is more than 6 standard deviations (by the median), and 5 %, from the median of the five
//!    around it becomes that median: one or two slow steps, as a collection of garbage makes them, are no change.
//! 2. **Noise.** Variance and correlation of neighbours are estimated from differences at a distance of one and two, which
//!    changes of level hardly touch (S. Chakar, E. Lebarbier, C. Lévy-Leduc, S. Robin, "A Robust Approach for Estimating
//!    Change-Points in the Mean of an AR(1) Process", Bernoulli 23(2), 2017), here from the smaller nine tenths of their
//!    squares. Few points say little about correlation: 0.4 counts for 20 points beside them, and more than 0.7 is not
//!    believed.
//! 3. **Changes** of mean or variance are found by PELT ([`changes`]), at a penalty of 4 log n and with three points or more
//!    in a segment. The variance of a segment is at least a quarter of the noise's.
//! 4. **Levels.** Neighbouring segments are put together, the most alike first, while their means differ by less than 5 %
//!    or by less than four standard errors. These account for the correlation: the variance of a mean is
//!    (1 + ρ) / (1 − ρ) times that of independent points. So correlated noise, which PELT takes for changes, is not.
//! 5. **Class.** Steady is what begins with the first segment that is like the last one, if it is a quarter of the series or
//!    more, at least 80 % of it is at the last one's level, and a line through it does not rise or fall by more than 5 %
//!    between the middles of its outer thirds. Flat: from the beginning. Warm-up: nothing before was better. Slowdown:
//!    something was. Else there is no steady state.
//!
//! Unlike Barrett et al., what leaves the level for less than a fifth of the time and comes back does not end a steady
//! part: a long collection of garbage in the middle is what the program does, and belongs to its figures.
//!
//! How many of 1,000 simulated series were found as they are: of the right class, and steady from the right point, give
//! or take a tenth of the series or two points. In percent, for series of 15, 30, 100 and 300 points; what a row of "flat"
//! lacks to 100 are false alarms (`cargo run --release -p kumite-stats --example hits` prints it anew, and its test asserts
//! some of it).
//!
//! | | normal 3 % | lognormal 8 % | AR(1) 0.5, 3 % | AR(1) 0.8, 4 % | 3 %, every 20th half | 3 %, drifts 4 % |
//! | --- | --- | --- | --- | --- | --- | --- |
//! | flat | 100 100 100 100 | 100 100 100 100 | 99 99 100 100 | 91 90 89 95 | 99 99 98 98 | 99 98 99 100 |
//! | flat, first point half | 100 100 100 100 | 99 100 99 100 | 98 99 100 100 | 89 90 89 94 | 96 92 89 90 | 98 97 99 100 |
//! | flat, −30 % for 1/10 | 100 100 100 100 | 100 100 100 100 | 99 100 100 100 | 91 100 97 94 | 99 100 99 98 | 98 100 100 100 |
//! | +10 % at 1/3 | 21 67 100 100 | 1 3 67 100 | 18 41 97 100 | 16 32 74 91 | 24 70 99 99 | 22 63 100 100 |
//! | +30 % at 1/5 | 64 96 100 100 | 9 46 100 100 | 68 98 100 100 | 78 95 92 95 | 64 96 99 99 | 62 96 100 100 |
//! | +30 % at 1/3 | 80 100 100 100 | 20 67 100 100 | 89 99 100 100 | 93 96 91 94 | 80 97 99 99 | 78 99 100 100 |
//! | +30 % at 2/3 | 86 100 100 100 | 28 71 100 100 | 93 100 99 100 | 96 99 93 90 | 84 98 99 99 | 84 99 100 100 |
//! | ×2 at 1/3 | 100 100 100 100 | 70 98 100 100 | 100 99 99 100 | 99 95 89 91 | 98 100 99 99 | 100 99 100 100 |
//! | ×2, exponential | 25 59 94 99 | 8 39 68 93 | 7 36 76 96 | 4 39 66 80 | 25 62 94 98 | 21 60 82 90 |
//! | −10 % at 1/2 | 28 77 100 100 | 2 8 86 100 | 29 51 100 100 | 27 48 87 94 | 33 76 99 99 | 32 76 100 100 |
//! | −30 % at 1/2 | 97 100 100 100 | 43 84 100 100 | 100 100 100 100 | 100 99 97 96 | 94 98 99 99 | 97 100 100 100 |
//! | +30 % at 5/6 | 7 99 100 100 | 3 56 100 100 | 5 99 100 100 | 6 100 100 100 | 9 96 100 100 | 10 98 100 100 |
//! | +50 %, all the way | 42 51 87 97 | 37 30 37 68 | 42 49 68 88 | 45 48 55 74 | 39 52 85 94 | 40 59 84 93 |
//!
//! A miss of 10 % in 15 points is called flat; a rise all the way is, where missed, called a warm-up that ended late.
//! Noise that wanders for half a second and more (the fourth column) is taken for a change in 5 to 11 % of series: nothing
//! in one series tells the two apart.

mod bootstrap;
mod changepoint;
mod claim_game;
#[cfg(test)]
mod coin;
mod course;
#[cfg(test)]
mod coverage;
mod discovery;
mod error;
mod further;
mod median;
mod one_sided;
mod prediction;
mod proportion;
mod sequential;
mod sign_test;
mod spearman;
mod steady;

pub use bootstrap::Interval;
pub use changepoint::changes;
pub use claim_game::{ClaimRounds, ClaimWealth, Tally};
pub use course::{Course, followed};
pub use discovery::{Decisions, ErrorRate};
pub use error::Error;
pub use further::{Scatter, deviation};
pub use median::{median, median_interval};
pub use one_sided::{at_least, at_most, fewest_rounds, wealth, wealth_after};
pub use prediction::prediction;
pub use proportion::proportion;
pub use sequential::{
    blocks_to_exclude, fewest_blocks, sequential_median, sequential_median_between, sequential_ratio,
};
pub use sign_test::sign_test;
pub use spearman::{Correlation, spearman};
pub use steady::{Better, Class, FEWEST, Steady, steady};
