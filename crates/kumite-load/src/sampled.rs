//! Answers that are kept whole, for whoever wants to look at some of them after the load.

/// The choice of answers to keep whole, at random, spread over the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sampling {
    /// The most answers that are kept.
    pub answers: usize,
    /// The seed of the choice. In a load with a limit in requests the same seed chooses requests of the same numbers.
    /// Otherwise it chooses the same instants, at which other requests may be sent. In either case the number of
    /// threads must be the same, too.
    pub seed: u64,
}

/// A right answer, kept whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampledAnswer {
    /// The name of the request: the name of its session, or `STEP of SESSION` if the session has several steps.
    pub request: String,
    /// The status of the answer.
    pub status: u16,
    /// The names and values of the headers, in the order in which they came.
    pub headers: Vec<(Vec<u8>, Vec<u8>)>,
    /// The body, without the framing of its protocol.
    pub body: Vec<u8>,
}

impl SampledAnswer {
    /// The bytes of the answer's parts.
    pub(crate) fn bytes(&self) -> usize {
        let headers = self.headers.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>();
        headers + self.body.len()
    }
}
