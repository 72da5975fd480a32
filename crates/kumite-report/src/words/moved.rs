//! Doubts about effects that followed the state of the machine, or changed during the run, in words.

use kumite_record::Doubt;

/// The sentence on a doubt that an effect went with a probe or with time. It has the effects at both ends: `whole`
/// writes the first effect, and `short` the second one. None if `doubt` is another doubt.
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
