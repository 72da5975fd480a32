//! Real-time priority on systems other than Linux and Windows: it is never given.

/// The type of a real-time priority. This system gives none, so no value of the type exists.
#[derive(Debug)]
pub enum RealTime {}

impl RealTime {
    /// Always `None`: this system gives no real-time priority.
    pub fn take() -> Option<RealTime> {
        None
    }
}
