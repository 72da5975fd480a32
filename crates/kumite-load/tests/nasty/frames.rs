//! Nasty answers in HTTP/2, frame by frame, in the clear and in TLS.

use kumite_load::{Errors, Http};

use crate::case::{Case, run_all};
use crate::multiplexed::{
    CONTINUATION, DATA, END_HEADERS, END_STREAM, Frame, GOAWAY, HEADERS, INITIAL_WINDOW_SIZE,
    MAX_CONCURRENT_STREAMS, OK, PING, PUSH_PROMISE, RST_STREAM, SETTINGS, bytes, field, setting,
};
use crate::scripted::{Part, Then};

const PRIORITY: u8 = 2;
const WINDOW_UPDATE: u8 = 8;
/// A type that HTTP/2 does not have.
const UNKNOWN: u8 = 0xf0;
const PADDED: u8 = 8;

#[test]
fn nasty_frames_in_the_clear_are_counted_bounded_and_said() {
    run_all(&cases("http"), Http::Http2, false);
}

#[test]
fn nasty_frames_in_tls_are_counted_bounded_and_said() {
    run_all(&cases("https"), Http::Http2, true);
}

/// The head and the body of a right answer.
pub fn right(id: u32) -> Vec<u8> {
    join(&[(HEADERS, END_HEADERS, id, vec![OK]), (DATA, END_STREAM, id, b"pong".to_vec())])
}

fn join(frames: &[Frame]) -> Vec<u8> {
    frames.iter().flat_map(bytes).collect()
}

fn status(code: &str) -> Vec<u8> {
    [&[0x08, 3][..], code.as_bytes()].concat()
}

/// A case of frames that are sent at once, for a stream.
fn says(name: &'static str, frames: impl Fn(u32) -> Vec<Frame> + Send + Sync + 'static) -> Case {
    Case::new(name, move |id| vec![Part::Once(join(&frames(id)))])
}

/// A case of a flood of a frame, and then the right answer.
fn floods(name: &'static str, frame: impl Fn(u32) -> Frame + Send + Sync + 'static) -> Case {
    Case::new(name, move |id| vec![Part::Flood(bytes(&frame(id))), Part::Once(right(id))]).requests(1)
}

fn goaway(last: u32, code: u8, why: &[u8]) -> Frame {
    (GOAWAY, 0, 0, [&last.to_be_bytes()[..], &[0, 0, 0, code], why].concat())
}

fn malformed(errors: u64) -> Errors {
    Errors { malformed: errors, ..Errors::default() }
}

/// The words of a server that `h2` finds to break a rule: of a connection, and of a stream alone.
const BROKEN: &str = "malformed: HTTP/2: connection error detected: unspecific protocol error detected";
const BROKEN_STREAM: &str = "malformed: HTTP/2: stream error detected: unspecific protocol error detected";
const TOO_MUCH: &str =
    "malformed: HTTP/2: connection error detected: detected excessive load generating behavior";
const RESET: &str = "reset: HTTP/2: stream error received: unexpected internal error encountered";
const UNREAD: &str = "malformed: the server has N bytes to read, most of them replies to frames that need one (PING, SETTINGS)";

fn cases(scheme: &str) -> Vec<Case> {
    let after = format!("N ms after the request for {scheme}://SERVER/ was sent, without a whole answer");
    let cut = format!("closed: the server closed the connection {after}");
    [
        ends(&cut, &after, scheme),
        goodbyes_and_resets(&cut),
        heads(),
        replies_and_windows(scheme),
        bodies(scheme),
        wrong(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn closed(errors: u64) -> Errors {
    Errors { closed: errors, ..Errors::default() }
}

fn reset(errors: u64) -> Errors {
    Errors { reset: errors, ..Errors::default() }
}

/// A case without an end, which fails by the time-out.
fn never_ends(scheme: &str, case: Case) -> Case {
    let words = format!("timeout: no whole answer N ms after the request for {scheme}://SERVER/ was sent");
    case.never_ends().fails(Errors { timeout: 1, ..Errors::default() }, &words)
}

/// A case of frames that break the rules.
fn breaks(
    name: &'static str,
    words: &str,
    frames: impl Fn(u32) -> Vec<Frame> + Send + Sync + 'static,
) -> Case {
    says(name, frames).fails(malformed(3), words)
}

fn head(id: u32, fields: &[(&str, &str)]) -> Frame {
    let fields: Vec<u8> = fields.iter().flat_map(|(name, value)| field(name, value)).collect();
    (HEADERS, END_HEADERS, id, [vec![OK], fields].concat())
}

fn body(id: u32) -> Frame {
    (DATA, END_STREAM, id, b"pong".to_vec())
}

fn ends(cut: &str, after: &str, scheme: &str) -> Vec<Case> {
    vec![
        says("nothing", |_| Vec::new()).then(Then::Close).fails(closed(3), cut),
        says("nothing, and no notice", |_| Vec::new()).then(Then::Cut).fails(closed(3), cut),
        says("a head alone", |id| vec![head(id, &[])]).then(Then::Close).fails(closed(3), cut),
        says("a body that is cut, and no notice", |id| vec![head(id, &[]), (DATA, 0, id, b"po".to_vec())])
            .then(Then::Cut)
            .fails(closed(3), cut),
        Case::new("a frame that is cut", |id| vec![Part::Once(right(id)[..15].to_vec())])
            .then(Then::Close)
            .fails(closed(3), cut),
        // The second request is on its way when the connection ends.
        says("a right answer, and then no notice", |id| vec![head(id, &[]), body(id)])
            .then(Then::Cut)
            .read(2)
            .fails(closed(1), cut),
        says("a reset of the connection", |_| Vec::new())
            .then(Then::Reset)
            .fails(reset(3), &format!("reset: the connection broke off {after}")),
        Case::new("single bytes", |id| vec![Part::Drop(right(id))]),
        never_ends(scheme, Case::new("silence", |_| vec![Part::Wait])),
    ]
}

fn goodbyes_and_resets(cut: &str) -> Vec<Case> {
    let reset_of = |id| (RST_STREAM, 0, id, vec![0, 0, 0, 2]);
    vec![
        says("a goodbye and the answer", |id| vec![goaway(id, 0, b""), head(id, &[]), body(id)]),
        floods("a flood of goodbyes before the answer", |id| goaway(id, 0, &[b'x'; 1_000])),
        says("a goodbye that leaves out the request", |_| vec![goaway(0, 0, b"")])
            .fails(closed(3), cut),
        says("a goodbye for too much", |_| vec![goaway(0, 11, b"calm")]).fails(
            closed(3),
            "closed: HTTP/2: connection error received: detected excessive load generating behavior (b\"calm\")",
        ),
        breaks("a goodbye that takes back what it left out", BROKEN, |id| {
            vec![goaway(0, 0, b""), goaway(id, 0, b"")]
        }),
        says("a reset of the stream", move |id| vec![reset_of(id)]).fails(reset(3), RESET),
        Case::new("a flood of resets", move |id| vec![Part::Flood(bytes(&reset_of(id)))])
            .requests(1)
            .fails(reset(1), RESET),
        says("3,000 streams that are reset", move |id| vec![reset_of(id)])
            .requests(3_000)
            .pipeline(10)
            .more_bytes(4 << 20)
            .fails(reset(3_000), RESET),
        says("3,000 streams of which every other one is malformed", |id| match id % 4 {
            1 => vec![(HEADERS, END_HEADERS | END_STREAM, id, field("x", "y"))],
            _ => vec![head(id, &[]), body(id)],
        })
        .requests(3_000)
        .pipeline(10)
        .more_bytes(4 << 20)
        .fails(malformed(1_500), BROKEN_STREAM),
        breaks("a reset of a stream that never was", BROKEN, move |_| vec![reset_of(99_999)]),
    ]
}

fn heads() -> Vec<Case> {
    let begins = |id| Part::Once(bytes(&(HEADERS, 0, id, vec![OK])));
    vec![
        Case::new("a flood of continuations", move |id| {
            vec![begins(id), Part::Flood(bytes(&(CONTINUATION, 0, id, field("x", &"v".repeat(1_000)))))]
        })
        .requests(1)
        .fails(malformed(1), TOO_MUCH),
        Case::new("a flood of empty continuations", move |id| {
            vec![begins(id), Part::Flood(bytes(&(CONTINUATION, 0, id, Vec::new())))]
        })
        .requests(1)
        .fails(malformed(1), TOO_MUCH),
        breaks("a head that unfolds to 40 MB", TOO_MUCH, |id| {
            // A field of 4,000 bytes that is to be remembered, and its index 10,000 times.
            let fold = [&[0x40, 1, b'x', 127, 0xa1, 0x1e][..], &[b'v'; 4_000]].concat();
            vec![(HEADERS, END_HEADERS, id, [&[OK][..], &fold, &[0xbe; 10_000]].concat())]
        }),
        breaks("a continuation of nothing", BROKEN, |id| vec![(CONTINUATION, END_HEADERS, id, vec![OK])]),
        breaks("a head that is packed wrongly", BROKEN, |id| {
            vec![(HEADERS, END_HEADERS | END_STREAM, id, vec![0x80])]
        }),
        breaks("a head without a status", BROKEN_STREAM, |id| {
            vec![(HEADERS, END_HEADERS | END_STREAM, id, field("x", "y"))]
        }),
        breaks("a name with a capital", BROKEN, |id| vec![head(id, &[("X", "y")]), body(id)]),
        breaks("two lengths", BROKEN_STREAM, |id| {
            vec![head(id, &[("content-length", "4"), ("content-length", "5")]), body(id)]
        }),
        breaks("two lengths, the right one last", BROKEN_STREAM, |id| {
            vec![head(id, &[("content-length", "5"), ("content-length", "4")]), body(id)]
        }),
        breaks("a length that is no number", BROKEN_STREAM, |id| {
            vec![head(id, &[("content-length", "x")]), body(id)]
        }),
    ]
}

fn replies_and_windows(scheme: &str) -> Vec<Case> {
    let ping = || (PING, 0, 0, vec![0; 8]);
    let unread = |name, frame: Frame| {
        // A mebibyte of replies, in a buffer that has grown by doubling, and what is read at once.
        let case = Case::new(name, move |_| vec![Part::Endless(bytes(&frame))]).more_bytes(4 << 20);
        case.requests(1).fails(malformed(1), UNREAD)
    };
    let asking = |name, frame: Frame| {
        Case::new(name, move |id| vec![Part::Asking(frame.clone(), 200), Part::Once(right(id))])
    };
    vec![
        unread("a flood of pings whose replies are not read", ping()),
        unread("a flood of settings whose replies are not read", setting(MAX_CONCURRENT_STREAMS, 7)),
        unread("a flood of zero windows whose replies are not read", setting(INITIAL_WINDOW_SIZE, 0)),
        asking("20,000 pings whose replies are read", ping()),
        asking("20,000 settings whose replies are read", setting(MAX_CONCURRENT_STREAMS, 7)),
        Case::new("20,000 zero windows whose replies are read, and then one for the body", |id| {
            vec![
                Part::Asking(setting(INITIAL_WINDOW_SIZE, 0), 200),
                Part::Once(bytes(&setting(INITIAL_WINDOW_SIZE, 65_535))),
                Part::Once(right(id)),
            ]
        })
        .posting(b"ping"),
        never_ends(
            scheme,
            Case::new("no window for a body", |_| {
                vec![Part::Once(bytes(&setting(INITIAL_WINDOW_SIZE, 0))), Part::Wait]
            })
            .posting(&[b'x'; 100_000]),
        ),
        breaks("a window that grows by nothing", BROKEN, |id| vec![(WINDOW_UPDATE, 0, id, vec![0; 4])]),
        breaks("a window of the connection that grows by nothing", BROKEN, |_| {
            vec![(WINDOW_UPDATE, 0, 0, vec![0; 4])]
        }),
        breaks(
            "a window of the connection that grows too large",
            "malformed: HTTP/2: connection error detected: flow-control protocol violated",
            |_| vec![(WINDOW_UPDATE, 0, 0, vec![0x7f, 0xff, 0xff, 0xff])],
        ),
        breaks("a first window that is too large", BROKEN, |_| vec![setting(INITIAL_WINDOW_SIZE, u32::MAX)]),
        breaks("half a setting", BROKEN, |_| vec![(SETTINGS, 0, 0, vec![0; 3])]),
        says("a table of 4 GiB for heads", |id| vec![setting(1, u32::MAX), head(id, &[]), body(id)]),
        floods("a flood of windows", |_| (WINDOW_UPDATE, 0, 0, vec![0, 0, 0, 1])),
        floods("a flood of frames that HTTP/2 does not have", |_| (UNKNOWN, 0, 0, vec![0; 1_000])),
        floods("a flood of priorities", |id| (PRIORITY, 0, id, vec![0, 0, 0, 0, 7])),
    ]
}

fn bodies(scheme: &str) -> Vec<Case> {
    let begins = |id| Part::Once(bytes(&head(id, &[])));
    let early = |length: usize| [status("103"), field("link", &"x".repeat(length))].concat();
    vec![
        Case::new("a flood of interim answers before the right one", move |id| {
            vec![Part::Flood(bytes(&(HEADERS, END_HEADERS, id, early(2_000)))), Part::Once(right(id))]
        })
        .requests(1),
        never_ends(
            scheme,
            Case::new("interim answers without end", move |id| {
                vec![Part::Endless(bytes(&(HEADERS, END_HEADERS, id, early(500))))]
            }),
        ),
        never_ends(
            scheme,
            Case::new("a body without end", move |id| {
                vec![begins(id), Part::Endless(bytes(&(DATA, 0, id, vec![b'x'; 1_000])))]
            }),
        ),
        Case::new("a body in single bytes", move |id| {
            let bytes = b"pong".iter().map(|byte| (DATA, 0, id, vec![*byte])).collect::<Vec<_>>();
            vec![
                begins(id),
                Part::Once(join(&bytes)),
                Part::Once(join(&[(DATA, END_STREAM, id, Vec::new())])),
            ]
        })
        .requests(2_000)
        .pipeline(100)
        .more_bytes(4 << 20),
        // `h2` allows a connection 100 of them in all its life.
        Case::new("answers with an empty part each, until they are too many", move |id| {
            let body = [(DATA, 0, id, Vec::new()), (DATA, END_STREAM, id, b"pong".to_vec())];
            vec![begins(id), Part::Once(join(&body))]
        })
        .requests(1_010)
        .more_bytes(4 << 20)
        .fails(malformed(10), TOO_MUCH),
        Case::new("a flood of empty parts of a body", move |id| {
            vec![begins(id), Part::Flood(bytes(&(DATA, 0, id, Vec::new())))]
        })
        .requests(1)
        .fails(malformed(1), TOO_MUCH),
        Case::new("a flood of padding", move |id| {
            vec![begins(id), Part::Flood(bytes(&(DATA, PADDED, id, [&[250][..], &[0; 250]].concat())))]
        })
        .requests(1)
        .fails(malformed(1), TOO_MUCH),
        breaks("a body that is longer than it says", BROKEN_STREAM, |id| {
            vec![head(id, &[("content-length", "3")]), body(id)]
        }),
        breaks("a body that is shorter than it says", BROKEN_STREAM, |id| {
            vec![head(id, &[("content-length", "5")]), body(id)]
        }),
        breaks("a body before its head", BROKEN, |id| vec![body(id)]),
        breaks("a body where there is none", "malformed: it has a body, and must have none", |id| {
            vec![(HEADERS, END_HEADERS, id, vec![0x89]), body(id)]
        }),
    ]
}

fn wrong() -> Vec<Case> {
    vec![
        breaks(
            "a frame that is longer than allowed",
            "malformed: HTTP/2: connection error detected: frame with invalid size",
            |id| vec![(DATA, 0, id, vec![0; 20_000])],
        ),
        breaks("a push", BROKEN, |id| {
            vec![(PUSH_PROMISE, END_HEADERS, id, vec![0, 0, 0, 2, 0x82, 0x84, 0x86])]
        }),
        breaks("a switch of protocols", "malformed: its status is 101, which HTTP/2 does not have", |id| {
            vec![(HEADERS, END_HEADERS, id, status("101")), head(id, &[]), body(id)]
        }),
    ]
}
