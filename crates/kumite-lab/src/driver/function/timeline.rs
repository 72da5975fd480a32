//! The phases in the lives of instances, from the events that the host saw.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use kumite_function::{InstanceEvent, Lifecycle};
use kumite_record::{Phase, PhaseKind};

/// The phases of all instances, in the order of time. Times count from `began`.
pub(super) fn phases(timeline: &[InstanceEvent], began: Instant) -> Vec<Phase> {
    let mut phases: Vec<Phase> = Vec::new();
    let mut open: BTreeMap<u32, usize> = BTreeMap::new();
    for InstanceEvent { instance, at, what } in timeline {
        let at_ms = since_ms(began, *at);
        let next = match what {
            Lifecycle::Init => Some(PhaseKind::Init),
            Lifecycle::Reinit => Some(PhaseKind::Reinit),
            Lifecycle::Invoke => Some(PhaseKind::Invoke),
            Lifecycle::Frozen => Some(PhaseKind::Frozen),
            Lifecycle::Killed(_) | Lifecycle::Exited(_) => Some(PhaseKind::Killed),
            Lifecycle::InitDone | Lifecycle::InvokeDone | Lifecycle::Thawed | Lifecycle::Gone => None,
            Lifecycle::Rejected(_) => continue,
        };
        let is_open = |kind| open.get(instance).is_some_and(|nth| phases[*nth].kind == kind);
        // An instance that is being killed exits by that, and not by itself.
        if matches!(what, Lifecycle::Exited(_)) && is_open(PhaseKind::Killed) {
            continue;
        }
        let closed = open.remove(instance);
        if let Some(nth) = closed {
            phases[nth].to_ms = at_ms;
        }
        // The reason for an ending may come after the call is over.
        let last = closed.or_else(|| phases.iter().rposition(|phase| phase.instance == *instance));
        if let (Some(ending), Some(phase)) = (ending(what), last.map(|nth| &mut phases[nth])) {
            let idle = phase.kind == PhaseKind::Frozen && matches!(what, Lifecycle::Killed(_));
            // An instance that is ended while it is idle has done all that it had to.
            phase.ending = Some(ending).filter(|_| !idle);
        }
        if let Some(kind) = next {
            open.insert(*instance, phases.len());
            phases.push(Phase { instance: *instance, kind, from_ms: at_ms, to_ms: at_ms, ending: None });
        }
    }
    // A phase that is open at the end goes on for as long as was watched.
    let last_ms = timeline.last().map_or(0.0, |last| since_ms(began, last.at));
    open.into_values().for_each(|nth| phases[nth].to_ms = last_ms);
    phases
}

/// The phrase of an instance's end. None if it goes on.
fn ending(what: &Lifecycle) -> Option<String> {
    match what {
        Lifecycle::Killed(why) => Some(why.to_string()),
        Lifecycle::Exited(how) => Some(how.to_string()),
        _ => None,
    }
}

/// A sentence about the first thing that an instance said against the protocol. None if none did.
pub(super) fn rejected(timeline: &[InstanceEvent]) -> Option<String> {
    timeline.iter().find_map(|event| match &event.what {
        Lifecycle::Rejected(what) => Some(format!("instance {}: {what}", event.instance)),
        _ => None,
    })
}

/// The time from `began` to `at` in ms; below 0 if `at` was before.
pub(super) fn since_ms(began: Instant, at: Instant) -> f64 {
    match at.checked_duration_since(began) {
        Some(since) => ms(since),
        None => -ms(began - at),
    }
}

/// A time in ms, exact to a nanosecond.
pub(super) fn ms(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    use kumite_function::{Exit, KillReason};

    use super::*;

    /// A line of text for each phase, from events that have an instance, a time in ms and what happened.
    fn sentences(happened: &[(u32, u64, Lifecycle)]) -> Vec<String> {
        let began = Instant::now();
        let timeline: Vec<InstanceEvent> = happened
            .iter()
            .map(|(instance, ms, what)| InstanceEvent {
                instance: *instance,
                at: began + Duration::from_millis(*ms),
                what: what.clone(),
            })
            .collect();
        let line = |phase: Phase| {
            let ending = phase.ending.map(|ending| format!(", {ending}")).unwrap_or_default();
            format!("{} {} {}-{}{ending}", phase.instance, phase.kind.as_str(), phase.from_ms, phase.to_ms)
        };
        phases(&timeline, began).into_iter().map(line).collect()
    }

    const STOPPED: Lifecycle = Lifecycle::Killed(KillReason::HostStopped);

    fn exited(raw_status: i32) -> Lifecycle {
        Lifecycle::Exited(Exit { status: Some(ExitStatus::from_raw(raw_status)), out_of_memory: false })
    }

    #[test]
    fn two_instances_side_by_side() {
        let happened = [
            (1, 1, Lifecycle::Init),
            (1, 20, Lifecycle::InitDone),
            (1, 21, Lifecycle::Invoke),
            (2, 25, Lifecycle::Init),
            (1, 30, Lifecycle::InvokeDone),
            (1, 30, Lifecycle::Frozen),
            (2, 40, Lifecycle::InitDone),
            (2, 41, Lifecycle::Invoke),
            (1, 45, Lifecycle::Thawed),
            (1, 45, Lifecycle::Invoke),
            (1, 50, Lifecycle::InvokeDone),
            (2, 60, Lifecycle::InvokeDone),
            (1, 61, Lifecycle::Frozen),
            (2, 62, Lifecycle::Frozen),
            (1, 70, STOPPED),
            (1, 72, Lifecycle::Gone),
            (2, 73, STOPPED),
            (2, 74, Lifecycle::Gone),
        ];
        assert_eq!(
            sentences(&happened),
            [
                "1 init 1-20",
                "1 invoke 21-30",
                "2 init 25-40",
                "1 frozen 30-45",
                "2 invoke 41-60",
                "1 invoke 45-50",
                "1 frozen 61-70",
                "2 frozen 62-73",
                "1 killed 70-72",
                "2 killed 73-74",
            ]
        );
    }

    #[test]
    fn a_constructor_that_is_cut_off_is_run_again() {
        let happened = [
            (1, 0, Lifecycle::Init),
            (1, 1000, Lifecycle::Killed(KillReason::InitCutOff { limit: Duration::from_secs(1) })),
            (1, 1005, Lifecycle::Reinit),
            (1, 2500, Lifecycle::InitDone),
            (1, 2500, Lifecycle::Invoke),
            (1, 2600, Lifecycle::Rejected("a second answer".into())),
            (1, 3500, Lifecycle::InvokeDone),
            (1, 3500, Lifecycle::Killed(KillReason::TimeOut { limit: Duration::from_secs(1) })),
            (1, 3501, exited(9)),
            (1, 3502, Lifecycle::Gone),
        ];
        assert_eq!(
            sentences(&happened),
            [
                "1 init 0-1000, its initialization was cut off after 1 s",
                "1 killed 1000-1005",
                "1 reinit 1005-2500",
                "1 invoke 2500-3500, time-out after 1 s",
                "1 killed 3500-3502",
            ]
        );
    }

    #[test]
    fn who_ends_by_itself_says_how_and_what_is_open_ends_last() {
        let happened = [
            (1, 0, Lifecycle::Init),
            (1, 5, Lifecycle::InitDone),
            (1, 5, Lifecycle::Frozen),
            (1, 9, exited(1 << 8)),
            (2, 12, Lifecycle::Init),
            (3, 15, Lifecycle::Init),
        ];
        assert_eq!(
            sentences(&happened),
            ["1 init 0-5", "1 frozen 5-9, exit status 1", "1 killed 9-15", "2 init 12-15", "3 init 15-15"]
        );
    }

    #[test]
    fn what_was_rejected_is_told_and_times_may_be_before() {
        let began = Instant::now();
        let at = began + Duration::from_millis(2);
        let event = |what| InstanceEvent { instance: 2, at, what };
        assert_eq!(rejected(&[event(Lifecycle::Init)]), None);
        let two = [event(Lifecycle::Init), event(Lifecycle::Rejected("a second answer".into()))];
        assert_eq!(rejected(&two).unwrap(), "instance 2: a second answer");
        assert_eq!((since_ms(began, at), since_ms(at, began)), (2.0, -2.0));
    }
}
