//! The ways in which requests fail, and the number of requests for each.

/// The numbers of finished requests without a right answer, by kind of failure. Each request is counted once, as one
/// kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Errors {
    /// The number of whole answers, in time, with another status than expected, whatever their bodies.
    pub status: u64,
    /// The number of whole answers, in time, with the expected status and a wrong header.
    pub header: u64,
    /// The number of whole answers, in time, with the expected status, right headers and a wrong body.
    pub body: u64,
    /// The number of requests without a whole answer within the time-out after they were sent. An answer, or an error
    /// on the connection, that comes later counts as a time-out too. In a closed loop an HTTP/2 connection on which
    /// the server allowed no request for a time-out counts as one such request.
    pub timeout: u64,
    /// The number of requests of an open loop that were not sent within the time-out after they were due, because no
    /// connection was free or this machine stood still. In the second case
    /// [`Outcome::send_lag`](crate::Outcome::send_lag) has them, too.
    pub unsent: u64,
    /// The number of connects that the server refused (ECONNREFUSED). In an open loop only those of a burst count,
    /// because requests wait for another connection.
    pub refused: u64,
    /// The number of connects that failed for another reason: they took longer than the time-out, had no route, or
    /// did not agree on TLS or HTTP/2. In an open loop only those of a burst count. (If this machine has no port or
    /// file left, the load ends instead.)
    pub connect: u64,
    /// The number of requests whose connection broke off (ECONNRESET, EPIPE or another socket error), or whose HTTP/2
    /// stream the server reset, before the answer was whole.
    pub reset: u64,
    /// The number of requests whose connection the server closed before the answer was whole. A request also counts
    /// here, however its connection ended, if the connection had brought a whole answer before, and no byte of an
    /// answer to this request had come.
    pub closed: u64,
    /// The number of requests whose answer was not well-formed, was followed by more bytes than it has, or came
    /// before the request was sent.
    pub malformed: u64,
    /// The number of answers that were right, but from which a value that a step takes could not be had.
    pub untaken: u64,
}

impl Errors {
    /// The sum of the counts of all kinds.
    pub fn total(&self) -> u64 {
        self.iter().map(|(_, count)| count).sum()
    }

    /// Counts a failure of this kind.
    pub(crate) fn count(&mut self, failure: Failure) {
        *match failure {
            Failure::Status => &mut self.status,
            Failure::Header => &mut self.header,
            Failure::Body => &mut self.body,
            Failure::Timeout => &mut self.timeout,
            Failure::Unsent => &mut self.unsent,
            Failure::Refused => &mut self.refused,
            Failure::Connect => &mut self.connect,
            Failure::Reset => &mut self.reset,
            Failure::Closed => &mut self.closed,
            Failure::Malformed => &mut self.malformed,
            Failure::Untaken => &mut self.untaken,
        } += 1;
    }

    /// The name and the count of each kind, in the order of the fields.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        [
            ("status", self.status),
            ("header", self.header),
            ("body", self.body),
            ("timeout", self.timeout),
            ("unsent", self.unsent),
            ("refused", self.refused),
            ("connect", self.connect),
            ("reset", self.reset),
            ("closed", self.closed),
            ("malformed", self.malformed),
            ("untaken", self.untaken),
        ]
        .into_iter()
    }

    /// The number of whole answers that are wrong although their status is right.
    pub fn wrong(&self) -> u64 {
        self.header + self.body
    }

    /// The count and the name of each kind that occurred, `3 timeout, 1 reset`; `no answer` if none did.
    pub fn in_words(&self) -> String {
        let found: Vec<String> = self
            .iter()
            .filter(|(_, count)| *count > 0)
            .map(|(kind, count)| format!("{count} {kind}"))
            .collect();
        if found.is_empty() { "no answer".to_owned() } else { found.join(", ") }
    }
}

impl std::ops::AddAssign for Errors {
    fn add_assign(&mut self, other: Errors) {
        self.status += other.status;
        self.header += other.header;
        self.body += other.body;
        self.timeout += other.timeout;
        self.unsent += other.unsent;
        self.refused += other.refused;
        self.connect += other.connect;
        self.reset += other.reset;
        self.closed += other.closed;
        self.malformed += other.malformed;
        self.untaken += other.untaken;
    }
}

/// The kind of a request's failure, as [`Errors`] counts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// An answer with another status: see [`Errors::status`].
    Status,
    /// An answer with another header: see [`Errors::header`].
    Header,
    /// An answer with another body: see [`Errors::body`].
    Body,
    /// No whole answer in time: see [`Errors::timeout`].
    Timeout,
    /// Not sent in time: see [`Errors::unsent`].
    Unsent,
    /// A connect that the server refused: see [`Errors::refused`].
    Refused,
    /// No connection for another reason: see [`Errors::connect`].
    Connect,
    /// A connection that broke off: see [`Errors::reset`].
    Reset,
    /// A connection that the server closed: see [`Errors::closed`].
    Closed,
    /// Bytes that are no answer: see [`Errors::malformed`].
    Malformed,
    /// An answer from which a value cannot be taken: see [`Errors::untaken`].
    Untaken,
}

/// A description of a failure without an answer to describe: the kind, the URL of the request, and the time after the
/// request was sent. If it failed before it was sent, only the URL is named.
pub(crate) fn failure_in_words(failure: Failure, url: &str, after_ns: u64) -> String {
    let after = format!("{:.1} ms after the request for {url} was sent", after_ns as f64 / 1e6);
    match failure {
        Failure::Timeout => format!("timeout: no whole answer {after}"),
        Failure::Reset => format!("reset: the connection broke off {after}, without a whole answer"),
        Failure::Closed => {
            format!("closed: the server closed the connection {after}, without a whole answer")
        }
        Failure::Malformed => format!("malformed: what came {after} is no answer"),
        Failure::Status | Failure::Header | Failure::Body | Failure::Untaken => {
            format!("a wrong answer {after}")
        }
        Failure::Unsent | Failure::Refused | Failure::Connect => format!("no connection for {url}"),
    }
}

impl Failure {
    /// `true` if a failure of this kind comes before the request is sent.
    pub(crate) fn is_before_sending(self) -> bool {
        matches!(self, Failure::Unsent | Failure::Refused | Failure::Connect)
    }
}
