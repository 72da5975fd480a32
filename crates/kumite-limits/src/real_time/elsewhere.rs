//! Real-time priority on systems other than Linux and Windows: it is never given.

/// Real-time priority of the calling thread. On this system there is none, so no value exists.
#[derive(Debug)]
pub enum RealTime {}

impl RealTime {
    /// Always `None`: this system gives no real-time priority.
    pub fn take() -> Option<RealTime> {
        None
    }
}
