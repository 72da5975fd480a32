//! The processes of a server, on this machine or on a node of its own.

use std::net::{IpAddr, Ipv4Addr, SocketAddrV4};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kumite_process::{Listener, Spawn, Tree, Waits, how_it_ended};

use crate::contender::Ready;
use crate::credentials::Credentials;
use crate::driver::log::{check_size, last_lines, trim};
use crate::error::{Error, Fault, chain};
use crate::node::Remote;
use crate::port::free_port;
use crate::work::{
    Ask, BeginWatch, EndWatch, LastLines, Listening, ListensElsewhere, LookAtServer, NodeNoise, OwnPort,
    Pause, Resume, ServerEnded, ServerSample, StartServer, StopServer,
};

/// The time between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(3);

/// The processes of a started server, on this machine or on another node.
pub(crate) trait ServerProcess: Send {
    /// True if the server is on this machine, so that its CPU time is used here.
    fn is_here(&self) -> bool;

    /// Looks at the server's processes as they are now. A server that has ended is no error; a node that does not
    /// answer is one.
    fn look(&mut self) -> Result<ServerSample, Error>;

    /// The end of the server's log, for messages; of a node that does not answer, the reason why it cannot be had.
    fn last_lines(&mut self) -> String;

    /// An error if the listener on the port cannot be told, if nobody listens there, or if another program than the
    /// contender does: its answers would be measured as the contender's.
    fn own_port(&mut self) -> Result<(), Error>;

    /// A sentence about an address other than HOST at which the server listens on PORT, or on why that cannot be
    /// told. None if there is no such address.
    fn listens_elsewhere(&mut self) -> Option<String>;

    /// The addresses on which the server listens, in words.
    fn listening(&mut self) -> String;

    /// Stops all processes of the server until `resume`. True if all of them stopped; false if one went on, or if the
    /// server's node does not answer.
    fn pause(&mut self) -> bool;

    fn resume(&mut self);

    /// The waits of the server's threads. None if only another node can know them.
    fn waits(&self) -> Option<Waits>;

    /// Starts to watch the server's node; does nothing for a server on this machine. An error if the node does not
    /// answer.
    fn begin_watch(&mut self) -> Result<(), Error>;

    /// The figures and marks of the server's node since the watch began. None for a server on this machine, where the
    /// engine watches. An error if the node does not answer.
    fn end_watch(&mut self) -> Result<Option<NodeNoise>, Error>;

    /// Ends the server. Returns the fault of its end in words, such as that it was killed or left processes behind;
    /// on another node also a write into the caches there. None if it has none.
    fn stop(self: Box<Self>) -> Option<String>;
}

/// A server on this machine.
pub(crate) struct Here {
    tree: Tree,
    address: SocketAddrV4,
    log: PathBuf,
    started: Instant,
}

impl Here {
    /// Starts a server on this machine. `given` has this trial's variables other than HOST and PORT. An error if there
    /// is no free port, or the contender's command cannot be started.
    pub fn start(
        contender: &Ready,
        host: Ipv4Addr,
        given: Vec<(String, String)>,
        cores: &[usize],
        log: &Path,
    ) -> Result<Here, Error> {
        let address = SocketAddrV4::new(host, free_port(host)?);
        let mut env = contender.env.clone();
        env.extend(given);
        env.push(("HOST".to_owned(), host.to_string()));
        env.push(("PORT".to_owned(), address.port().to_string()));
        let started = Instant::now();
        let spawn = Spawn {
            command: &contender.run,
            dir: &contender.folder,
            env: &env,
            keeps: None,
            cores,
            log,
            group: None,
        };
        let tree = Tree::start(&spawn)?;
        Ok(Here { tree, address, log: log.to_owned(), started })
    }

    pub fn address(&self) -> SocketAddrV4 {
        self.address
    }
}

impl ServerProcess for Here {
    fn is_here(&self) -> bool {
        true
    }

    fn look(&mut self) -> Result<ServerSample, Error> {
        let exited = self.tree.exited()?;
        let usage = self.tree.usage();
        Ok(ServerSample {
            exited: exited.map(how_it_ended),
            too_much: check_size(&self.log),
            cpu_ns: nanoseconds(usage.cpu),
            peak_rss_bytes: usage.peak_rss_bytes,
            at_ns: nanoseconds(self.started.elapsed()),
        })
    }

    fn last_lines(&mut self) -> String {
        last_lines(&self.log)
    }

    fn own_port(&mut self) -> Result<(), Error> {
        let port = self.address.port();
        match self.tree.listeners(self.address) {
            Ok(Listener::Tree) => Ok(()),
            Ok(Listener::Nobody) => {
                Err(Fault::new(format!("it answered once and no longer listens on PORT ({port})")).into())
            }
            Ok(Listener::Stranger { pid, command }) => {
                let who = pid.map_or("another process".to_owned(), |pid| format!("process {pid}"));
                let command = command.map(|command| format!(" ({command})")).unwrap_or_default();
                let log = last_lines(&self.log);
                Err(Fault::new(format!(
                    "its PORT is held by {who}{command}, which is not of this contender: end that; {port} was free when it \
                     was given; its log: {log}"
                ))
                .into())
            }
            Err(error) => Err(error.into()),
        }
    }

    fn listens_elsewhere(&mut self) -> Option<String> {
        let (host, port) = (self.address.ip(), self.address.port());
        let listening = self.tree.listening();
        let other = listening.iter().find(|at| at.port() == port && at.ip() != IpAddr::V4(*host))?;
        Some(format!(
            "it listens on {other}, and HOST was {host}: it is to listen there alone, for a server on a node of its own has \
             another address"
        ))
    }

    fn listening(&mut self) -> String {
        let places: Vec<String> = self.tree.listening().iter().map(ToString::to_string).collect();
        match places.len() {
            0 => "it listens nowhere".to_owned(),
            _ => format!("it listens on {}", places.join(", ")),
        }
    }

    fn pause(&mut self) -> bool {
        self.tree.pause()
    }

    fn resume(&mut self) {
        self.tree.resume();
    }

    fn waits(&self) -> Option<Waits> {
        Some(self.tree.waits())
    }

    fn begin_watch(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn end_watch(&mut self) -> Result<Option<NodeNoise>, Error> {
        Ok(None)
    }

    fn stop(self: Box<Self>) -> Option<String> {
        let ended = self.tree.stop(GRACE);
        trim(&self.log);
        match (ended.killed, ended.left_behind) {
            (true, _) => Some(format!("it ignored SIGTERM for {} s and was killed", GRACE.as_secs())),
            (false, 0) => None,
            (false, left) => {
                Some(format!("it ended and left {left} of its processes behind, which were killed"))
            }
        }
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// A server on another node.
pub(crate) struct There {
    node: Remote,
    /// The path on this machine where the end of the server's log is kept.
    log: PathBuf,
    is_stopped: bool,
}

impl There {
    /// Starts a server on this node. Returns it with the address and port on which it has to listen. An error if the
    /// node cannot start it, or is lost.
    pub fn start(
        node: &Remote,
        contender: &str,
        env: Vec<(String, String)>,
        credentials: Option<Credentials>,
        cores: &[usize],
        log: &Path,
    ) -> Result<(There, SocketAddrV4), Error> {
        let host = node.address();
        let name = log.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let contender = contender.to_owned();
        let port =
            node.ask(StartServer { contender, host, env, credentials, cores: cores.to_vec(), log: name })?;
        let there = There { node: node.clone(), log: log.to_owned(), is_stopped: false };
        Ok((there, SocketAddrV4::new(host, port)))
    }

    /// Asks the node. False if the node cannot be reached, by which the trial fails anyway.
    fn asked_to(&self, what: impl Ask<Answer = bool>) -> bool {
        self.node.ask(what).unwrap_or(false)
    }

    fn stopped(&mut self) -> Result<ServerEnded, Error> {
        self.is_stopped = true;
        self.node.ask(StopServer {})
    }
}

impl Drop for There {
    fn drop(&mut self) {
        if !self.is_stopped {
            // A node that does not answer ends its processes itself, once the way to it has ended.
            let _ = self.stopped();
        }
    }
}

impl ServerProcess for There {
    fn is_here(&self) -> bool {
        false
    }

    fn look(&mut self) -> Result<ServerSample, Error> {
        self.node.ask(LookAtServer {})
    }

    fn last_lines(&mut self) -> String {
        self.node.ask(LastLines {}).unwrap_or_else(|why| chain(&why))
    }

    fn own_port(&mut self) -> Result<(), Error> {
        self.node.ask(OwnPort {})?.map_or(Ok(()), |why| Err(Fault::new(why).into()))
    }

    fn listens_elsewhere(&mut self) -> Option<String> {
        self.node.ask(ListensElsewhere {}).unwrap_or_else(|why| Some(chain(&why)))
    }

    fn listening(&mut self) -> String {
        self.node.ask(Listening {}).unwrap_or_else(|why| chain(&why))
    }

    fn pause(&mut self) -> bool {
        self.asked_to(Pause {})
    }

    fn resume(&mut self) {
        self.asked_to(Resume {});
    }

    fn waits(&self) -> Option<Waits> {
        None
    }

    fn begin_watch(&mut self) -> Result<(), Error> {
        self.node.ask(BeginWatch {})
    }

    fn end_watch(&mut self) -> Result<Option<NodeNoise>, Error> {
        self.node.ask(EndWatch {}).map(Some)
    }

    fn stop(mut self: Box<Self>) -> Option<String> {
        match self.stopped() {
            Err(why) => Some(chain(&why)),
            Ok(ServerEnded { wrong, log }) => {
                // A log that cannot be kept is missing, and nothing worse.
                let _ = std::fs::write(&self.log, log);
                wrong
            }
        }
    }
}
