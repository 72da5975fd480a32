//! Noise from outside while something is measured: its figures, and marks for the kinds that cast doubt on the
//! measurement.
//!
//! A [`Watch`] reads the kernel's counters twice. A kind of noise that the kernel does not count has no figure and no
//! mark.

mod clocks;
mod reading;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use kumite_process::Waited;
use kumite_record::Mark;

use crate::system::System;
pub use clocks::Clocks;
pub use reading::own_cpu;
use reading::{CgroupFiles, CpuTime, Reading};

/// The share of the watched CPUs' time that a hypervisor may take without a mark.
const STOLEN_LIMIT: f64 = 0.01;
/// The share of one CPU that other processes may take without a mark. All that a quiet machine does beside kumite
/// takes less than 1 % of one CPU.
const OTHERS_LIMIT: f64 = 0.02;
/// The time of a context switch that is neither idle nor any process's: 1.1 to 1.6 µs were measured on one machine.
const SWITCH: Duration = Duration::from_micros(2);
/// The difference in ms that may come from reading two clocks one after the other.
const READING_MS: f64 = 0.1;
const JUMP_LIMIT_MS: f64 = 1.0;
/// The largest correction of a clock's rate that is not marked, in parts per million. A client of NTP corrects by up to
/// this in normal operation.
const RATE_LIMIT_PPM: f64 = 500.0;
/// The error in seconds of a difference between two counters of a CPU.
const GRAIN: f64 = 0.01;
const FREQUENCY_LIMIT_PERCENT: f64 = 5.0;
/// The share of the time that a CPU must be busy for its change of frequency to count: one with less to do is slowed
/// down on purpose.
const BUSY_SHARE: f64 = 0.5;

/// A watch over the machine's noise while something is measured.
#[derive(Debug)]
pub struct Watch {
    system: System,
    groups: CgroupFiles,
    cpus: BTreeSet<usize>,
    before: Reading,
}

/// The contenders' part of the times that a watch counts. The watch measures the part of kumite's own process itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ours {
    /// The contenders' CPU time on the watched CPUs. `None` if it is not known: then other processes cannot be
    /// noticed.
    pub cpu: Option<Duration>,
    /// The switches and waits of the contenders' threads. `None` if they are not known.
    pub waited: Option<Waited>,
}

/// Noise from outside between two moments: its figures, and the marks for kinds that cast doubt.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Noise {
    /// The figures by name. The end of a name is its unit, as in `clock_jump_ms`; counts have none.
    pub figures: BTreeMap<String, f64>,
    /// A mark for each kind of noise that casts doubt on the figures.
    pub marks: Vec<Mark>,
}

impl Watch {
    /// Begins to watch now. `cpus` are the CPUs of the processes that are measured, and those of the process that
    /// measures; the others are not looked at.
    pub fn begin(cpus: &[usize]) -> Watch {
        static GROUPS: OnceLock<CgroupFiles> = OnceLock::new();
        let system = System::at(Path::new("/"));
        // Finding our cgroups takes longer than reading their files, and kumite does not move to others.
        let groups = GROUPS.get_or_init(|| CgroupFiles::find(&system)).clone();
        let cpus = cpus.iter().copied().collect();
        let before = Reading::take(&system, &groups, &cpus);
        Watch { system, groups, cpus, before }
    }

    /// The noise since this watch began; without figures and marks if no time has passed. `ours` is the contenders'
    /// part of the times, which is no noise. The watch goes on, and may be asked again.
    pub fn end(&self, ours: &Ours) -> Noise {
        noise(&self.before, &Reading::take(&self.system, &self.groups, &self.cpus), ours)
    }
}

/// Each kind of noise by name, with `true` if it can be noticed on these CPUs. `None` if the kernel does not count
/// their time.
pub(crate) fn noticed(system: &System, cpus: &[usize]) -> Option<[(&'static str, bool); 7]> {
    let reading = Reading::take(system, &CgroupFiles::find(system), &cpus.iter().copied().collect());
    let others = match reading.tasks {
        Some(_) => "other processes (exactly)",
        None => "other processes (at least)",
    };
    (!reading.cpus.is_empty()).then(|| {
        let every = |known: fn(&CpuTime) -> bool| reading.cpus.values().all(known);
        [
            ("clock jumps", true),
            ("stolen time", every(|cpu| cpu.stolen.is_some())),
            (others, true),
            ("heat", reading.thermal_throttles.is_some()),
            ("CPU limits of cgroups", reading.quota_throttles.is_some()),
            ("changes of frequency", every(|cpu| cpu.khz.is_some())),
            ("stops of kumite", system.exists("/proc/thread-self/schedstat")),
        ]
    })
}

fn noise(before: &Reading, after: &Reading, ours: &Ours) -> Noise {
    let mut noise = Noise::default();
    let seconds = after.clocks.monotonic.saturating_sub(before.clocks.monotonic).as_secs_f64();
    if seconds == 0.0 {
        return noise;
    }
    // Of a CPU that came or went nothing is known.
    if !before.cpus.is_empty() && before.cpus.keys().eq(after.cpus.keys()) {
        noise.stolen(before, after, seconds);
        noise.others(before, after, ours, seconds);
        noise.frequency(before, after, seconds);
    }
    noise.waited(ours, seconds);
    noise.clocks(before, after, seconds);
    noise.throttled(before, after);
    noise
}

impl Noise {
    /// Keeps a figure, rounded to four digits. No figure is more exact, and every trial keeps them all.
    fn figure(&mut self, name: &str, value: f64) {
        let kept = format!("{value:.3e}").parse().unwrap_or(value);
        self.figures.insert(name.to_owned(), kept);
    }

    fn mark(&mut self, mark: Mark, found: bool) {
        if found && !self.marks.contains(&mark) {
            self.marks.push(mark);
        }
    }

    fn stolen(&mut self, before: &Reading, after: &Reading, seconds: f64) {
        let total = |reading: &Reading| reading.cpus.values().map(|cpu| cpu.stolen).sum::<Option<Duration>>();
        if let (Some(before), Some(now)) = (total(before), total(after)) {
            let cpus = after.cpus.len() as f64;
            let stolen = now.saturating_sub(before).as_secs_f64();
            self.figure("stolen_cores", stolen / seconds);
            self.mark(Mark::Stolen, stolen - GRAIN * cpus > STOLEN_LIMIT * seconds * cpus);
        }
    }

    fn others(&mut self, before: &Reading, after: &Reading, ours: &Ours, seconds: f64) {
        let Some(contenders) = ours.cpu else { return };
        let cpus = after.cpus.len() as f64;
        let used = match (before.tasks, after.tasks) {
            (Some(before), Some(now)) => now.saturating_sub(before).as_secs_f64(),
            _ => {
                let unused = |reading: &Reading| {
                    let of = |cpu: &CpuTime| cpu.idle + cpu.interrupts + cpu.stolen.unwrap_or_default();
                    reading.cpus.values().map(of).sum::<Duration>()
                };
                let unused = unused(after).saturating_sub(unused(before)).as_secs_f64();
                let switches = after.switches.saturating_sub(before.switches) as f64;
                seconds * cpus - unused - switches * SWITCH.as_secs_f64()
            }
        };
        let own = after.own_cpu.saturating_sub(before.own_cpu);
        let others = used - (own + contenders).as_secs_f64();
        self.figure("others_cpu_cores", others.max(0.0) / seconds);
        self.mark(Mark::OtherProcesses, others - GRAIN * cpus > OTHERS_LIMIT * seconds);
    }

    /// Adds figures of how the contenders' threads waited for CPUs. They give no mark, because threads of a contender
    /// take CPUs from each other too.
    fn waited(&mut self, ours: &Ours, seconds: f64) {
        let Some(waited) = ours.waited else { return };
        self.figure("involuntary_switches_per_s", waited.involuntary_switches as f64 / seconds);
        if let Some(waited) = waited.for_cpu {
            self.figure("waited_for_cpu_cores", waited.as_secs_f64() / seconds);
        }
    }

    fn clocks(&mut self, before: &Reading, after: &Reading, seconds: f64) {
        let ms = |after: f64, before: f64| Some((after - before) * 1e3).filter(|ms| ms.abs() > READING_MS);
        let jump = ms(after.clocks.wall_ahead, before.clocks.wall_ahead).unwrap_or(0.0);
        let slewed = ms(after.clocks.slewed, before.clocks.slewed).unwrap_or(0.0);
        let ppm = slewed / seconds * 1e3;
        self.figure("clock_jump_ms", jump);
        self.figure("clock_rate_ppm", ppm);
        self.mark(Mark::ClockJumped, jump.abs() > JUMP_LIMIT_MS || ppm.abs() > RATE_LIMIT_PPM);
    }

    fn throttled(&mut self, before: &Reading, after: &Reading) {
        let counts = [
            ("thermal_throttles", before.thermal_throttles, after.thermal_throttles),
            ("quota_throttles", before.quota_throttles, after.quota_throttles),
        ];
        for (name, before, after) in counts {
            if let (Some(before), Some(after)) = (before, after) {
                let count = after.saturating_sub(before);
                self.figure(name, count as f64);
                self.mark(Mark::Throttled, count > 0);
            }
        }
    }

    fn frequency(&mut self, before: &Reading, after: &Reading, seconds: f64) {
        let changed = after.cpus.iter().filter_map(|(cpu, now)| {
            let then = before.cpus.get(cpu)?;
            let busy = 1.0 - now.idle.saturating_sub(then.idle).as_secs_f64() / seconds;
            let (now, then) = (now.khz?, then.khz?);
            (busy >= BUSY_SHARE).then_some((now / then - 1.0) * 100.0)
        });
        if let Some(most) = changed.max_by(|a, b| a.abs().total_cmp(&b.abs())) {
            self.figure("frequency_change_percent", most);
            self.mark(Mark::FrequencyChanged, most.abs() > FREQUENCY_LIMIT_PERCENT);
        }
    }
}

#[cfg(test)]
mod tests {
    use rustix::time::{ClockId, clock_gettime};

    use super::*;

    const V1: (&str, &str) = ("proc/self/cgroup", "3:cpu:/ours\n2:cpuacct:/ours\n");
    const MOUNTS: (&str, &str) =
        ("proc/self/mounts", "cgroup /cg/cpu cgroup rw,cpu 0 0\ncgroup /cg/cpuacct cgroup rw,cpuacct 0 0\n");
    const ROOT: (&str, &str) = ("cg/cpuacct/release_agent", "");
    const EXACT: &str = "cg/cpuacct/cpuacct.usage_percpu";
    const QUOTA: &str = "cg/cpu/ours/cpu.stat";

    /// A reading of CPUs 0 and 1 of three, so many seconds after another one.
    fn reading(seconds: f64, files: &[(&str, &str)]) -> Reading {
        let monotonic = Duration::from_secs_f64(1000.0 + seconds);
        let system = System::with(files);
        let groups = CgroupFiles::find(&system);
        Reading {
            clocks: clocks::Clocks { monotonic, ..Default::default() },
            own_cpu: Duration::ZERO,
            ..Reading::take(&system, &groups, &[0, 1].into())
        }
    }

    /// `/proc/stat` with idle, hard and soft interrupts and stolen ticks of CPUs 0 and 1, and the switches.
    fn stat(cpus: [[u64; 4]; 2], switches: u64) -> String {
        let line = |(cpu, [idle, hard, soft, stolen]): (usize, [u64; 4])| {
            format!("cpu{cpu} 50 0 50 {idle} 0 {hard} {soft} {stolen} 0 0\n")
        };
        let lines: String = cpus.into_iter().enumerate().map(line).collect();
        format!("cpu  1 2 3 4 5 6 7 8 0 0\n{lines}cpu2 0 0 0 0 0 0 0 0 0 0\nintr 1 2 3\nctxt {switches}\n")
    }

    fn used(seconds: f64) -> Ours {
        Ours { cpu: Some(Duration::from_secs_f64(seconds)), waited: None }
    }

    /// Of ten seconds, from the files with these texts to the files with those.
    fn of_ten_seconds(files: [&[(&str, &str)]; 2], ours: &Ours) -> Noise {
        noise(&reading(0.0, files[0]), &reading(10.0, files[1]), ours)
    }

    fn close(noise: &Noise, name: &str, expected: f64) {
        let found = noise.figures[name];
        assert!((found - expected).abs() < 1e-9, "{name} is {found}, not {expected}");
    }

    #[test]
    fn a_machine_that_tells_nothing_marks_nothing() {
        for nonsense in ["", "x y z\n", "cpu0\ncpu1 1 2\n", "cpu0 -1 -1 -1 -1 -1 -1 -1\nctxt x\n"] {
            let files = [("proc/stat", nonsense), V1, MOUNTS, ROOT, (EXACT, nonsense), (QUOTA, nonsense)];
            let noise = of_ten_seconds([&files, &files], &used(1.0));
            let names: Vec<&str> = noise.figures.keys().map(String::as_str).collect();
            assert_eq!(
                (names, noise.marks),
                (vec!["clock_jump_ms", "clock_rate_ppm"], Vec::new()),
                "{nonsense}"
            );
        }
        assert_eq!(noise(&reading(0.0, &[]), &reading(0.0, &[]), &used(1.0)), Noise::default(), "in no time");
    }

    #[test]
    fn stolen_time_is_marked_above_one_percent() {
        let of = |stolen: u64| {
            let (before, after) = (stat([[0; 4]; 2], 0), stat([[0, 0, 0, stolen], [0; 4]], 0));
            let files = [[("proc/stat", &*before)], [("proc/stat", &*after)]];
            of_ten_seconds([&files[0], &files[1]], &Ours::default())
        };
        // 1 % of 20 s are 20 ticks, and each of two CPUs may have one too many.
        close(&of(22), "stolen_cores", 0.022);
        assert_eq!((of(22).marks, of(23).marks), (Vec::new(), vec![Mark::Stolen]));
    }

    #[test]
    fn others_are_what_ran_less_what_was_ours() {
        let stat = stat([[0; 4]; 2], 0);
        let of = |nanoseconds: &str, ours: &Ours| {
            let files = |exact| [("proc/stat", &*stat), V1, MOUNTS, ROOT, (EXACT, exact)];
            of_ten_seconds([&files("5000000000 0 7\n"), &files(nanoseconds)], ours)
        };
        // 6 s on CPU 0, 5 s on CPU 1; 2 is not watched.
        let found = of("11000000000 5000000000 99000000000\n", &used(10.7));
        close(&found, "others_cpu_cores", 0.03);
        assert_eq!(found.marks, [Mark::OtherProcesses]);
        assert_eq!(of("11000000000 5000000000 0\n", &used(10.79)).marks, [], "2 %, and a tick of each CPU");
        close(&of("11000000000 5000000000 0\n", &used(12.0)), "others_cpu_cores", 0.0);
        assert!(!of("11000000000 5000000000 0\n", &Ours::default()).figures.contains_key("others_cpu_cores"));
        assert!(
            !of("11000000000\n", &used(1.0)).figures.contains_key("stolen"),
            "{:?}",
            of("1\n", &used(1.0))
        );
    }

    #[test]
    fn without_exact_times_others_are_what_was_neither_idle_nor_ours_nor_switching() {
        let of = |before: [[u64; 4]; 2], after: [[u64; 4]; 2], extra: &[(&str, &str)]| {
            let (before, after) = (stat(before, 0), stat(after, 100_000));
            let files = [&before, &after].map(|stat| [&[("proc/stat", &**stat)], extra].concat());
            let found = of_ten_seconds([&files[0], &files[1]], &used(8.0));
            (found.figures["others_cpu_cores"], found.marks)
        };
        // Of 20 s, 11.1 were idle, 0.2 stolen, 8 ours, and 0.2 went into 100,000 switches: 0.5 are left.
        let found = of([[0; 4]; 2], [[600, 0, 40, 20], [510, 0, 0, 0]], &[]);
        assert!((found.0 - 0.05).abs() < 1e-9, "{found:?}");
        assert_eq!(found.1, [Mark::OtherProcesses]);
        // A kernel that measures interrupts: 0.41 s of them are no process's time, and what is left is little.
        let found = of([[0, 1, 0, 0]; 2], [[600, 2, 40, 20], [510, 1, 0, 0]], &[]);
        assert!((found.0 - 0.009).abs() < 1e-9, "{found:?}");
        assert_eq!(found.1, []);
        // In a container the file is of its own processes only.
        let exact = (EXACT, "1 1 1\n");
        assert!(of([[0; 4]; 2], [[600, 0, 0, 0], [500, 0, 0, 0]], &[V1, MOUNTS, exact]).0 > 0.0);
        assert_eq!(of([[0; 4]; 2], [[600, 0, 0, 0], [500, 0, 0, 0]], &[V1, MOUNTS, exact, ROOT]).0, 0.0);
    }

    #[test]
    fn kumite_is_no_other_process() {
        let files = |exact| [V1, MOUNTS, ROOT, (EXACT, exact)];
        let stat = stat([[0; 4]; 2], 0);
        let read = |seconds, exact| reading(seconds, &[&files(exact)[..], &[("proc/stat", &*stat)]].concat());
        let (before, mut after) = (read(0.0, "0 0 0"), read(10.0, "3000000000 4000000000 0"));
        after.own_cpu = Duration::from_secs(4);
        close(&noise(&before, &after, &used(3.0)), "others_cpu_cores", 0.0);
    }

    #[test]
    fn a_cpu_that_went_offline_leaves_nothing_to_say() {
        let (both, one) = (stat([[0; 4]; 2], 0), "cpu0 0 0 0 0 0 0 0 9999\n");
        let found = of_ten_seconds([&[("proc/stat", &both)], &[("proc/stat", one)]], &used(1.0));
        assert!(!found.figures.contains_key("stolen_cores") && found.marks.is_empty(), "{found:?}");
    }

    #[test]
    fn clocks_that_part_are_marked() {
        let of = |seconds: f64, wall_ahead: f64, slewed: f64| {
            let mut after = reading(seconds, &[]);
            (after.clocks.wall_ahead, after.clocks.slewed) = (wall_ahead, slewed);
            noise(&reading(0.0, &[]), &after, &used(0.0))
        };
        assert_eq!(of(10.0, 0.000_09, 0.004_9).marks, []);
        close(&of(10.0, 0.000_09, 0.0), "clock_jump_ms", 0.0);
        for jump in [0.002, -3600.0] {
            assert_eq!(of(10.0, jump, 0.0).marks, [Mark::ClockJumped]);
            close(&of(10.0, jump, 0.0), "clock_jump_ms", jump * 1e3);
        }
        close(&of(10.0, 0.0, -0.006), "clock_rate_ppm", -600.0);
        assert_eq!(of(10.0, 0.0, -0.006).marks, [Mark::ClockJumped]);
        assert_eq!(of(0.1, 0.0, -0.000_06).marks, [], "reading the clocks makes that");
        assert_eq!(of(10.0, 5.0, 1.0).marks, [Mark::ClockJumped], "once");
    }

    #[test]
    fn heat_and_limits_throttle() {
        let core = "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count";
        let package = "sys/devices/system/cpu/cpu1/thermal_throttle/package_throttle_count";
        let of = |counts: [&str; 3]| {
            let quota = format!("nr_periods 100\nnr_throttled {}\nthrottled_time 5\n", counts[2]);
            reading(0.0, &[(core, counts[0]), (package, counts[1]), V1, MOUNTS, (QUOTA, &quota)])
        };
        let before = of(["5\n", "2\n", "7"]);
        let with = |counts| {
            let mut after = of(counts);
            after.clocks.monotonic += Duration::from_secs(1);
            noise(&before, &after, &used(0.0))
        };
        assert_eq!(with(["5", "2", "7"]).marks, []);
        for (counts, name, count) in [
            (["6", "2", "7"], "thermal_throttles", 1.0),
            (["5", "4", "7"], "thermal_throttles", 2.0),
            (["5", "2", "10"], "quota_throttles", 3.0),
        ] {
            let found = with(counts);
            assert_eq!(found.marks, [Mark::Throttled], "{counts:?}");
            close(&found, name, count);
        }
    }

    #[test]
    fn the_frequency_of_a_cpu_that_works_is_to_stand_still() {
        let file = |cpu| format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq");
        let of = |idle: u64, khz: [&str; 2]| {
            let stat = stat([[idle, 0, 0, 0], [2 * idle, 0, 0, 0]], 0);
            [("proc/stat".to_owned(), stat), (file(0), khz[0].to_owned()), (file(1), khz[1].to_owned())]
        };
        let run = |idle, khz| {
            let files = [of(0, ["2000000\n", "2000000\n"]), of(idle, khz)];
            let files = files.each_ref().map(|files| files.each_ref().map(|(file, text)| (&**file, &**text)));
            of_ten_seconds([&files[0], &files[1]], &Ours::default())
        };
        let slower = run(500, ["1880000\n", "800000\n"]);
        close(&slower, "frequency_change_percent", -6.0);
        assert_eq!(slower.marks, [Mark::FrequencyChanged]);
        assert_eq!(run(500, ["2080000\n", "800000\n"]).marks, [], "the other one was idle");
        let idle = run(501, ["1000000\n", "800000\n"]);
        assert!(!idle.figures.contains_key("frequency_change_percent") && idle.marks.is_empty());
    }

    #[test]
    fn waits_are_shown_and_mark_nothing() {
        let waited =
            Waited { involuntary_switches: 5000, switches: 9000, for_cpu: Some(Duration::from_secs(20)) };
        let found = of_ten_seconds([&[], &[]], &Ours { cpu: None, waited: Some(waited) });
        close(&found, "involuntary_switches_per_s", 500.0);
        close(&found, "waited_for_cpu_cores", 2.0);
        assert_eq!(found.marks, []);
    }

    #[test]
    fn a_watch_of_this_machine_knows_itself_from_others() {
        let cpus = kumite_process::available_cores();
        let before = std::time::Instant::now();
        let watch = Watch::begin(&cpus);
        let began = std::time::Instant::now();
        while began.elapsed() < Duration::from_millis(100) {}
        let watched = began.elapsed();
        let found = watch.end(&used(0.0));
        let others = found.figures["others_cpu_cores"];
        // No more than the CPUs had to give, also where the machine stands still between two counters.
        let all = before.elapsed().as_secs_f64() / watched.as_secs_f64();
        assert!((0.0..=(cpus.len() as f64 + 0.2) * all).contains(&others), "{found:?}");
    }

    #[test]
    #[ignore = "timing"]
    fn what_watching_costs() {
        let cpus = kumite_process::available_cores();
        let now = || {
            let time = clock_gettime(ClockId::ThreadCPUTime);
            Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
        };
        let mut took = [Duration::ZERO; 2];
        for _ in 0..1000 {
            let began = now();
            let watch = Watch::begin(&cpus);
            let between = now();
            assert!(!watch.end(&used(0.0)).figures.is_empty());
            took[0] += between - began;
            took[1] += now() - between;
        }
        println!("{} CPUs: begin {:?}, end {:?} of CPU time", cpus.len(), took[0] / 1000, took[1] / 1000);
    }
}
