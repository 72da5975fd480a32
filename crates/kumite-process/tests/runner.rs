//! Commands with known answers. The helper is this very program, as `helper`: its test harness makes it larger than
//! kumite's, so that the floor of memory is higher here.

mod common;

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use common::{Bench, alive, eventually};
use kumite_process::{Error, Job, Output, Runner, Stdin, TimedRun, available_cores};

static NEVER: AtomicBool = AtomicBool::new(false);
const MIB: u64 = 1 << 20;

#[test]
#[ignore = "is what runs the commands of the other tests"]
fn helper() {
    kumite_process::runner_main();
}

fn sh(bench: &Bench, script: &str) -> Job {
    Job {
        program: "sh".into(),
        args: vec!["-c".to_owned(), script.to_owned()],
        dir: bench.dir().to_owned(),
        env: vec![("GREETING".to_owned(), "hello world".to_owned())],
        stdin: Stdin::Null,
        output: Output::Null,
    }
}

fn start(jobs: &[Job]) -> Result<Runner, Error> {
    let this = std::env::current_exe().unwrap();
    let quietly = "exec \"$0\" --exact helper --ignored --nocapture > /dev/null";
    Runner::start(Path::new("/bin/sh"), &["-c", quietly, this.to_str().unwrap()], jobs)
}

fn run(bench: &Bench, script: &str) -> TimedRun {
    start(&[sh(bench, script)]).unwrap().run(0, &[], &NEVER).unwrap().unwrap()
}

#[test]
fn exit_codes_and_signals() {
    let bench = Bench::new();
    assert_eq!(run(&bench, "exit 7").status.code(), Some(7));
    assert_eq!(run(&bench, "kill -TERM $$").status.signal(), Some(15));
}

#[test]
fn a_spinning_command_has_its_cpu_time() {
    let bench = Bench::new();
    // Until it has used 0.1 s by its own account: the load of the machine does not matter.
    let spin = "awk 'BEGIN { while (i++ < 1e9) if (i % 10000 == 0) { getline s < \"/proc/self/stat\"; \
                close(\"/proc/self/stat\"); split(s, f, \" \"); if (f[14] + f[15] >= 10) exit } }'";
    let run = run(&bench, spin);
    let cpu = run.user + run.system;
    assert!((Duration::from_millis(99)..Duration::from_millis(140)).contains(&cpu), "{run:?}");
    assert!(cpu < run.wall + Duration::from_millis(2) && run.system < run.user, "{run:?}");
}

#[test]
fn a_sleeping_command_has_next_to_no_cpu_time() {
    let run = run(&Bench::new(), "sleep 0.2");
    assert!(run.wall >= Duration::from_millis(200) && run.wall < Duration::from_secs(2), "{run:?}");
    assert!(run.user + run.system < Duration::from_millis(50), "{run:?}");
    assert!(run.overhead < Duration::from_millis(100), "{run:?}");
}

#[test]
fn peak_memory_is_what_the_command_touches_and_not_what_we_have() {
    let bench = Bench::new();
    let ours = vec![1_u8; 100 << 20];
    let dd = |mib: u64| format!("dd if=/dev/zero of=/dev/null bs={mib}M count=1");
    let mut runner = start(&[sh(&bench, "true"), sh(&bench, &dd(64)), sh(&bench, &dd(32))]).unwrap();
    let mut peak = |job| runner.run(job, &[], &NEVER).unwrap().unwrap().peak_rss_bytes;
    let (nothing, large, small) = (peak(0), peak(1), peak(2));
    assert!(nothing < 16 * MIB, "{nothing}");
    assert!((64 * MIB..72 * MIB).contains(&large), "{large}");
    assert!((32 * MIB..40 * MIB).contains(&small), "{small}: not that of the run before it");
    assert!(ours.iter().all(|&byte| byte == 1));
}

#[test]
fn it_runs_where_and_as_it_was_told() {
    let bench = Bench::new();
    let (input, output) = (bench.dir().join("in"), bench.dir().join("out"));
    std::fs::write(&input, "some words\n").unwrap();
    let script = "pwd; cat; echo $GREETING; echo hidden >&2; grep Cpus_allowed_list /proc/self/status";
    let file = Output::File(output);
    let job = Job { stdin: Stdin::File(input), output: file, ..sh(&bench, script) };
    let mut runner = start(&[job]).unwrap();
    let dir = bench.dir().canonicalize().unwrap();
    for core in available_cores() {
        runner.run(0, &[core], &NEVER).unwrap().unwrap();
        let expected = format!("{}\nsome words\nhello world\nCpus_allowed_list:\t{core}\n", dir.display());
        assert_eq!(bench.read("out"), expected, "from its beginning, and emptied, in each run");
    }
}

#[test]
fn a_pipe_is_read() {
    let bench = Bench::new();
    let job =
        Job { output: Output::Pipe, ..sh(&bench, "[ -p /dev/stdout ] && dd if=/dev/zero bs=1M count=20") };
    let mut runner = start(&[job]).unwrap();
    assert!(runner.run(0, &[], &NEVER).unwrap().unwrap().status.success());
}

#[test]
fn what_is_queued_is_answered_in_order_and_an_error_does_not_end_it() {
    let bench = Bench::new();
    let missing = Job { program: "./nowhere".into(), ..sh(&bench, "") };
    let mut runner = start(&[sh(&bench, "exit 1"), sh(&bench, "exit 2"), missing]).unwrap();
    for job in [1, 0, 2, 1] {
        runner.queue(job, &[]).unwrap();
    }
    let mut next = || runner.next(&NEVER).map(|run| run.unwrap().status.code());
    assert_eq!((next().unwrap(), next().unwrap()), (Some(2), Some(1)));
    assert!(matches!(next(), Err(Error::Program { .. })));
    assert_eq!(next().unwrap(), Some(2));
}

#[test]
fn two_at_once_overlap() {
    let bench = Bench::new();
    let script =
        |us: &str, them: &str| format!("touch {us}; until [ -e {them} ]; do sleep 0.01; done; exit {us}");
    let mut runner = start(&[sh(&bench, &script("1", "2")), sh(&bench, &script("2", "1"))]).unwrap();
    let cores = available_cores();
    let cores = [&cores[..1], &cores[cores.len() - 1..]];
    let runs = runner.run_both([0, 1], cores, &NEVER).unwrap().unwrap();
    assert_eq!(runs.map(|run| run.status.code()), [Some(1), Some(2)]);
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let bench = Bench::new();
    let job = |program: &str| Job { program: program.into(), ..sh(&bench, "") };
    for program in ["no-such-program", ""] {
        let error = start(&[job(program)]).unwrap_err();
        assert!(error.to_string().starts_with(&format!("cannot start `{program}`")), "{error}");
    }
    std::fs::write(bench.dir().join("not-executable"), "").unwrap();
    for program in ["./not-executable", "./nowhere"] {
        let error = start(&[job(program)]).unwrap().run(0, &[], &NEVER).unwrap_err();
        assert!(error.to_string().starts_with(&format!("cannot start `{program}`")), "{error}");
    }
}

#[test]
fn a_core_that_is_not_there_is_an_error_and_the_next_run_goes_on() {
    let bench = Bench::new();
    let mut runner = start(&[sh(&bench, "true")]).unwrap();
    let error = runner.run(0, &[1000], &NEVER).unwrap_err();
    assert!(matches!(error, Error::Cores { .. }), "{error:?}");
    assert!(runner.run(0, &[], &NEVER).unwrap().unwrap().status.success());
}

#[test]
fn who_is_left_behind_is_ended_and_counted() {
    let bench = Bench::new();
    let daemon = "setsid sh -c 'sh -c \"echo \\$\\$ > daemon; exec sleep 30\" & exit' & wait; \
                  until [ -s daemon ]; do sleep 0.01; done";
    let mut runner = start(&[sh(&bench, daemon), sh(&bench, "true")]).unwrap();
    let left = runner.run(0, &[], &NEVER).unwrap().unwrap();
    assert_eq!(left.left_behind, 1, "{left:?}");
    assert!(left.wall < Duration::from_secs(10), "{left:?}");
    assert!(!alive(bench.pid("daemon")));
    assert_eq!(runner.run(1, &[], &NEVER).unwrap().unwrap().left_behind, 0);
}

#[test]
fn a_stop_in_the_middle_leaves_nothing() {
    let bench = Bench::new();
    let stop = AtomicBool::new(false);
    let mut runner = start(&[sh(&bench, "setsid sleep 30 & echo $! > child; echo $$ > root; wait")]).unwrap();
    let began = Instant::now();
    let run = thread::scope(|scope| {
        scope.spawn(|| {
            bench.pid("root");
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        runner.run(0, &[], &stop).unwrap()
    });
    assert!(run.is_none() && began.elapsed() < Duration::from_secs(10));
    assert!(!alive(bench.pid("root")) && !alive(bench.pid("child")));
    assert!(matches!(runner.run(0, &[], &NEVER), Err(Error::Runner { .. })));
}

#[test]
fn a_drop_ends_the_helper() {
    let bench = Bench::new();
    let mut runner = start(&[sh(&bench, "echo $PPID > helper")]).unwrap();
    runner.run(0, &[], &NEVER).unwrap().unwrap();
    let helper = bench.pid("helper");
    assert!(alive(helper));
    drop(runner);
    eventually(|| !alive(helper));
}

#[test]
fn the_size_of_the_environment_varies_and_the_seed_repeats_it() {
    let bench = Bench::new();
    let job = Job { output: Output::File(bench.log()), ..sh(&bench, "echo ${#KUMITE_PADDING}") };
    let lengths = |seed| {
        let mut runner = start(std::slice::from_ref(&job)).unwrap();
        runner.vary_environment(seed);
        let mut length = || {
            runner.run(0, &[], &NEVER).unwrap().unwrap();
            bench.read("log")
        };
        [length(), length(), length()]
    };
    let once = lengths(1);
    assert_eq!(once, lengths(1));
    assert_ne!(once, lengths(2));
    assert!(once[0] != once[1] && once[1] != once[2], "{once:?}");
}

#[test]
fn a_helper_that_is_none_is_an_error() {
    let error = Runner::start(Path::new("/bin/true"), &["it's"], &[]).unwrap_err();
    assert!(error.to_string().contains("/bin/true"), "{error}");
}
