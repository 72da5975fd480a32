//! Answers that are kept whole, for whoever wants to look at some of them after the load.

/// The choice of answers to keep whole: so many at most, spread over the window at random.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sampling {
    /// The most answers that are kept.
    pub answers: usize,
    /// The seed of the choice. With a limit in requests, which requests are chosen depends on nothing else; otherwise
    /// the instants are the same, and what is asked at them may differ.
    pub seed: u64,
}

/// A right answer, kept whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampledAnswer {
    /// The name of the request: that of its session, or `STEP of SESSION` if that has several steps.
    pub request: String,
    /// The status.
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
