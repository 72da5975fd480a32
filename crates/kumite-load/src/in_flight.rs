//! A request on its way, as the engine and the protocols know it.

/// A request that was sent and is not finished. Instants are ns on the engine's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InFlight {
    /// The instant at which the request should have been sent, from which its response time counts. In a closed loop
    /// it is `sent`.
    pub due: u64,
    pub sent: u64,
    /// The number of the request's step, among those of all sessions.
    pub step: u32,
    /// The number of the request's session among those of several steps that are under way; [`NO_SESSION`] if it has
    /// no other step.
    pub session: u32,
    /// The instant at which the first byte of its answer was seen, if bytes came before the answer was whole;
    /// [`NOT_YET`] until then.
    pub first_byte: u64,
}

/// In place of an instant: it has not come.
pub(crate) const NOT_YET: u64 = u64::MAX;

impl InFlight {
    /// A request of which nothing has come yet.
    #[inline]
    pub fn new(due: u64, sent: u64, step: u32, session: u32) -> InFlight {
        InFlight { due, sent, step, session, first_byte: NOT_YET }
    }
}

/// In place of the number of a session: the session has one step.
pub(crate) const NO_SESSION: u32 = u32::MAX;
