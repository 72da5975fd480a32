//! The nodes of a job, and their addresses.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, ToSocketAddrs, UdpSocket};
use std::sync::atomic::AtomicBool;

use kumite_agent::{JobNode, Node};

use super::ask::ask;
use super::job::Task;
use crate::slurm_error::Error;

/// The nodes of these tasks, in their order: at least one. An error if Slurm does not answer, or names no node.
pub fn nodes_of(tasks: &[Task], stop: &AtomicBool) -> Result<Vec<Node>, Error> {
    let mut nodes = Vec::new();
    for task in tasks {
        let said = ask(&["scontrol", "show", "node", "--oneliner", &task.nodes], stop)?;
        let addresses: BTreeMap<String, String> = said.lines().filter_map(name_and_address).collect();
        let names = ask(&["scontrol", "show", "hostnames", &task.nodes], stop)?;
        for name in names.split_whitespace() {
            let address = addresses.get(name).map_or(name, String::as_str);
            let (job, component) = task.step_of();
            let name = name.to_owned();
            nodes.push(Node::OfJob(JobNode { job, component, name, addresses: both_ends(address) }));
        }
    }
    match nodes.is_empty() {
        true => Err(Error::NoNodes),
        false => Ok(nodes),
    }
}

fn name_and_address(line: &str) -> Option<(String, String)> {
    let field = |name: &str| line.split_whitespace().find_map(|word| word.strip_prefix(name));
    Some((field("NodeName=")?.to_owned(), field("NodeAddr=")?.to_owned()))
}

/// The IPv4 address of a node, and this machine's on the way there; none if either has none. Nothing is sent.
fn both_ends(address: &str) -> Option<(Ipv4Addr, Ipv4Addr)> {
    const ANY_PORT: u16 = 9;
    let v4 = |address: IpAddr| match address {
        IpAddr::V4(address) => Some(address),
        IpAddr::V6(_) => None,
    };
    let there = (address, ANY_PORT).to_socket_addrs().ok()?.find_map(|address| v4(address.ip()))?;
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    socket.connect((there, ANY_PORT)).ok()?;
    Some((there, v4(socket.local_addr().ok()?.ip())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_among_much_else() {
        let line = "NodeName=n1 Arch=x86_64 CoresPerSocket=1 NodeAddr=10.77.0.11 NodeHostName=n1 Port=0 OS=Linux 6.1 #1 SMP";
        assert_eq!(name_and_address(line), Some(("n1".to_owned(), "10.77.0.11".to_owned())));
        assert_eq!(name_and_address("NodeName=n1 OS=Linux"), None);
        assert_eq!(both_ends("127.0.0.1"), Some((Ipv4Addr::LOCALHOST, Ipv4Addr::LOCALHOST)));
        assert_eq!(both_ends("no host of ours!"), None);
    }
}
