//! The result of `kumite load` for a terminal, in Markdown and as a page. Doubts come before the figures.

use comfy_table::CellAlignment::{Left, Right};
use kumite_record::{AnswersChecked, IdleConnections, Latency, LoadResult, Unit};

use crate::by_request::by_request;
use crate::charts::rates::{Rates, seconds_of};
use crate::charts::{Timeline, tenth};
use crate::leaf::{Bar, Leaf, Table, leaf};
use crate::markdown::{escaped, table};
use crate::style::Style;
use crate::tables::grid::grid;
use crate::words::number::{count, plural, significant};
use crate::words::quantity::Measured;
use crate::words::steadiness::{needs, of_trial};
use crate::words::text::one_line;

/// The text that `kumite load` prints at its end: doubts, throughput, times, and the engine's own use.
pub fn load_terminal(result: &LoadResult, style: &Style) -> String {
    let style = *style;
    let mut out = String::new();
    for doubt in doubts(result) {
        out += &alarm(&doubt, style);
    }
    out += &style.wrap(&summary(result), 0);
    for line in counted(result) {
        out += &style.wrap(&line, 0);
    }
    match throughput(result) {
        Some(throughput) => out += &style.bold(&style.wrap(&throughput, 0)),
        None => out += &style.wrap(NOTHING_RIGHT, 0),
    }
    if let Some(response) = &result.response_us {
        if let Some(steady) = steady(result) {
            out += &style.wrap(&steady, 0);
        }
        out += &format!("\n{}", percentiles(result, response, style));
    }
    if let Some((heads, rows)) = by_request(result) {
        out += &format!("\n{}", grid_of(&heads, &rows, style));
    }
    if let Some(bars) = histogram(&result.histogram_us, style) {
        out += &format!("\n{bars}");
    }
    out += &format!("\n{}", style.wrap(&engine(result), 0));
    out + &style.wrap(&connections(result), 0)
}

/// One load in GitHub's Markdown: doubts, throughput, percentiles and notes.
pub fn load_markdown(result: &LoadResult) -> String {
    let mut out = String::new();
    for doubt in doubts(result) {
        out += &format!("> ⚠ {}\n\n", escaped(&doubt));
    }
    out += &format!("**{}**\n\n", escaped(throughput(result).as_deref().unwrap_or(NOTHING_RIGHT)));
    if let Some(response) = &result.response_us {
        out += &format!("{}\n", table(percentile_rows(result, response)));
    }
    if let Some(by_request) = by_request(result) {
        out += &format!("{}\n", table(by_request));
    }
    for note in notes(result) {
        out += &format!("- {}\n", escaped(&note));
    }
    out
}

/// One load as a self-contained page, with every doubt above the figures.
pub fn load_html(result: &LoadResult) -> String {
    let tables = result.response_us.iter().map(|response| percentile_rows(result, response));
    let tables = tables.chain(by_request(result)).map(Table::from_rows);
    let bars = bars(&result.histogram_us);
    let most = bars.iter().map(|(_, n)| *n).max().unwrap_or(0);
    let bar = |(end, n): &(f64, u64)| Bar {
        label: format!("≤ {}", Unit::Microseconds.text(*end)),
        number: count(*n as f64),
        percent: tenth(*n as f64 / most as f64 * 100.0),
    };
    leaf(&Leaf {
        title: "kumite load".to_owned(),
        alarms: doubts(result),
        sentences: vec![throughput(result).unwrap_or_else(|| NOTHING_RIGHT.to_owned())],
        tables: tables.collect(),
        bars: if most > 0 { bars.iter().map(bar).collect() } else { Vec::new() },
        series: series(result),
        notes: notes(result),
        command: result.command.clone(),
        ..Leaf::default()
    })
}

/// The chart of right answers and failures a second, with the moment from which on they were steady; none if there is
/// no series of answers.
fn series(result: &LoadResult) -> Option<Timeline> {
    let series = &result.series;
    let since_ms = result.steadiness.as_ref().and_then(|steadiness| steadiness.since_ms);
    let rates = Rates {
        series,
        disturbance: None,
        steady_ms: since_ms.filter(|since| *since > series.start_ms).map(|since| since as f64),
        color: 0,
    };
    let title = "Right answers a second as a line, failures as bars; dashed: steady from there";
    rates.chart("series".to_owned(), title, seconds_of(series))
}

/// The lines on the load that are neither doubts, nor the answer, nor a table.
fn notes(result: &LoadResult) -> Vec<String> {
    let mut notes = vec![summary(result)];
    notes.extend(counted(result));
    notes.extend(steady(result).filter(|_| result.response_us.is_some()));
    notes.extend([engine(result), connections(result)]);
    notes
}

const NOTHING_RIGHT: &str = "no request got a right answer, so there are no response times";

fn throughput(result: &LoadResult) -> Option<String> {
    (result.ok > 0).then(|| format!("throughput: {} req/s", significant(result.throughput_rps, 3)))
}

/// The lines on how many requests there were, what became of them, and the first failure.
fn counted(result: &LoadResult) -> Vec<String> {
    let errors = result.errors.iter().filter(|(_, n)| **n > 0);
    let errors: Vec<String> =
        errors.map(|(kind, n)| format!("{} {}", count(*n as f64), one_line(kind))).collect();
    let kinds = if errors.is_empty() { String::new() } else { format!(" ({})", errors.join(", ")) };
    let mut lines = vec![format!(
        "{}: {} ok, {} failed{kinds}",
        plural(result.requests as usize, "request"),
        count(result.ok as f64),
        count(result.requests.saturating_sub(result.ok) as f64)
    )];
    if result.unanswered > 0 {
        lines.push(format!(
            "{} more had no right answer when the load was over, and are in no count",
            count(result.unanswered as f64)
        ));
    }
    if result.unasked > 0 {
        lines.push(format!(
            "{} had one more answer after the end, which nobody had asked for: what was taken for the last one there may have \
             been such, too",
            plural(result.unasked as usize, "connection")
        ));
    }
    lines.extend(result.first_wrong.iter().map(|wrong| format!("first failure: {}", one_line(wrong))));
    lines.extend(result.answers_checked.iter().flat_map(answers_checked));
    lines
}

/// The lines on what a checker found.
fn answers_checked(checked: &AnswersChecked) -> Vec<String> {
    let looked = plural(checked.answers() as usize, "answer");
    let mut lines = vec![format!(
        "the checker `{}` looked at {looked}: {} wrong",
        one_line(&checked.checker),
        if checked.wrong() == 0 { "none".to_owned() } else { count(checked.wrong() as f64) }
    )];
    for request in checked.requests.iter().filter(|request| request.wrong > 0) {
        let all = count((request.right + request.wrong) as f64);
        let said = request.first_wrong.iter().map(|said| format!(": {}", one_line(said))).collect::<String>();
        lines.push(format!(
            "{} wrong of {all} to {}{said}",
            count(request.wrong as f64),
            one_line(&request.name)
        ));
    }
    lines.extend(
        checked.undecided.iter().map(|why| format!("the checker came to no finding on {}", one_line(why))),
    );
    lines
}

fn alarm(text: &str, style: Style) -> String {
    let color = anstyle::AnsiColor::Yellow.on_default().bold();
    style.paint(color, &style.wrap(text, 0))
}

fn summary(result: &LoadResult) -> String {
    let mut over = plural(result.connections as usize, "connection");
    if let Some(most) = result.requests_per_connection {
        over += &format!(" of {} each", plural(most as usize, "request"));
    }
    if let Some(idle) = &result.idle_connections {
        over += &format!(" beside {} idle", count(idle.asked as f64));
    }
    let offered = match result.rate_rps {
        Some(rate) if result.sessions.iter().any(|session| session.requests.len() > 1) => {
            format!("open loop at {} sessions/s over {over}", significant(rate, 3))
        }
        Some(rate) => format!("open loop at {}/s over {over}", significant(rate, 3)),
        None => format!("closed loop with {over}"),
    };
    format!("{}, {offered}, {}", one_line(&result.url), Unit::Seconds.text(result.seconds))
}

/// Doubts about the figures, which stand above all else.
fn doubts(result: &LoadResult) -> Vec<String> {
    let mut doubts = Vec::new();
    doubts.extend(result.void.as_ref().map(|void| format!("void: {void}, so measure again")));
    if result.engine.bound {
        doubts.push(
            "generator-bound: the load engine had no CPU headroom, so these figures say what the engine can do, not \
             what the server can"
                .to_owned(),
        );
    }
    if let Some(late) = result.engine.send_lag_p99_us.filter(|_| result.engine.late) {
        let late = Unit::Microseconds.text(late);
        doubts.push(format!(
            "late: the load engine sent one request in a hundred {late} late or more though a connection was free, so \
             these times are also its own"
        ));
    }
    if result.cut_short {
        doubts.push("cut short: it was ended before its limit".to_owned());
    }
    if let Some(unsent) = result.errors.get("unsent").filter(|unsent| **unsent > 0) {
        doubts.push(format!(
            "overloaded: {} were due and not sent, because no connection was free in time",
            plural(*unsent as usize, "request")
        ));
    }
    doubts
}

/// The sentence on the part of the time that figures are of; none if the load was not examined for it.
fn steady(result: &LoadResult) -> Option<String> {
    let steadiness = result.steadiness.as_ref()?;
    let found = format!("over time: {}", of_trial(steadiness, result.warm_up_ms));
    Some(match (steadiness.since_ms, steadiness.used_from_ms) {
        (None, _) => format!("{found}: it changed until too near the end, so that figures are of all of it"),
        (Some(_), 0) => found,
        (Some(_), _) => format!("{found}, and figures are from there"),
    })
}

fn percentiles(result: &LoadResult, response: &Latency, style: Style) -> String {
    let (heads, rows) = percentile_rows(result, response);
    grid_of(&heads, &rows, style)
}

fn grid_of(heads: &[(String, bool)], rows: &[Vec<String>], style: Style) -> String {
    let columns: Vec<_> =
        heads.iter().map(|(head, figures)| (head.as_str(), if *figures { Right } else { Left })).collect();
    grid(&columns, rows, style)
}

/// The table of percentiles: its heads, each with true if its column holds figures; then its rows.
fn percentile_rows(result: &LoadResult, response: &Latency) -> (Vec<(String, bool)>, Vec<Vec<String>>) {
    let us = Unit::Microseconds;
    let missing = |name: &str| {
        let missing = result.needs.get(&format!("response_{name}_us"));
        missing.map_or("–".to_owned(), |missing| needs(*missing))
    };
    let row = |name: &str, of: &Latency| -> Vec<String> {
        let percentiles = [("p50", of.p50), ("p90", of.p90), ("p99", of.p99), ("p99_9", of.p99_9)]
            .map(|(name, value)| value.map_or_else(|| missing(name), |value| us.text(value)));
        [vec![name.to_owned(), us.text(of.mean)], percentiles.into(), vec![us.text(of.max)]].concat()
    };
    // A row that is the one above says nothing.
    let other = |name: &str, of: Option<&Latency>| of.filter(|of| *of != response).map(|of| row(name, of));
    let mut rows = vec![row("response", response)];
    rows.extend(other("first byte", result.first_byte_us.as_ref()));
    rows.extend(other("service", result.service_us.as_ref()));
    let heads = ["", "mean", "p50", "p90", "p99", "p99.9", "max"];
    (heads.iter().map(|head| (head.to_string(), !head.is_empty())).collect(), rows)
}

const BARS: usize = 12;

/// Right answers by response time, in bars whose ends have equal ratios: the upper end of each in µs, and its number
/// of answers.
fn bars(bins: &[(f64, u64)]) -> Vec<(f64, u64)> {
    let known = || bins.iter().filter(|(end, n)| *n > 0 && end.is_finite() && *end > 0.0);
    let low = known().map(|(end, _)| *end).fold(f64::INFINITY, f64::min);
    let high = known().map(|(end, _)| *end).fold(0.0, f64::max);
    let bars = if high > low { BARS } else { 1 };
    let ratio = (high / low).powf(1.0 / bars as f64);
    let mut counts = vec![0_u64; bars];
    for (end, n) in known() {
        let place = if bars == 1 { 0.0 } else { ((end / low).ln() / ratio.ln()).ceil() - 1.0 };
        counts[(place.max(0.0) as usize).min(bars - 1)] += n;
    }
    (1..).map(|nth| low * ratio.powi(nth)).zip(counts).collect()
}

fn histogram(bins: &[(f64, u64)], style: Style) -> Option<String> {
    let bars = bars(bins);
    let most = bars.iter().map(|(_, n)| *n).max().filter(|most| *most > 0)?;
    let ends: Vec<String> = bars.iter().map(|(end, _)| Unit::Microseconds.text(*end)).collect();
    let numbers: Vec<String> = bars.iter().map(|(_, n)| count(*n as f64)).collect();
    let widest = |texts: &[String]| texts.iter().map(|text| text.chars().count()).max().unwrap_or(0);
    let (end_width, number_width) = (widest(&ends), widest(&numbers));
    let room = style.width.clamp(40, 80).saturating_sub(end_width + number_width + 6).max(8);
    let lines = ends.iter().zip(&numbers).zip(&bars).map(|((end, number), (_, n))| {
        let bar = bar(*n as f64 / most as f64 * room as f64, *n > 0);
        format!("≤ {end:>end_width$}  {number:>number_width$}  {bar}").trim_end().to_owned() + "\n"
    });
    Some(lines.collect())
}

/// A bar of `columns` characters, to an eighth of one. It is at least an eighth long if `some`.
fn bar(columns: f64, some: bool) -> String {
    let eighths = ((columns * 8.0).round() as usize).max(usize::from(some));
    let rest =
        [None, Some('▏'), Some('▎'), Some('▍'), Some('▌'), Some('▋'), Some('▊'), Some('▉')][eighths % 8];
    "█".repeat(eighths / 8) + &rest.map_or(String::new(), String::from)
}

fn engine(result: &LoadResult) -> String {
    let engine = &result.engine;
    let us = Unit::Microseconds;
    let real_time = if engine.real_time { ", real-time priority" } else { "" };
    let mut parts = vec![
        format!("{}{real_time}", engine.io),
        format!("busy {:.0} % of the time", engine.busiest * 100.0),
        format!("{} CPU in {}", Unit::Seconds.text(engine.cpu_s), Unit::Seconds.text(result.seconds)),
    ];
    parts.extend(engine.cpu_us_per_request.map(|value| format!("{} per request", us.text(value))));
    parts.extend(engine.send_lag_p99_us.map(|value| format!("send lag p99 {}", us.text(value))));
    parts
        .extend(engine.receive_lag_p99_us.map(|value| format!("receive lag p99 at most {}", us.text(value))));
    format!("load engine: {}", parts.join(", "))
}

fn connections(result: &LoadResult) -> String {
    let recovery = result.recovery_us.map(|us| {
        let time = Unit::Microseconds.text(us);
        match result.recovered {
            Some(false) => format!("; not steady again after failures, for at least {time}"),
            _ => format!("; steady again {time} after failures began, at the longest"),
        }
    });
    let idle = result.idle_connections.map(|IdleConnections { asked, open, ended }| {
        let [asked, open, ended] = [asked, open, ended].map(|n| count(n as f64));
        format!("; idle connections: {open} of {asked} open at the end, {ended} ended before")
    });
    let rest = recovery.unwrap_or_default() + &idle.unwrap_or_default();
    format!("reconnects: {}{rest}", count(result.reconnects as f64))
}
