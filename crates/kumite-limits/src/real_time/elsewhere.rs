//! Where there is no SCHED_FIFO.

/// The calling thread has real-time priority until this is dropped. There is none here.
#[derive(Debug)]
pub enum RealTime {}

impl RealTime {
    /// None: there is none here.
    pub fn take() -> Option<RealTime> {
        None
    }
}
