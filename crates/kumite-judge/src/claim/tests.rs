//! Claims that are accepted, and wrong claims with their messages.

use super::*;

fn read(text: &str) -> Result<Claim, ClaimError> {
    let contenders = ["a", "b", "a-b"].map(str::to_owned).into();
    let ints = |values: &[i64]| values.iter().copied().map(AxisValue::Int).collect::<Vec<_>>();
    let axes = [
        ("connections".to_owned(), ints(&[1, 10, 1000])),
        ("rate_rps".to_owned(), ints(&[20, 40])),
        ("form".to_owned(), vec![AxisValue::Text("single".to_owned())]),
    ]
    .into();
    let workload = [
        ("connections".to_owned(), AxisValue::Int(10)),
        ("timeout_ms".to_owned(), AxisValue::Int(500)),
        ("students".to_owned(), AxisValue::Int(30)),
        ("fps".to_owned(), AxisValue::Float(59.94)),
        ("path".to_owned(), AxisValue::Text("/".to_owned())),
    ]
    .into();
    let units = [
        ("connections".to_owned(), Unit::Count),
        ("timeout_ms".to_owned(), Unit::Milliseconds),
        ("fps".to_owned(), Unit::PerSecond),
    ]
    .into();
    let metrics = [
        Metric::named("throughput_rps"),
        Metric::named("response_p50_us"),
        Metric::named("elapsed_ms"),
        Metric::named("peak_rss_bytes"),
        Metric::named("cpu_cores"),
        Metric::named("cpu_share"),
        Metric::count("failures", ""),
        Metric::named("efficiency"),
    ];
    let part_metrics = [Metric::named("goodput_rps"), Metric::named("response_p50_us")];
    let names = Names {
        contenders: &contenders,
        axes: &axes,
        fixed: &workload,
        units: &units,
        metrics: &metrics,
        within: Some("rate_rps"),
        part_metrics: &part_metrics,
    };
    Claim::new(text, &names)
}

const RIGHT: [&str; 26] = [
    "throughput_rps(a) > throughput_rps(b)",
    "throughput_rps(a) > 1,000 /s",
    "throughput_rps(a)>=1e3/s",
    "elapsed_ms(a) < 500 ms",
    "elapsed_ms(a) + 5 ms < 0.5 s",
    "response_p50_us(a) <= $timeout_ms",
    "response_p50_us(a) < elapsed_ms(b)",
    "peak_rss_bytes(a) < 64 MiB",
    "cpu_cores(a) <= 1.1 cores",
    "cpu_share(a) < 5 %",
    "cpu_share(a) within 5% of 128 / 1769",
    "failures(a) = 0",
    "failures(a) <= 0.01 * $connections",
    "efficiency(a) > 0.9",
    "elapsed_ms(a) / elapsed_ms(b) < 0.97",
    "elapsed_ms(a) >= 5 * elapsed_ms(b)",
    "elapsed_ms(a) within 10% of $students * 100 ms + $timeout_ms",
    "elapsed_ms(a) > $students / 600 / $fps",
    "throughput_rps(a) * elapsed_ms(a) > 1000",
    "peak_rss_bytes(a) / elapsed_ms(a) < 5 MB/s",
    "every $connections >= 10 and < 1,000: throughput_rps(a) > throughput_rps(b)",
    "every $rate_rps < 40 /s: goodput_rps(a) within 5% of goodput_rps(b)",
    "every contender except b: disqualified(contender)",
    "slope(elapsed_ms(a) over connections) within 10% of 1 and spread(elapsed_ms(a) over connections) < 1 %",
    "goodput_rps(a at rate_rps=20) >= 0.9 * max(goodput_rps(a) over rate_rps)",
    "elapsed_ms(a-b at form=single, connections=1) - elapsed_ms(a) > 0 ms",
];

#[test]
fn a_right_claim_is_read() {
    for text in RIGHT {
        if let Err(ClaimError { column, what }) = read(text) {
            panic!("{text}: column {column}: {what}");
        }
    }
}

/// Wrong claims, each with the column of its error and the message.
const WRONG: [(&str, usize, &str); 39] = [
    ("every $connections > 1000: failures(a) = 0", 22, "no value of $connections is so: it has 1, 10, 1000"),
    (
        "every $connections >= 11 and < 1,000: failures(a) = 0",
        23,
        "no value of $connections is so: it has 1, 10, 1000",
    ),
    ("every $form > 0: failures(a) = 0", 15, "no value of $form is so: it has single"),
    ("elapsed_ms(a) < 500", 17, "500 is a plain number, and it is compared with a time: write 500 ms"),
    ("500 > elapsed_ms(a)", 1, "500 is a plain number, and it is compared with a time: write 500 ms"),
    ("response_p50_us(a) < 500", 22, "500 is a plain number, and it is compared with a time: write 500 us"),
    (
        "response_p50_us(a) < 500 MB",
        22,
        "500 is a number of bytes, and it is compared with a time: write 500 us",
    ),
    ("throughput_rps(a) > 1000", 21, "1000 is a plain number, and it is compared with a rate: write 1000 /s"),
    ("throughput_rps(a) > 1 ms", 21, "1 is a time, and it is compared with a rate: write 1 /s"),
    (
        "peak_rss_bytes(a) < 64",
        21,
        "64 is a plain number, and it is compared with a number of bytes: write 64 B",
    ),
    (
        "cpu_cores(a) <= 1.1",
        17,
        "1.1 is a plain number, and it is compared with a number of cores: write 1.1 cores",
    ),
    ("failures(a) < 5 %", 15, "5 is a ratio, and it is compared with a count: leave out its unit"),
    ("failures(a) < 5 ms", 15, "5 is a time, and it is compared with a count: leave out its unit"),
    ("efficiency(a) < 5 ms", 17, "5 is a time, and it is compared with a plain number: leave out its unit"),
    ("elapsed_ms(a) + 5 ms + 1 < 3 s", 24, "1 is a plain number, and it is added with a time: write 1 ms"),
    ("elapsed_ms(a) - 1 < 3 s", 17, "1 is a plain number, and it is added with a time: write 1 ms"),
    (
        "max(elapsed_ms(a) over connections) < 3",
        39,
        "3 is a plain number, and it is compared with a time: write 3 ms",
    ),
    (
        "response_p50_us(a) < peak_rss_bytes(a)",
        20,
        "a time is compared with a number of bytes: both sides must be of one kind; a number gets a unit as in 500 ms, 64 MiB, \
         1,000 /s, 1.1 cores, 5 %",
    ),
    (
        "throughput_rps(a) < elapsed_ms(a)",
        19,
        "a rate is compared with a time: both sides must be of one kind; a number gets a unit as in 500 ms, 64 MiB, \
         1,000 /s, 1.1 cores, 5 %",
    ),
    (
        "elapsed_ms(a) + peak_rss_bytes(a) < 3 s",
        15,
        "a time is added with a number of bytes: both sides must be of one kind; a number gets a unit as in 500 ms, 64 MiB, \
         1,000 /s, 1.1 cores, 5 %",
    ),
    (
        "elapsed_ms(a) * elapsed_ms(b) < 2 * 3 s",
        31,
        "in s^2 is compared with a time: both sides must be of one kind; a number gets a unit as in 500 ms, 64 MiB, \
         1,000 /s, 1.1 cores, 5 %",
    ),
    (
        "elapsed_ms(a) > 1 s / $fps",
        15,
        "a time is compared with in s^2: both sides must be of one kind; a number gets a unit as in 500 ms, 64 MiB, \
         1,000 /s, 1.1 cores, 5 %",
    ),
    (
        "elapsed_ms(a) within 5% of $students",
        15,
        "a time is compared with a plain number: both sides must be of one kind; a number gets a unit as in 500 ms, \
         64 MiB, 1,000 /s, 1.1 cores, 5 %",
    ),
    (
        "every $rate_rps < 40: goodput_rps(a) > 1 /s",
        19,
        "40 is a plain number, and it is compared with a rate: write 40 /s",
    ),
    (
        "every $connections < 40 ms: failures(a) = 0",
        22,
        "40 is a time, and it is compared with a count: leave out its unit",
    ),
    ("1 < 2", 3, "nothing in it is measured: name a metric, as in throughput_rps(NAME)"),
    ("$students < 40", 11, "nothing in it is measured: name a metric, as in throughput_rps(NAME)"),
    (
        "joy(a) > 1",
        1,
        "no metric 'joy'; there are: throughput_rps, response_p50_us, elapsed_ms, peak_rss_bytes, cpu_cores, cpu_share, failures, \
         efficiency, goodput_rps",
    ),
    ("elapsed_ms(c) < 1 s", 12, "no contender 'c'; there are: a, a-b, b"),
    ("elapsed_ms < 1 s", 1, "'elapsed_ms' needs a contender, as in elapsed_ms(NAME)"),
    ("elapsed_ms(a at speed=1) < 1 s", 17, "no axis 'speed'; there are: connections, form, rate_rps"),
    ("elapsed_ms(a at connections=2) < 1 s", 17, "axis 'connections' has no value 2; it has 1, 10, 1000"),
    (
        "elapsed_ms(a at rate_rps=20) < 1 s",
        1,
        "'elapsed_ms' is of whole trials, and rate_rps changes within them",
    ),
    ("goodput_rps(a) > 1 /s", 1, "goodput_rps(a) needs 'at rate_rps=…'"),
    (
        "elapsed_ms(a) < $path",
        17,
        "no workload parameter '$path' that is a number; there are: connections, fps, students, timeout_ms",
    ),
    (
        "elapsed_ms(a) < 5 parsecs",
        17,
        "unknown unit 'parsecs' after 5; there are: %, ns, us, ms, s, min, B, kB, MB, GB, KiB, MiB, GiB, cores, /s",
    ),
    ("elapsed_ms(a) == 5 ms", 15, "write a single '=' for equal"),
    ("elapsed_ms(a) within 5 of 3 s", 22, "expected a percentage such as 5%, found '5'"),
    ("elapsed_ms(a) < 1 s and", 24, "expected a metric, a number or a $parameter, found the end"),
];

#[test]
fn a_wrong_claim_is_refused_with_column_and_remedy() {
    for (text, column, what) in WRONG {
        let found = read(text).expect_err(text);
        assert_eq!((found.column, found.what.as_str()), (column, what), "{text}");
    }
}
