//! Counters as metrics of commands: what the kernel counts on every machine, and what only some processors show.

use kumite_process::{Counter, NoCounters, try_counters};
use kumite_testing::{Capability, lacks, process};
use serde_json::Value;

use crate::place::{Place, Said};
use crate::printed::printed;

/// A place with `loops touch PAGES`; none where nothing may be counted.
fn loops() -> Option<Place> {
    if let Err(why) = try_counters(&[Counter::PageFaults]) {
        lacks(Capability::PerfEvents, why);
        return None;
    }
    let place = Place::new("", &[]);
    place.write("loops.c", include_str!("../../../../bench/compare/loops/loops.c"));
    let mut compiler = std::process::Command::new("cc");
    compiler.args(["-O1", "-pthread", "-o", "loops", "loops.c"]).current_dir(place.path("."));
    let made = process::output(&mut compiler).unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    Some(place)
}

fn compare(place: &Place, arguments: &[&str]) -> Said {
    place.kumite(&[&["compare"], arguments].concat())
}

/// The least count of a command's runs: one that had a page to fetch anew has more.
fn least(comparison: &Value, command: usize, metric: &str) -> u64 {
    let counts = comparison["commands"][command]["counters"][metric].as_array().unwrap();
    counts.iter().map(|count| count.as_u64().unwrap()).min().unwrap()
}

#[test]
fn what_a_command_and_all_its_descendants_count_is_a_metric_and_helpers_are_in_no_count() {
    let Some(place) = loops() else { return };
    for (command, times) in [
        ("./loops touch PAGES", 1),
        ("./loops touch PAGES > out; (./loops touch PAGES) | cat", 2),
        ("sh -c './loops touch PAGES & wait'", 1),
    ] {
        let of = |pages: &str| command.replace("PAGES", pages);
        let (few, many) = (of("1000"), of("3000"));
        let arguments = [&few, &many, "--metrics", "page_faults", "--runs", "10", "--json", "-"];
        let comparison = compare(&place, &arguments).ended(0).json();
        let [few, many] = [0, 1].map(|at| least(&comparison, at, "page_faults"));
        let more = many - few;
        assert!(more.abs_diff(times * 2_000) < 200, "{command}: {few} and {many}");
        // A count of kumite's helper would have its own pages, too.
        assert!(few < times * 1_000 + 1_000 * (times + 1), "{command}: {few}");
        let judged = &comparison["pairs"][0]["metrics"][0];
        assert_eq!((&judged["metric"], &judged["verdict"]), (&"page_faults".into(), &"more".into()));
    }
}

#[test]
fn two_at_once_are_counted_apart() {
    let Some(place) = loops() else { return };
    let arguments = [
        "./loops touch 1000",
        "./loops touch 3000",
        "--metrics",
        "page_faults",
        "--runs",
        "8",
        "--duet",
        "--json",
        "-",
    ];
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        return lacks(Capability::TwoCpus, "one CPU");
    }
    let comparison = compare(&place, &arguments).ended(0).json();
    let more = least(&comparison, 1, "page_faults") - least(&comparison, 0, "page_faults");
    assert!(more.abs_diff(2_000) < 200, "{more}");
}

#[test]
fn counters_of_the_processor_are_read_where_there_are_some_and_else_refused_with_the_reason() {
    let place = Place::new("", &[]);
    let arguments = ["true", "true", "--metrics", "instructions,cache_misses", "--runs", "8", "--json", "-"];
    match try_counters(&[Counter::Instructions, Counter::CacheMisses]) {
        Ok(()) => {
            let comparison = compare(&place, &arguments).ended(0).json();
            assert!(least(&comparison, 0, "instructions") > 1_000);
        }
        Err(NoCounters::Hidden) => printed!(compare(&place, &arguments).ended(2).notes()),
        Err(_) => assert_eq!(compare(&place, &arguments).code, 2),
    }
}
