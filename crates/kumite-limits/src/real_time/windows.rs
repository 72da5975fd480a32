//! Real-time priority on Windows: "time critical", which needs no privilege.

use thread_priority::windows::{
    WinAPIThreadPriority, get_current_thread_priority, set_current_thread_priority,
    set_winapi_thread_priority, thread_native_id,
};
use thread_priority::{Error, ThreadPriority};

/// "Time critical" priority of the thread that took it. Dropping this value gives the dropping thread the former
/// priority, so drop it in the same thread.
#[derive(Debug)]
pub struct RealTime {
    before: ThreadPriority,
}

impl RealTime {
    /// Makes the calling thread time-critical. `None` if the system refuses.
    pub fn take() -> Option<RealTime> {
        let before = get_current_thread_priority().ok()?;
        set_winapi_thread_priority(thread_native_id(), WinAPIThreadPriority::TimeCritical).ok()?;
        Some(RealTime { before })
    }
}

impl Drop for RealTime {
    fn drop(&mut self) {
        // If it cannot be given back, the thread is about to end or to wait.
        let _: Result<(), Error> = set_current_thread_priority(self.before);
    }
}
