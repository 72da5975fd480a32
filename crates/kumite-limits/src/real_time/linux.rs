//! Real-time priority on Linux: the policy SCHED_FIFO.

use thread_priority::unix::{
    RealtimeThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
    thread_schedule_policy_param,
};
use thread_priority::{Error, ThreadPriority, ThreadPriorityValue};

const FIFO: ThreadSchedulePolicy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
/// Real-time priority of the thread that took it. Dropping this value gives the dropping thread the former policy and
/// niceness back, so drop it in the same thread.
#[derive(Debug)]
pub struct RealTime {
    before: Option<Before>,
}

/// The policy and the priority that a thread had before, and gets back.
type Before = (ThreadSchedulePolicy, ThreadPriority);

impl RealTime {
    /// The priority under SCHED_FIFO, where 1 is the lowest and 99 the highest. It is above every thread that is not
    /// real-time, and below the threads in which the kernel handles interrupts (50).
    pub const PRIORITY: u8 = 10;

    /// Gives the calling thread SCHED_FIFO with [`PRIORITY`](Self::PRIORITY). `None` if that is not permitted, or if
    /// the thread's present policy could not be given back (it is neither the ordinary one nor real-time). A thread
    /// that is real-time already keeps the priority it has.
    pub fn take() -> Option<RealTime> {
        let thread = thread_native_id();
        let (policy, _) = thread_schedule_policy_param(thread).ok()?;
        if matches!(policy, ThreadSchedulePolicy::Realtime(_)) {
            return Some(RealTime { before: None });
        }
        let before = (policy, of_niceness(policy)?);
        set_thread_priority_and_policy(thread, priority(Self::PRIORITY)?, FIFO).ok()?;
        Some(RealTime { before: Some(before) })
    }
}

impl Drop for RealTime {
    fn drop(&mut self) {
        if let Some((policy, priority)) = self.before {
            // If it cannot be given back, the thread is about to end or to wait.
            let _: Result<(), Error> = set_thread_priority_and_policy(thread_native_id(), priority, policy);
        }
    }
}

/// The priority that stands for the calling thread's niceness under `policy`, in the numbers of `thread_priority`,
/// which sets a priority whenever it sets a policy. `None` if no number stands for it.
fn of_niceness(policy: ThreadSchedulePolicy) -> Option<ThreadPriority> {
    let niceness = rustix::process::getpriority_process(None).ok()?;
    (0..=99).filter_map(priority).find(|priority| priority.to_posix(policy).ok() == Some(niceness))
}

fn priority(number: u8) -> Option<ThreadPriority> {
    Some(ThreadPriority::Crossplatform(ThreadPriorityValue::try_from(number).ok()?))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::thread;

    use kumite_testing::{Capability, lacks};
    use rustix::process::{getpriority_process, setpriority_process};
    use thread_priority::unix::NormalThreadSchedulePolicy;

    use super::*;

    fn policy() -> ThreadSchedulePolicy {
        thread_schedule_policy_param(thread_native_id()).unwrap().0
    }

    #[test]
    fn what_a_thread_had_is_given_back() {
        let ordinary = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Other);
        if policy() != ordinary {
            return lacks(Capability::RealTimePriority, "the thread is not an ordinary one");
        }
        if RealTime::take().is_none() {
            let limit = RealTime::PRIORITY;
            return lacks(
                Capability::RealTimePriority,
                format!("it takes CAP_SYS_NICE, or RLIMIT_RTPRIO of {limit}"),
            );
        }
        // It cannot be lowered everywhere.
        let niceness = getpriority_process(None).unwrap().max(0);
        for niceness in niceness..=19 {
            // In a thread of its own, which may not be able to go back.
            thread::spawn(move || taken_and_given_back(niceness)).join().unwrap();
        }
    }

    fn taken_and_given_back(niceness: i32) {
        setpriority_process(None, niceness).unwrap();
        let before = policy();
        let real_time = RealTime::take().expect("it was permitted before");
        assert_eq!(policy(), FIFO);
        drop(RealTime::take().expect("it has it"));
        assert_eq!(policy(), FIFO, "it had it before");
        drop(real_time);
        assert_eq!((policy(), getpriority_process(None).unwrap()), (before, niceness));
    }

    #[test]
    fn every_niceness_has_its_number() {
        let policy = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Other);
        let found: BTreeSet<i32> =
            (0..=99).filter_map(priority).filter_map(|priority| priority.to_posix(policy).ok()).collect();
        assert!(found.into_iter().eq(-20..=19));
    }
}
