//! Commands with known answers.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use kumite_process::{Error, Job, Output, Passes, Runner, Stdin, TimedRun, available_cores, spawn_unmarked};
use kumite_testing::process::{Bench, alive, helper};
use kumite_testing::{LONG, eventually};

static NEVER: AtomicBool = AtomicBool::new(false);
/// Until it has used 0.1 s by its own account, which it writes down: the load of the machine does not matter.
const SPIN: &str = "exec awk 'BEGIN { while (i++ < 1e9) if (i % 10000 == 0) { getline s < \"/proc/self/stat\"; \
                    close(\"/proc/self/stat\"); split(s, f, \" \"); if (f[14] + f[15] >= 10) break } \
                    print f[14], f[15] > \"ticks\" }'";
const TICK: Duration = Duration::from_millis(10);
const MIB: u64 = 1 << 20;

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
    Runner::start(&helper(), &["runner"], jobs)
}

fn run(bench: &Bench, script: &str) -> TimedRun {
    start(&[sh(bench, script)]).unwrap().run(0, &[], &NEVER).unwrap().unwrap()
}

#[test]
fn a_run_that_exits_or_is_signalled_says_how() {
    let bench = Bench::new();
    assert_eq!(run(&bench, "exit 7").status.code(), Some(7));
    assert_eq!(run(&bench, "kill -TERM $$").status.signal(), Some(15));
}

#[test]
fn a_spinning_command_has_its_cpu_time_and_no_other() {
    let bench = Bench::new();
    let mut runner = start(&[sh(&bench, SPIN), sh(&bench, "true")]).unwrap();
    for _ in 0..2 {
        let spun = runner.run(0, &[], &NEVER).unwrap().unwrap();
        let ticks = bench.read("ticks");
        let (user, system) = ticks.trim().split_once(' ').unwrap();
        let account = [user, system].map(|ticks| TICK * ticks.parse().unwrap());
        assert!(spun.user >= account[0] && spun.system >= account[1], "{spun:?} of {account:?}");
        // Of a command that never does two things at once there is no more than time: not that of the one before it.
        for run in [spun, runner.run(1, &[], &NEVER).unwrap().unwrap()] {
            assert!(run.user + run.system < run.wall + Duration::from_millis(2), "{run:?}");
        }
    }
}

#[test]
fn a_sleeping_command_has_next_to_no_cpu_time() {
    let slept = Duration::from_millis(200);
    let bench = Bench::new();
    let mut runner = start(&[sh(&bench, "sleep 0.2")]).unwrap();
    let began = Instant::now();
    let run = runner.run(0, &[], &NEVER).unwrap().unwrap();
    let all = began.elapsed();
    // To start a shell takes some time, and so does a machine that stands still; what is slept is no CPU time.
    assert!(run.wall >= slept && run.user + run.system <= run.wall - slept, "{run:?}");
    assert!(run.wall + run.overhead <= all, "{run:?} in {all:?}");
}

#[test]
fn peak_memory_is_what_the_command_touches_and_not_what_we_have() {
    let bench = Bench::new();
    let ours = vec![1_u8; 100 << 20];
    let dd = |mib: u64| format!("dd if=/dev/zero of=/dev/null bs={mib}M count=1 iflag=fullblock");
    let mut runner = start(&[sh(&bench, "true"), sh(&bench, &dd(64)), sh(&bench, &dd(32))]).unwrap();
    let mut peak = |job| runner.run(job, &[], &NEVER).unwrap().unwrap().peak_rss_bytes;
    let (nothing, large, small) = (peak(0), peak(1), peak(2));
    assert!(nothing < 16 * MIB, "{nothing}");
    assert!((64 * MIB..72 * MIB).contains(&large), "{large}");
    assert!((32 * MIB..40 * MIB).contains(&small), "{small}: not that of the run before it");
    assert!(ours.iter().all(|&byte| byte == 1));
}

#[test]
fn a_run_is_where_and_as_it_was_told() {
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
fn output_and_errors_go_into_files_of_their_own_started_either_way() {
    let bench = Bench::new();
    let output = Output::Files { stdout: bench.dir().join("out"), stderr: bench.log() };
    let mut runner = start(&[Job { output, ..sh(&bench, "echo shown; echo wrong >&2; echo $$") }]).unwrap();
    for forked in [false, true] {
        let run = if forked { Runner::run_forked } else { Runner::run };
        run(&mut runner, 0, &[], &NEVER).unwrap().unwrap();
        let lines = bench.read("out");
        assert_eq!((lines.lines().next(), lines.lines().count()), (Some("shown"), 2));
        assert_eq!(bench.read("log"), "wrong\n");
    }
}

#[test]
fn output_to_a_pipe_is_read_and_never_blocks() {
    let bench = Bench::new();
    let job =
        Job { output: Output::Pipe, ..sh(&bench, "[ -p /dev/stdout ] && dd if=/dev/zero bs=1M count=20") };
    let mut runner = start(&[job]).unwrap();
    assert!(runner.run(0, &[], &NEVER).unwrap().unwrap().status.success());
}

#[test]
fn queued_runs_are_answered_in_order_and_an_error_does_not_end_them() {
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
fn nothing_that_is_queued_behind_a_failure_is_run() {
    let bench = Bench::new();
    let missing = Job { program: "./nowhere".into(), ..sh(&bench, "") };
    let jobs = [sh(&bench, "echo >> log"), sh(&bench, "echo >> log; exit 3"), missing];
    for (passes, fails, lines) in [
        (Passes::Statuses(vec![0]), 1, 2),
        (Passes::Statuses(vec![0, 3]), 2, 1),
        (Passes::AnyStatus, 2, 1),
        (Passes::Statuses(vec![0, 3]), 0, 4),
    ] {
        std::fs::write(bench.log(), "").unwrap();
        let mut runner = start(&jobs).unwrap();
        runner.end_queue_unless(passes);
        for job in [0, fails, 0, 1] {
            runner.queue(job, &[]).unwrap();
        }
        let answers = [(); 4].map(|()| runner.next(&NEVER));
        assert_eq!(bench.read("log").lines().count(), lines, "{answers:?}");
        assert_eq!(answers[2].is_err(), fails != 0);
        // The next queue begins anew.
        assert!(runner.run(0, &[], &NEVER).unwrap().unwrap().status.success());
    }
}

#[test]
fn what_is_left_by_a_run_as_from_a_shell_lives_as_long_as_the_runner() {
    let bench = Bench::new();
    let mut runner = start(&[sh(&bench, "sleep 300 & echo $! > child"), sh(&bench, "true")]).unwrap();
    runner.run_as_from_a_shell();
    for job in [0, 1] {
        assert_eq!(runner.run(job, &[], &NEVER).unwrap().unwrap().left_behind, 0);
    }
    assert!(alive(bench.pid("child")));
    assert_eq!(runner.finish(), ["sleep 300"]);
    assert!(!alive(bench.pid("child")));
}

#[test]
fn who_is_stopped_goes_on_within_a_second_or_is_ended_and_named() {
    let bench = Bench::new();
    let scripts =
        ["(sleep 0.1; kill -CONT $$) & kill -STOP $$", "kill -STOP $$", "sleep 300 & kill -STOP $!; wait"];
    for (script, who) in scripts.into_iter().zip([None, Some("sh"), Some("sleep 300")]) {
        let mut runner = start(&[sh(&bench, script)]).unwrap();
        let run = runner.run(0, &[], &NEVER);
        match who {
            None => assert!(run.unwrap().unwrap().status.success()),
            Some(who) => {
                let error = run.unwrap_err().to_string();
                assert!(error.contains(who) && error.contains("` was stopped, "), "{error}");
            }
        }
    }
}

#[test]
fn two_runs_at_once_overlap() {
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
    for program in ["no-such-program", "", "s\0h"] {
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
fn two_runs_at_once_are_where_they_were_told_and_each_has_its_own_time() {
    let bench = Bench::new();
    let other = bench.dir().join("other");
    std::fs::create_dir(&other).unwrap();
    let cores = available_cores();
    let (first, last) = (&cores[..1], &cores[cores.len() - 1..]);
    let script = |then| format!("pwd > log; grep Cpus_allowed_list /proc/self/status >> log; {then}");
    // The second goes on when the first has ended, and its end was seen.
    let after = "until [ -s ../pid ]; do sleep 0.01; done; read pid < ../pid; \
                 while [ -d /proc/$pid ]; do sleep 0.01; done; sleep 0.1";
    let job = Job { dir: other.clone(), ..sh(&bench, &script(after)) };
    let mut runner = start(&[sh(&bench, &script("echo $$ > pid; sleep 0.05")), job]).unwrap();
    // A machine may stand still between the end of the first and the look at the clock: not each time.
    eventually(|| {
        std::fs::write(bench.dir().join("pid"), "").unwrap();
        let began = Instant::now();
        let [short, long] = runner.run_both([0, 1], [first, last], &NEVER).unwrap().unwrap();
        let all = began.elapsed();
        assert!(short.wall >= Duration::from_millis(50) && long.wall >= Duration::from_millis(100));
        assert!(short.wall <= all && long.wall <= all, "{short:?} {long:?} in {all:?}");
        short.wall + Duration::from_millis(100) <= all
    });
    for (log, dir, core) in [("log", bench.dir(), first), ("other/log", &other, last)] {
        let dir = dir.canonicalize().unwrap();
        assert_eq!(bench.read(log), format!("{}\nCpus_allowed_list:\t{}\n", dir.display(), core[0]));
    }
    let runs = runner.run_both([0, 0], [first, &[1000]], &NEVER);
    assert!(matches!(runs, Err(Error::Cores { .. })), "{runs:?}");
    assert!(runner.run(0, &[], &NEVER).unwrap().unwrap().status.success());
}

#[test]
fn a_run_that_shares_a_core_gives_way() {
    let bench = Bench::new();
    // Each spins until it has seen itself give way so often, and as long as the other has not.
    let spin = |us: &str, them: &str| {
        let file = "\"/proc/self/status\"";
        format!(
            "touch begun-{us}; until [ -e begun-{them} ]; do sleep 0.01; done; \
             exec awk 'BEGIN {{ while (!enough || (getline x < \"{them}\") < 0) {{ for (i = 0; i < 10000; i++) {{}} \
                 while ((getline s < {file}) > 0) if (s ~ /^nonvol/) split(s, f); close({file}); \
                 if (!enough && f[2] >= 20) {{ enough = 1; print > \"{us}\"; close(\"{us}\") }} }} }}'"
        )
    };
    let mut runner = start(&[
        sh(&bench, &spin("one", "other")),
        sh(&bench, &spin("other", "one")),
        sh(&bench, "sleep 0.1"),
    ])
    .unwrap();
    let core = &available_cores()[..1];
    let runs = runner.run_both([0, 1], [core, core], &NEVER).unwrap().unwrap();
    for run in runs {
        assert!(run.involuntary_switches >= 20 && run.wall > run.user + run.system, "{run:?}");
    }
    let idle = runner.run(2, &[], &NEVER).unwrap().unwrap().involuntary_switches;
    let [one, other] = runs.map(|run| run.involuntary_switches);
    assert!(idle * 2 < one + other, "{idle} {one} {other}: each has its own only");
}

#[test]
fn a_fork_lowers_the_floor_and_changes_nothing_else() {
    let bench = Bench::new();
    let script = "pwd; echo $0 $GREETING; cut -d ' ' -f 1,5 /proc/self/stat; exit 3";
    let file = Output::File(bench.log());
    let mut runner = start(&[Job { output: file, ..sh(&bench, script) }, sh(&bench, "true")]).unwrap();
    let spawned = runner.run(0, &[], &NEVER).unwrap().unwrap();
    let lines = |text: String| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let by_spawn = lines(bench.read("log"));
    let forked = runner.run_forked(0, &[], &NEVER).unwrap().unwrap();
    let by_fork = lines(bench.read("log"));
    assert_eq!((spawned.status.code(), forked.status.code()), (Some(3), Some(3)));
    assert_eq!((&by_fork[..2], by_fork.len()), (&by_spawn[..2], 3));
    let nothing = runner.run(1, &[], &NEVER).unwrap().unwrap();
    assert!(nothing.peak_rss_is_floor && nothing.peak_rss_bytes == runner.rss_floor_bytes(), "{nothing:?}");
    let nothing = runner.run_forked(1, &[], &NEVER).unwrap().unwrap();
    assert!(!nothing.peak_rss_is_floor && nothing.peak_rss_bytes < runner.rss_floor_bytes(), "{nothing:?}");
}

#[test]
fn a_file_that_cannot_be_opened_is_named() {
    let bench = Bench::new();
    let nowhere = Path::new("/nowhere/at all").to_owned();
    let input = Job { stdin: Stdin::File(nowhere.clone()), ..sh(&bench, "true") };
    let output = Job { output: Output::File(nowhere), ..sh(&bench, "true") };
    let mut runner = start(&[input, output]).unwrap();
    let error = runner.run(0, &[], &NEVER).unwrap_err();
    assert!(error.to_string().starts_with("cannot read /nowhere/at all"), "{error}");
    let error = runner.run(1, &[], &NEVER).unwrap_err();
    assert!(error.to_string().starts_with("cannot write /nowhere/at all"), "{error}");
}

#[test]
fn a_program_is_looked_up_on_the_path_of_its_own() {
    let bench = Bench::new();
    let bin = bench.dir().join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink("/bin/sh", bin.join("its-own-shell")).unwrap();
    for path in [bin.to_str().unwrap(), "/nowhere:bin"] {
        let env = vec![("PATH".to_owned(), path.to_owned())];
        let job = Job { program: "its-own-shell".into(), env, ..sh(&bench, "exit 4") };
        let run = start(&[job]).unwrap().run(0, &[], &NEVER).unwrap().unwrap();
        assert_eq!(run.status.code(), Some(4));
    }
}

#[test]
fn a_directory_that_is_not_there_is_named() {
    let bench = Bench::new();
    let error = start(&[Job { dir: "/nowhere".into(), ..sh(&bench, "true") }]).unwrap_err();
    assert_eq!(error.to_string(), "cannot run in /nowhere: no such directory");
}

#[test]
fn a_runner_whose_owner_is_killed_leaves_no_process() {
    let bench = Bench::new();
    let mut owner = spawn_unmarked(std::process::Command::new(helper()).arg("run").arg(bench.dir())).unwrap();
    let members = ["root", "child", "helper"].map(|name| bench.pid(name));
    assert!(members.iter().all(|&pid| alive(pid)));
    owner.kill().unwrap();
    owner.wait().unwrap();
    eventually(|| !members.iter().any(|&pid| alive(pid)));
}

#[test]
fn a_process_that_a_run_leaves_behind_is_ended_and_counted() {
    let bench = Bench::new();
    let daemon = "setsid sh -c 'sh -c \"echo \\$\\$ > daemon; exec sleep 300\" & exit' & wait; \
                  until [ -s daemon ]; do sleep 0.01; done";
    let mut runner = start(&[sh(&bench, daemon), sh(&bench, "true")]).unwrap();
    let left = runner.run(0, &[], &NEVER).unwrap().unwrap();
    assert_eq!(left.left_behind, 1, "{left:?}");
    assert!(left.wall < LONG, "{left:?}");
    assert!(!alive(bench.pid("daemon")));
    assert_eq!(runner.run(1, &[], &NEVER).unwrap().unwrap().left_behind, 0);
}

#[test]
fn a_stop_in_the_middle_leaves_nothing() {
    let bench = Bench::new();
    let stop = AtomicBool::new(false);
    let mut runner =
        start(&[sh(&bench, "setsid sleep 300 & echo $! > child; echo $$ > root; wait")]).unwrap();
    let began = Instant::now();
    let run = thread::scope(|scope| {
        scope.spawn(|| {
            bench.pid("root");
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        runner.run(0, &[], &stop).unwrap()
    });
    assert!(run.is_none() && began.elapsed() < LONG);
    assert!(!alive(bench.pid("root")) && !alive(bench.pid("child")));
    assert!(matches!(runner.run(0, &[], &NEVER), Err(Error::Runner { .. })));
}

#[test]
fn a_run_that_takes_too_long_is_ended_and_named() {
    let bench = Bench::new();
    let mut runner = start(&[sh(&bench, "exec sleep 300")]).unwrap();
    runner.limit(Duration::from_millis(500));
    let error = runner.run(0, &[], &NEVER).unwrap_err();
    assert_eq!(error.to_string(), "`sh` did not end within 500ms and was stopped");
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
    let error = Runner::start(Path::new("/bin/true"), &["a\0b"], &[]).unwrap_err();
    assert!(error.to_string().contains("nul byte"), "{error}");
}
