//! Real-time priority for the threads of the disk, so that a reader waits for the disk alone.

use thread_priority::unix::{
    RealtimeThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
};
use thread_priority::{ThreadPriority, ThreadPriorityValue};

const FIFO: ThreadSchedulePolicy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
/// The real-time priority: above all that is not real-time, and below that of the kernel's own threads.
const PRIORITY: u8 = 10;

/// Gives the calling thread, and those that it starts, real-time priority, if that is permitted. Without it, a reader
/// waits for whatever has the CPU, too, and not only for the disk. True if it was given.
pub(crate) fn take_real_time() -> bool {
    ThreadPriorityValue::try_from(PRIORITY).is_ok_and(|priority| {
        let priority = ThreadPriority::Crossplatform(priority);
        set_thread_priority_and_policy(thread_native_id(), priority, FIFO).is_ok()
    })
}
