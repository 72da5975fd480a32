//! Doubts about effects that followed the state of the machine, or changed during the run, in words.

use kumite_record::Doubt;

/// The doubt that an effect went with something, with the effects at both ends: the first in the words of `whole`, the
/// second, which follows it, in those of `short`. `None` if it is another doubt.
pub fn moved(doubt: &Doubt, whole: impl Fn(f64) -> String, short: impl Fn(f64) -> String) -> Option<String> {
    match doubt {
        Doubt::WentWith { probe, low, high } => Some(format!(
            "it went with the machine's {probe}: {} in the third of the rounds with the cheapest, {} in that with the dearest",
            whole(*low),
            short(*high)
        )),
        Doubt::ChangedDuringRun { first, last } => Some(format!(
            "it changed during the run: {} in the first third of the rounds, {} in the last",
            whole(*first),
            short(*last)
        )),
        _ => None,
    }
}
