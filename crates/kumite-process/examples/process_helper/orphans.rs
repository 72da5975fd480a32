//! Only the orphans of a killed kumite are ended.

use std::fs;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};

use kumite_process::{Tree, end_orphans};
use kumite_testing::eventually;
use kumite_testing::process::{Bench, alive, sleeps};

/// Makes one process of each kind below a shell: known by parent, by group and by session only, all without environment;
/// and one of a living owner.
const FAMILY: &str = r#"
    setsid env -i sh -c 'echo $$ > parent; exec sleep 300' &
    (env -i sh -c 'echo $$ > group; exec sleep 300' &)
    setsid sh -c '"$THIS" leave-one; exec sleep 300' &
    setsid env KUMITE_TREE=$LIVING sh -c 'echo $$ > living; exec sleep 300' &
    exec sleep 300
"#;

/// In a group of its own, without environment.
#[expect(clippy::zombie_processes, reason = "the child is to outlive us")]
pub fn leave_one() {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "echo $$ > session; exec sleep 300"]).env_clear().process_group(0);
    command.stdout(Stdio::null()).spawn().unwrap();
}

fn token_of(tree: &Tree) -> Vec<u64> {
    let mut token = None;
    // The environment cannot be seen while the shell becomes `sleep`.
    eventually(|| {
        let environ = fs::read_to_string(format!("/proc/{}/environ", tree.id())).unwrap();
        token = environ.split('\0').find_map(|entry| entry.strip_prefix("KUMITE_TREE=")).map(str::to_owned);
        token.is_some()
    });
    token.unwrap().split('-').map(|field| field.parse().unwrap()).collect()
}

fn token(fields: [u64; 4]) -> String {
    fields.map(|field| field.to_string()).join("-")
}

fn sleeper(token: Option<&str>) -> Child {
    let mut command = Command::new("sleep");
    command.arg("300").env_remove("KUMITE_TREE").process_group(0);
    command.envs(token.map(|token| ("KUMITE_TREE", token))).spawn().unwrap()
}

fn ended_pid() -> u64 {
    let mut child = Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    child.id().into()
}

pub fn are_ended_and_nobody_else() {
    let bench = Bench::new();
    let tree = bench.start("sleep 300");
    let [namespace, pid, started, count] = token_of(&tree)[..] else { panic!("another form") };
    assert_eq!(pid, u64::from(std::process::id()));
    let living = token([namespace, pid, started, count + 1]);
    let dead = token([namespace, pid, started - 1, 0]);

    let mut family = Command::new("sh");
    family.args(["-c", FAMILY]).current_dir(bench.dir()).process_group(0).stdout(Stdio::null());
    family.env("THIS", std::env::current_exe().unwrap());
    let mut orphans = vec![
        family.envs([("KUMITE_TREE", &dead), ("LIVING", &living)]).spawn().unwrap(),
        sleeper(Some(&dead)),
        sleeper(Some(&token([namespace, ended_pid(), started, 0]))),
    ];
    // Without environment, and known by the mark alone; of one that is dead, and of one that lives.
    let marked = |started: u64| {
        let limit = format!("--locks=7{pid:07}{:05}{:02}0042:", started % 100_000, namespace % 100);
        let mut command = Command::new("prlimit");
        command.args([&limit, "env", "-i", "sleep", "300"]).env_remove("KUMITE_TREE").process_group(0);
        let child = command.spawn().unwrap();
        eventually(|| sleeps(child.id()));
        child
    };
    orphans.push(marked(started - 1));
    let mut strangers = vec![
        marked(started),
        sleeper(Some(&living)),
        sleeper(Some(&token([namespace + 1, pid, started - 1, 0]))),
        sleeper(Some("12345-1700000000000000000-0")),
        sleeper(None),
    ];
    let descendants = ["parent", "group", "session"].map(|name| bench.pid(name));
    let below = bench.pid("living");
    eventually(|| descendants.into_iter().chain([below]).all(sleeps));

    let ended = end_orphans();
    let pids: Vec<u32> = ended.iter().map(|orphan| orphan.pid).collect();
    for orphan in &mut orphans {
        assert!(pids.contains(&orphan.id()) && !alive(orphan.id()), "{ended:?}");
        assert_eq!(orphan.wait().unwrap().signal(), Some(9));
    }
    for pid in descendants {
        assert!(pids.contains(&pid) && !alive(pid), "{pid} {ended:?}");
    }
    for pid in strangers.iter().map(Child::id).chain([tree.id(), below]) {
        assert!(!pids.contains(&pid) && alive(pid), "{pid} {ended:?}");
    }
    let ours = ended.iter().find(|orphan| orphan.pid == orphans[1].id()).unwrap();
    assert_eq!(ours.command, "sleep 300");

    assert!(!end_orphans().iter().any(|orphan| pids.contains(&orphan.pid)), "only once");
    for stranger in &mut strangers {
        stranger.kill().unwrap();
        stranger.wait().unwrap();
    }
    Command::new("kill").args(["-KILL", &below.to_string()]).status().unwrap();
}
