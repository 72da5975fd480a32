//! The stub's one thread: an event loop over connections and a heap of answers that are due.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::mem;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{SocketFlags, accept_with, sockopt};
use rustix::time::{ClockId, clock_gettime};

use crate::answers::{Answer, AnswerKind, Answers, CONTINUE};
use crate::clock::{Clock, LOOK};
use crate::request::{Malformed, Read, Reader, Request};
use crate::{Config, FailureKind, OverLimit, Report, delay, failures};

const LISTENER: u64 = u64::MAX;
const BUFFER: usize = 64 * 1024;
/// The most events of one kind that are handled before others get their turn.
const TURN: usize = 256;

/// Serves until `stop` is set. Returns the report.
pub(crate) fn serve(
    config: Config,
    listener: &TcpListener,
    start: Instant,
    stop: &AtomicBool,
) -> io::Result<Report> {
    let cpu_before = cpu_time();
    // If that is refused, the slack stays as it is, commonly 50 µs, and shows as lateness.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    let clock = Clock::new(start, config.stall, stop);
    let mut server = Server::new(config, listener, clock)?;
    server.run()?;
    let mut report = server.report;
    report.unanswered = report.requests - report.answers - report.resets;
    report.duration = start.elapsed();
    report.cpu = cpu_time().saturating_sub(cpu_before);
    Ok(report)
}

/// The CPU time of the calling thread.
fn cpu_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

struct Server<'a> {
    clock: Clock<'a>,
    epoll: OwnedFd,
    listener: &'a TcpListener,
    listening: bool,
    limit: usize,
    over_limit: OverLimit,
    slots: Vec<Option<Connection>>,
    free: Vec<usize>,
    /// The slots of connections with more to read than was read in their turn.
    again: VecDeque<usize>,
    answers: Answers,
    delays: delay::Draws,
    failures: failures::Draws,
    resets: bool,
    close_after: u64,
    /// The requests that wait for their answers: when each is due, in ns, its number in the order of beginning, and
    /// its slot.
    due: BinaryHeap<Reverse<(u64, u64, usize)>>,
    begun: u64,
    workers: usize,
    busy: usize,
    queue: VecDeque<Queued>,
    report: Report,
}

struct Connection {
    socket: TcpStream,
    state: ConnectionState,
    reader: Reader,
    /// Input that was read and not used yet, from byte `done` on: a part of a request, or what came behind a whole
    /// one.
    held: Vec<u8>,
    done: usize,
    /// True if `held` may have a whole request.
    more: bool,
    /// True if the socket may have something to read.
    readable: bool,
    /// True if the client has closed its side. All that it sent before is still read.
    ended: bool,
    requests: u64,
}

#[derive(Clone, Copy)]
enum ConnectionState {
    Reading,
    /// The request waits for a worker, or for its answer to be due. The connection stays, whatever its client does.
    Waiting(Fate),
    /// The answer is being written; the kernel has taken this many bytes of it.
    Writing(Answer, usize),
    /// Input is discarded until the client closes: closing on unread input would take the answer from the client.
    Ending,
}

#[derive(Clone, Copy)]
enum Fate {
    Answer(Answer),
    Reset,
}

/// A request that waits for a worker: the slot of its connection, when it was read, and its delay, both in ns.
struct Queued {
    slot: usize,
    read: u64,
    delay: u64,
}

impl<'a> Server<'a> {
    fn new(config: Config, listener: &'a TcpListener, clock: Clock<'a>) -> io::Result<Server<'a>> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, listener, EventData::new_u64(LISTENER), EventFlags::IN)?;
        let (resets, failure_status) = match config.failures.map(|failures| failures.kind) {
            Some(FailureKind::Status(status)) => (false, status),
            Some(FailureKind::Reset) => (true, 500),
            None => (false, 500),
        };
        Ok(Server {
            clock,
            epoll,
            listener,
            listening: true,
            limit: config.connections.unwrap_or(usize::MAX),
            over_limit: config.over_limit,
            slots: Vec::new(),
            free: Vec::new(),
            again: VecDeque::new(),
            answers: Answers::new(config.status, failure_status, &config.body),
            delays: delay::Draws::new(config.delay, config.seed),
            failures: failures::Draws::new(config.failures, config.seed),
            resets,
            close_after: config.close_after.unwrap_or(u64::MAX),
            due: BinaryHeap::new(),
            begun: 0,
            workers: config.workers.unwrap_or(usize::MAX),
            busy: 0,
            queue: VecDeque::new(),
            report: Report::new(),
        })
    }

    fn run(&mut self) -> io::Result<()> {
        let mut events: Vec<Event> = Vec::with_capacity(TURN);
        let mut buffer = vec![0; BUFFER];
        while self.clock.go_on().is_some() {
            for _ in 0..self.again.len() {
                let Some(slot) = self.again.pop_front() else { break };
                self.proceed(slot, &mut buffer);
                self.answer_due(&mut buffer);
            }
            self.answer_due(&mut buffer);
            events.clear();
            let timeout = self.timeout();
            match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), Some(&timeout)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            for event in &events {
                match event.data.u64() {
                    LISTENER => self.accept()?,
                    slot => {
                        self.notice(slot as usize, event.flags);
                        self.proceed(slot as usize, &mut buffer);
                    }
                }
                self.answer_due(&mut buffer);
            }
        }
        Ok(())
    }

    /// The time until the next answer is due, at most 50 ms; zero if a connection has more to read.
    fn timeout(&self) -> Timespec {
        let ns = match self.due.peek() {
            _ if !self.again.is_empty() => 0,
            Some(&Reverse((due, ..))) => due.saturating_sub(self.clock.now()).min(LOOK.as_nanos() as u64),
            None => LOOK.as_nanos() as u64,
        };
        Timespec { tv_sec: 0, tv_nsec: ns as _ }
    }

    fn accept(&mut self) -> io::Result<()> {
        for _ in 0..TURN / 16 {
            let full = self.open() >= self.limit;
            if full && self.over_limit == OverLimit::Wait {
                return self.listen(false);
            }
            if self.clock.go_on().is_none() {
                return Ok(());
            }
            match accept_with(self.listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
                Ok(_) if full => self.report.refused += 1,
                Ok(socket) => self.open_connection(TcpStream::from(socket))?,
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::CONNABORTED | Errno::INTR) => {}
                // No more can be open: that is a limit too.
                Err(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) if self.open() > 0 => {
                    return self.listen(false);
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Asks the kernel to announce new connections, or not to.
    fn listen(&mut self, listening: bool) -> io::Result<()> {
        if listening != self.listening {
            let flags = if listening { EventFlags::IN } else { EventFlags::empty() };
            epoll::modify(&self.epoll, self.listener, EventData::new_u64(LISTENER), flags)?;
            self.listening = listening;
        }
        Ok(())
    }

    fn open(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    fn open_connection(&mut self, socket: TcpStream) -> io::Result<()> {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        // Told once of each change, so that a connection costs no further calls while it waits.
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        epoll::add(&self.epoll, &socket, EventData::new_u64(slot as u64), flags)?;
        self.slots[slot] = Some(Connection {
            socket,
            state: ConnectionState::Reading,
            reader: Reader::new(),
            held: Vec::new(),
            done: 0,
            more: false,
            readable: false,
            ended: false,
            requests: 0,
        });
        self.report.accepted += 1;
        self.report.most_connections = self.report.most_connections.max(self.open() as u64);
        Ok(())
    }

    fn close(&mut self, slot: usize) {
        if self.slots[slot].take().is_some() {
            self.free.push(slot);
            // The kernel could announce connections before; if it refused now, new ones would wait.
            let _ = self.listen(true);
        }
    }

    /// Takes note of an event on a connection, and goes on with an answer that is being written.
    fn notice(&mut self, slot: usize, flags: EventFlags) {
        let Some(connection) = &mut self.slots[slot] else { return };
        let ended = flags.intersects(EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR);
        connection.ended |= ended;
        connection.readable |= ended || flags.contains(EventFlags::IN);
        if let ConnectionState::Writing(answer, from) = connection.state
            && self.clock.go_on().is_some()
        {
            self.send(slot, answer, from);
        }
    }

    /// Reads what a connection has, at most one buffer of it, unless the connection waits for an answer.
    fn proceed(&mut self, slot: usize, buffer: &mut [u8]) {
        if self.slots[slot].as_ref().is_some_and(|connection| connection.more && connection.is_reading()) {
            let Some(now) = self.clock.go_on() else { return };
            self.read_held(slot, now);
        }
        let Some(connection) = &mut self.slots[slot] else { return };
        if !connection.readable || !connection.is_reading() || self.clock.go_on().is_none() {
            return;
        }
        let count = match connection.socket.read(buffer) {
            Ok(0) => return self.close(slot),
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => 0,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                connection.readable = false;
                return;
            }
            Err(_) => return self.close(slot),
        };
        connection.readable = count == 0 || count == buffer.len() || connection.ended;
        // The clock is read after the input, so that no answer is early.
        let Some(now) = self.clock.go_on() else { return };
        let piece = &buffer[..count];
        if !connection.held.is_empty() {
            connection.hold(piece);
            self.read_held(slot, now);
        } else {
            let used = self.read(slot, piece, now);
            if let Some(connection) = &mut self.slots[slot] {
                connection.hold(&piece[used..]);
            }
        }
        if self.slots[slot].as_ref().is_some_and(|connection| connection.readable && connection.is_reading())
        {
            self.again.push_back(slot);
        }
    }

    fn read_held(&mut self, slot: usize, now: u64) {
        let Some(connection) = &mut self.slots[slot] else { return };
        let mut held = mem::take(&mut connection.held);
        let mut done = connection.done;
        done += self.read(slot, &held[done..], now);
        let Some(connection) = &mut self.slots[slot] else { return };
        if done == held.len() {
            held.clear();
            done = 0;
        }
        (connection.held, connection.done) = (held, done);
    }

    /// Takes up the requests in `data` until one has to wait. Returns how many bytes were used.
    fn read(&mut self, slot: usize, data: &[u8], now: u64) -> usize {
        let mut used = 0;
        // Each turn but the last uses some of it, or takes up a request.
        loop {
            let Some(connection) = &mut self.slots[slot] else { return used };
            match connection.state {
                ConnectionState::Reading => {}
                ConnectionState::Ending => return data.len(),
                ConnectionState::Waiting(_) | ConnectionState::Writing(..) => {
                    connection.more = used < data.len();
                    return used;
                }
            }
            match connection.reader.read(&data[used..]) {
                Ok((count, read)) => {
                    used += count;
                    match read {
                        Read::Request(request) => self.take_up(slot, &request, now),
                        // A client that does not get it sends the body after a while all the same.
                        Read::Expectation => drop(connection.socket.write(CONTINUE)),
                        Read::Part => {
                            connection.more = false;
                            return used;
                        }
                    }
                }
                Err(Malformed) => {
                    self.report.malformed += 1;
                    self.send(slot, Answer::MALFORMED, 0);
                }
            }
        }
    }

    /// Counts a request that was read, and decides its delay and its answer. If no worker is free, the request waits
    /// for one. Otherwise it is answered after its delay, or at once if it has none.
    fn take_up(&mut self, slot: usize, request: &Request, now: u64) {
        let Some(connection) = &mut self.slots[slot] else { return };
        self.report.requests += 1;
        connection.requests += 1;
        let (drawn, fails) = (self.delays.next(), self.failures.next());
        let delay = request.delay.unwrap_or(drawn);
        let keep_alive = request.keep_alive && connection.requests < self.close_after;
        let kind = if fails { AnswerKind::Failure } else { AnswerKind::Success };
        connection.state = ConnectionState::Waiting(match fails && self.resets {
            true => Fate::Reset,
            false => Fate::Answer(Answer::to(request, kind, keep_alive)),
        });
        if self.busy >= self.workers {
            self.queue.push_back(Queued { slot, read: now, delay });
            self.report.longest_queue = self.report.longest_queue.max(self.queue.len() as u64);
            return;
        }
        self.busy += 1;
        if delay == 0 {
            self.answer(slot, now);
        } else {
            self.begin(slot, now + delay);
        }
    }

    /// Begins a worker's work on a request, which ends at `end`, in ns, or after the stall that `end` falls into.
    fn begin(&mut self, slot: usize, end: u64) {
        self.begun += 1;
        self.due.push(Reverse((self.clock.after_stall(end), self.begun, slot)));
    }

    /// Sends the answers that are due, and reads what was sent behind their requests.
    fn answer_due(&mut self, buffer: &mut [u8]) {
        for _ in 0..TURN {
            let Some(&Reverse((due, _, slot))) = self.due.peek() else { return };
            let Some(now) = self.clock.go_on() else { return };
            if due > now {
                return;
            }
            self.due.pop();
            self.answer(slot, due);
            self.proceed(slot, buffer);
        }
    }

    fn answer(&mut self, slot: usize, due: u64) {
        let Some(Connection { state: ConnectionState::Waiting(fate), socket, .. }) = &mut self.slots[slot]
        else {
            return;
        };
        let done = match *fate {
            Fate::Answer(answer) => self.send(slot, answer, 0),
            Fate::Reset => {
                // To close is then to reset, and a socket that refuses that is gone already.
                let done = sockopt::set_socket_linger(&*socket, Some(Duration::ZERO)).is_ok();
                self.report.resets += u64::from(done);
                self.close(slot);
                done
            }
        };
        if done {
            self.report.late_by(self.clock.now().saturating_sub(due));
        }
        match self.queue.pop_front() {
            Some(next) => self.begin(next.slot, due.max(next.read) + next.delay),
            None => self.busy -= 1,
        }
    }

    /// Sends the answer from byte `from` on. False if the client has gone.
    fn send(&mut self, slot: usize, answer: Answer, from: usize) -> bool {
        let Some(connection) = &mut self.slots[slot] else { return false };
        let bytes = &self.answers.bytes(answer)[from..];
        let count = match connection.socket.write(bytes) {
            Ok(count) => count,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => 0,
            Err(_) => {
                self.close(slot);
                return false;
            }
        };
        if count < bytes.len() {
            connection.state = ConnectionState::Writing(answer, from + count);
            return true;
        }
        let malformed = answer.kind == AnswerKind::Malformed;
        self.report.answers += u64::from(!malformed);
        self.report.errors += u64::from(answer.kind == AnswerKind::Failure);
        if answer.keep_alive {
            connection.state = ConnectionState::Reading;
        } else if malformed || connection.readable {
            connection.state = ConnectionState::Ending;
            let _ = connection.socket.shutdown(Shutdown::Write);
        } else {
            self.close(slot);
        }
        true
    }
}

impl Connection {
    fn is_reading(&self) -> bool {
        matches!(self.state, ConnectionState::Reading | ConnectionState::Ending)
    }

    /// Keeps input for later, behind the unused rest.
    fn hold(&mut self, piece: &[u8]) {
        self.held.drain(..self.done);
        self.done = 0;
        self.held.extend_from_slice(piece);
    }
}
