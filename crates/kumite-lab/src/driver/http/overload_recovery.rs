//! The recovery of a server that was offered too much, after the load has dropped.

use kumite_load::Recovery;

use std::time::Duration;

/// The time for which all that is due must be answered as in normal times before the server counts as recovered. A
/// queue of old requests can let a few new ones through.
pub(crate) const STEADY: Duration = Duration::from_secs(5);

/// The time from the drop to the recovery: the first moment from which on every request that was due in the next
/// [`STEADY`] was answered as in normal times. The moment is the drop itself, or the time at which a request was due
/// that was answered so. `requests` are those that were due since the drop, in order, each with the time at which it
/// was due, and true if it was answered as in normal times. All instants are in ns of one clock.
///
/// If the recovery is not found by `until`, the end of watching, the result is not complete and its time is a lower
/// bound: it ends at the first moment that might still have become the recovery, or else at `until`.
pub(crate) fn overload_recovery(
    requests: impl IntoIterator<Item = (u64, bool)>,
    dropped: u64,
    until: u64,
) -> Recovery {
    let steady = STEADY.as_nanos() as u64;
    let mut normal_since = Some(dropped);
    for (due, is_normal) in requests {
        if normal_since.is_some_and(|since| due >= since + steady) {
            break;
        }
        normal_since = if is_normal { normal_since.or(Some(due)) } else { None };
    }
    let since = normal_since.unwrap_or(until);
    Recovery { took: Duration::from_nanos(since - dropped), complete: since + steady <= until }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const S: u64 = 1_000_000_000;

    /// The recovery of requests that come each second from the drop at 100 s, watched until the last was due: its
    /// length in seconds, and whether it is complete. `n` is a request that was answered normally.
    fn seconds(normal: &str) -> (u64, bool) {
        let requests = normal.chars().zip(100..).map(|(how, second)| (second * S, how == 'n'));
        let Recovery { took, complete } =
            overload_recovery(requests, 100 * S, (99 + normal.len() as u64) * S);
        assert_eq!(took.subsec_nanos(), 0);
        (took.as_secs(), complete)
    }

    #[test]
    fn from_the_drop_to_when_answers_stay_normal() {
        assert_eq!(seconds("nnnnnn"), (0, true));
        assert_eq!(seconds("nnnnn-"), (0, true), "what is due 5 s later is not asked");
        assert_eq!(seconds("nnnn-nnnnnn"), (5, true));
        assert_eq!(seconds("---nnnnnn"), (3, true));
        assert_eq!(seconds("-n-nn-nnnnnn"), (6, true));
        assert_eq!(seconds("-nnnnn--------"), (1, true), "a failure later than 5 s after");
    }

    #[test]
    fn until_the_end_it_is_a_bound() {
        assert_eq!(seconds("---nnnnn"), (3, false), "seen for 4 s only");
        assert_eq!(seconds("--------"), (7, false));
        assert_eq!(seconds("nnnnnn"[..5].into()), (0, false));
        assert_eq!(overload_recovery([], 7, 7 + 5 * S), Recovery { took: Duration::ZERO, complete: true });
        assert_eq!(overload_recovery([], 7, 8), Recovery { took: Duration::ZERO, complete: false });
    }

    proptest! {
        /// Compares the recovery with its definition, applied with all requests at hand.
        #[test]
        fn is_what_the_definition_says(
            gaps in prop::collection::vec((0..3 * S, prop::bool::weighted(0.8)), 0..40),
            dropped in 0..9 * S,
            tail in 1..8 * S,
        ) {
            let mut now = dropped;
            let requests: Vec<(u64, bool)> = gaps
                .into_iter()
                .map(|(gap, normal)| {
                    now += gap;
                    (now, normal)
                })
                .collect();
            let until = now + tail;
            let moments = || {
                let normal = requests.iter().filter(|(_, normal)| *normal).map(|(due, _)| *due);
                std::iter::once(dropped).chain(normal)
            };
            let stays = |from: u64, to: u64| {
                requests.iter().all(|(due, normal)| *normal || !(from..to).contains(due))
            };
            let found = moments().find(|at| at + 5 * S <= until && stays(*at, at + 5 * S));
            let may_be = || moments().find(|at| stays(*at, u64::MAX)).unwrap_or(until);
            let took = Duration::from_nanos(found.unwrap_or_else(may_be) - dropped);
            prop_assert_eq!(overload_recovery(requests.clone(), dropped, until), Recovery { took, complete: found.is_some() });
        }
    }
}
