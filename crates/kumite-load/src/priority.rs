//! Real-time priority for a thread that must send on time.
//!
//! Only for an open loop that sleeps now and then, and on CPUs of its own: a closed loop wants its CPU always, and the kernel
//! takes it from a real-time thread that does, for 50 ms in a second, if anybody else waits.

use thread_priority::unix::{
    RealtimeThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
    thread_schedule_policy_param,
};
use thread_priority::{Error, ThreadPriority, ThreadPriorityValue};

const FIFO: ThreadSchedulePolicy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
/// Above what is not real-time, below what kernels give their own threads.
const PRIORITY: u8 = 10;

/// The calling thread has real-time priority until this is dropped.
pub(crate) struct RealTime {
    before: ThreadSchedulePolicy,
}

impl RealTime {
    /// None where it is not permitted.
    pub fn take() -> Option<RealTime> {
        let thread = thread_native_id();
        let (before, _) = thread_schedule_policy_param(thread).ok()?;
        let priority = ThreadPriorityValue::try_from(PRIORITY).ok()?;
        set_thread_priority_and_policy(thread, ThreadPriority::Crossplatform(priority), FIFO).ok()?;
        Some(RealTime { before })
    }
}

impl Drop for RealTime {
    fn drop(&mut self) {
        // If it cannot be given back, the thread is about to end or to wait.
        let _: Result<(), Error> =
            set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, self.before);
    }
}
