use thread_priority::unix::{
    RealtimeThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
};
use thread_priority::{ThreadPriority, ThreadPriorityValue};

const FIFO: ThreadSchedulePolicy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
/// Above what is not real-time, below what kernels give their own threads.
const PRIORITY: u8 = 10;

/// Gives the calling thread, and those that it starts, real-time priority, where that is permitted: else a reader
/// waits for whoever has the CPU, and not for the disk. Says whether it has.
pub(crate) fn take_real_time() -> bool {
    ThreadPriorityValue::try_from(PRIORITY).is_ok_and(|priority| {
        let priority = ThreadPriority::Crossplatform(priority);
        set_thread_priority_and_policy(thread_native_id(), priority, FIFO).is_ok()
    })
}
