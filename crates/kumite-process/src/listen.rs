//! The holders of a listening port: the kernel's tables name the sockets, and `/proc/PID/fd` shows who holds them.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::net::{IpAddr, Ipv6Addr, SocketAddr, SocketAddrV4};

use crate::{Error, Tree, proc_fs};

/// The tables of TCP sockets in our network namespace. Without IPv6 the second is missing.
const TABLES: [&str; 2] = ["/proc/net/tcp", "/proc/net/tcp6"];
const LISTEN: &str = "0A";
/// The number of looks for a socket's holder, which may end between the look at the table and the look at its
/// descriptors.
const LOOKS: usize = 3;

/// The holders of a listening port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listener {
    /// No socket listens on the port.
    Nobody,
    /// The tree alone: a member holds each of the listening sockets (with SO_REUSEPORT there may be several).
    Tree,
    /// Another process: it holds a listening socket that no member of the tree holds, even if members hold others.
    Stranger {
        /// The id of a process that holds the socket. `None` if none was seen in three looks: it is another user's or
        /// outside of our container, or holders came and went.
        pid: Option<u32>,
        /// The arguments of that process, joined by spaces. `None` if they cannot be seen.
        command: Option<String>,
    },
}

impl Tree {
    /// Finds out who gets what is sent to this address: the processes that hold listening sockets which are bound to
    /// the address, or to its port at any address (also IPv6's). It is cheap while there is no such socket. Once there
    /// is one, it reads the descriptors of all members of the tree, and those of all processes if a stranger has the
    /// socket. An error if the kernel's table cannot be read.
    pub fn listeners(&mut self, at: SocketAddrV4) -> Result<Listener, Error> {
        let port = at.port();
        for _ in 0..LOOKS {
            let sockets = tables().map_err(|(table, source)| Error::Listeners { port, table, source })?;
            let sockets = sockets.iter().filter(|socket| socket.gets_requests(at));
            let mut inodes: BTreeSet<u64> = sockets.map(|socket| socket.inode).collect();
            if inodes.is_empty() {
                return Ok(Listener::Nobody);
            }
            let ours = self.sockets();
            inodes.retain(|inode| !ours.contains(inode));
            if inodes.is_empty() {
                return Ok(Listener::Tree);
            }
            let holds = |&pid: &i32| proc_fs::sockets(pid).any(|inode| inodes.contains(&inode));
            if let Some(pid) = proc_fs::pids().into_iter().find(holds) {
                let command = proc_fs::command_line(pid);
                return Ok(Listener::Stranger { pid: Some(pid.cast_unsigned()), command });
            }
        }
        Ok(Listener::Stranger { pid: None, command: None })
    }

    /// The addresses at which members listen by TCP, ascending. Empty if the system does not tell.
    pub fn listening(&mut self) -> Vec<SocketAddr> {
        let Ok(sockets) = tables() else { return Vec::new() };
        let ours = self.sockets();
        let own = sockets.iter().filter(|socket| ours.contains(&socket.inode));
        own.map(|socket| SocketAddr::new(socket.address, socket.port))
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect()
    }

    /// The inodes of all sockets that members hold.
    fn sockets(&mut self) -> BTreeSet<u64> {
        self.members.rescan();
        self.members.running().flat_map(|(pid, _)| proc_fs::sockets(pid)).collect()
    }
}

#[derive(Debug, PartialEq)]
struct Socket {
    address: IpAddr,
    port: u16,
    inode: u64,
}

impl Socket {
    /// `true` if this socket may get what is sent to `at`. (The table does not tell whether a socket at `::` is for
    /// IPv6 alone.)
    fn gets_requests(&self, at: SocketAddrV4) -> bool {
        self.port == at.port() && (self.address == *at.ip() || self.address.is_unspecified())
    }
}

fn tables() -> Result<Vec<Socket>, (&'static str, io::Error)> {
    let mut all = Vec::new();
    for table in TABLES {
        match File::open(table).and_then(|file| listening(BufReader::new(file))) {
            Ok(sockets) => all.extend(sockets),
            Err(error) if table == TABLES[1] && error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err((table, error)),
        }
    }
    Ok(all)
}

/// The listening sockets of a table. They come first (the kernel's `proc_net_tcp.rst`), so that the others are not
/// read.
fn listening(table: impl BufRead) -> io::Result<Vec<Socket>> {
    let mut sockets = Vec::new();
    for line in table.lines().skip(1) {
        match socket(&line?) {
            Some(socket) => sockets.push(socket),
            None => break,
        }
    }
    Ok(sockets)
}

fn socket(line: &str) -> Option<Socket> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let (address, port) = fields.get(1)?.split_once(':')?;
    let socket = Socket {
        address: self::address(address)?,
        port: u16::from_str_radix(port, 16).ok()?,
        inode: fields.get(9)?.parse().ok()?,
    };
    (fields[3] == LISTEN).then_some(socket)
}

/// Parses an address of one or four words of 32 bits, in hexadecimal and the machine's byte order. `None` if it is no
/// such text.
fn address(hex: &str) -> Option<IpAddr> {
    let word = |at: usize| Some(u32::from_str_radix(hex.get(at * 8..at * 8 + 8)?, 16).ok()?.to_ne_bytes());
    match hex.len() {
        8 => Some(IpAddr::from(word(0)?)),
        32 => {
            let words = [word(0)?, word(1)?, word(2)?, word(3)?];
            let bytes = <[u8; 16]>::try_from(words.as_flattened()).ok()?;
            Some(Ipv6Addr::from(bytes).to_canonical())
        }
        _ => None,
    }
}

#[cfg(all(test, target_endian = "little"))]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const TCP: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 16711 1 0000000000000000 100 0 0 10 0
   1: 00000000:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 16712 1 0000000000000000 100 0 0 10 0
   2: 0500000A:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 16713 1 0000000000000000 100 0 0 10 0
   3: 0200007F:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 16715 1 0000000000000000 100 0 0 10 0
   4: 0100007F:1F90 0100007F:D431 01 00000000:00000000 00:00000000 00000000     0        0 16714 1 0000000000000000 20 4 30 10 -1
";
    const TCP6: &str = "\
  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000000000000000000000000000:0BB8 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 17001 1 0000000000000000 100 0 0 10 0
   1: 00000000000000000000000001000000:0BB9 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 17002 1 0000000000000000 100 0 0 10 0
   2: 0000000000000000FFFF00000100007F:0BBA 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 17003 1 0000000000000000 100 0 0 10 0
   3: B80D0120000000000000000001000000:0BBB 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 17004 1 0000000000000000 100 0 0 10 0
";

    fn parsed(table: &str) -> Vec<(String, u16, u64, bool)> {
        let sockets = listening(table.as_bytes()).unwrap();
        let fields = |socket: &Socket| {
            let at = SocketAddrV4::new(Ipv4Addr::LOCALHOST, socket.port);
            (socket.address.to_string(), socket.port, socket.inode, socket.gets_requests(at))
        };
        sockets.iter().map(fields).collect()
    }

    fn row(address: &str, port: u16, inode: u64, gets_requests: bool) -> (String, u16, u64, bool) {
        (address.to_owned(), port, inode, gets_requests)
    }

    #[test]
    fn a_tcp_table_has_its_listeners() {
        let expected = [
            row("127.0.0.1", 8080, 16711, true),
            row("0.0.0.0", 3000, 16712, true),
            row("10.0.0.5", 3000, 16713, false),
            row("127.0.0.2", 3000, 16715, false),
        ];
        assert_eq!(parsed(TCP), expected);
    }

    #[test]
    fn a_tcp6_table_has_its_listeners() {
        let expected = [
            row("::", 3000, 17001, true),
            row("::1", 3001, 17002, false),
            row("127.0.0.1", 3002, 17003, true),
            row("2001:db8::1", 3003, 17004, false),
        ];
        assert_eq!(parsed(TCP6), expected);
    }

    #[test]
    fn a_torn_table_has_no_listeners() {
        assert_eq!(parsed(""), []);
        assert_eq!(parsed("header\n  0: 0100007F:1F90 00000000:0000 0A"), []);
        assert_eq!(parsed("header\n  0: é100007F:1F90 0:0 0A 0 0 0 0 0 7"), []);
    }
}
