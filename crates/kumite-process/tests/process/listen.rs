//! A port whose listener is a tree (of the helper), this test (a stranger to it), or both.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener};
use std::time::Duration;

use kumite_process::{Listener, Tree};
use kumite_testing::eventually;
use kumite_testing::process::{Bench, helper, shared};
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, getsockname, socket_with};

fn start(bench: &Bench, before: &str, how: &str) -> (Tree, u16) {
    let tree = bench.start(&format!("{before} '{}' listen {how}", helper().display()));
    (tree, bench.pid("port").try_into().unwrap())
}

fn here(port: u16) -> SocketAddrV4 {
    SocketAddrV4::new(Ipv4Addr::LOCALHOST, port)
}

fn ports(tree: &mut Tree) -> Vec<u16> {
    tree.listening().iter().map(SocketAddr::port).collect()
}

/// Not always at once: a process that another test is just starting holds our sockets, too, until its first instruction.
fn us() -> Listener {
    let command = std::env::args().collect::<Vec<_>>().join(" ");
    Listener::Stranger { pid: Some(std::process::id()), command: Some(command) }
}

#[test]
fn a_port_that_the_tree_alone_listens_on_is_the_trees() {
    for how in ["any", "v6"] {
        let bench = Bench::new();
        let (mut tree, port) = start(&bench, "", how);
        assert_eq!(tree.listeners(here(port)).unwrap(), Listener::Tree);
        assert_eq!(ports(&mut tree), [port]);
        tree.stop(Duration::from_secs(1));
    }
}

#[test]
fn a_port_of_a_member_that_left_group_and_session_is_the_trees() {
    let bench = Bench::new();
    let (mut tree, port) = start(&bench, "sleep 300 & exec setsid env", "any");
    assert_eq!(tree.listeners(here(port)).unwrap(), Listener::Tree);
    tree.stop(Duration::from_secs(1));
}

#[test]
fn a_port_of_a_child_that_was_handed_the_socket_is_the_trees() {
    let bench = Bench::new();
    let (mut tree, port) = start(&bench, "", "handed-on");
    eventually(|| tree.exited().unwrap().is_some());
    assert_eq!(tree.listeners(here(port)).unwrap(), Listener::Tree);
    assert_eq!(ports(&mut tree), [port]);
}

#[test]
fn a_port_of_another_process_names_it() {
    let bench = Bench::new();
    let mut tree = bench.start("sleep 300");
    let ours = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = ours.local_addr().unwrap().port();
    eventually(|| tree.listeners(here(port)).unwrap() == us());
    assert_eq!(tree.listening(), []);
}

#[test]
fn a_port_of_another_process_elsewhere_on_loopback_is_nobodys() {
    let bench = Bench::new();
    let mut tree = bench.start("sleep 300");
    for address in ["[::1]:0", "127.0.0.2:0"] {
        let ours = TcpListener::bind(address).unwrap();
        let port = ours.local_addr().unwrap().port();
        assert_eq!(tree.listeners(here(port)).unwrap(), Listener::Nobody, "{address} is not 127.0.0.1");
        if let SocketAddr::V4(there) = ours.local_addr().unwrap() {
            eventually(|| tree.listeners(there).unwrap() == us());
        }
    }
}

#[test]
fn a_port_that_another_process_shares_names_it_until_it_leaves() {
    let bench = Bench::new();
    let (mut tree, port) = start(&bench, "", "any");
    let ours = shared(port);
    eventually(|| tree.listeners(here(port)).unwrap() == us());
    assert_eq!(ports(&mut tree), [port]);
    drop(ours);
    eventually(|| tree.listeners(here(port)).unwrap() == Listener::Tree);
}

#[test]
fn a_port_that_is_only_bound_is_nobodys() {
    let bench = Bench::new();
    let (mut tree, port) = start(&bench, "", "any");
    // It is ours as long as we have it, but nobody listens.
    let bound = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None).unwrap();
    bind(&bound, &SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0)).unwrap();
    let free = SocketAddrV4::try_from(getsockname(&bound).unwrap()).unwrap().port();
    assert_ne!(free, port);
    assert_eq!(tree.listeners(here(free)).unwrap(), Listener::Nobody);
}
