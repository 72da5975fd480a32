//! Charts of the events within one job of a trial: time along x, a lane for each thread, a mark for each event.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use kumite_record::{JobEvent, Outcome, Point, Trial, Unit};
use serde::Serialize;

use crate::charts::frame::{Frame, Plot, ticks, time_from_zero};
use crate::charts::lanes::{Drawn, Lane, Marks, by_look};
use crate::charts::scale::Scale;
use crate::charts::{Budget, shortened, tenth};
use crate::kinds::chapter::PageChapter;
use crate::metric::Named;
use crate::record::Record;
use crate::tables::group::Groups;
use crate::tables::trials::telling_trials;
use crate::words::number::{count, plural};
use crate::words::quantity::Measured;
use crate::words::text::one_line;

/// The charts of a point: the events of a job in one trial of each contender.
#[derive(Debug, Serialize)]
struct Events {
    place: String,
    /// The metric, in words, by which the trials were chosen: each is its contender's median trial in this metric.
    by: String,
    charts: Vec<EventChart>,
}

/// The chart of the events of a job.
#[derive(Debug, Serialize)]
pub struct EventChart {
    /// The id of the chart, unique in its page.
    pub id: String,
    pub title: String,
    /// The reason why the trial does not count; none if it does.
    pub lost: Option<&'static str>,
    pub description: String,
    pub frame: Frame,
    /// The x at which the axis of the other charts ends; none unless this chart goes on longer.
    pub common_end: Option<f64>,
    /// The lanes of threads, those with `next` events first.
    pub lanes: Vec<Lane>,
    pub looks: Vec<Marks>,
    pub key: Vec<Key>,
    /// The sentence that says how many events were merged to how many marks; none if each event has a mark of its own.
    pub merged: Option<String>,
}

/// A mark and its name, below the chart.
#[derive(Debug, Serialize)]
pub struct Key {
    pub class: &'static str,
    pub path: String,
    pub x: f64,
    pub label: String,
}

/// The time axis of a chart, from 0 to `end_ns`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    pub end_ns: u64,
    /// The end of the other charts' axis; none if this chart shares it.
    pub others_end_ns: Option<u64>,
}

/// The plot without lanes: its bottom is set by their number, and the room at its right is for their counts.
const PLOT: Plot = Plot { width: 580.0, left: 170.0, right: 528.0, top: 22.0, bottom: 22.0 };
const KEY_HEIGHT: f64 = 24.0;
const MOST_LANES: usize = 16;
const LABEL_CHARS: usize = 21;
/// The height that the `next` events of all lanes share. A lane gets at least 8 of it for each family, so that many
/// lanes take more.
const ROOM: f64 = 240.0;
/// The distance below which `next` events are put one upon the other.
const PILE: f64 = 1.5;
/// The height of the part of a lane that is for other events than `next`.
const OTHERS: f64 = 13.0;
const GAP: f64 = 4.0;
/// The most characters of a name of a thread, a kind or an id in texts: a worker may send longer ones.
const WORD_CHARS: usize = 60;
/// The greatest number of different first words of ids that count as families.
const MOST_FAMILIES: usize = 3;

/// The kinds of events other than `next`, in the order of the key. Looks of `next` events come after these, so that
/// they are drawn over them.
const KINDS: [&str; 4] = ["tick", "subscribe", "complete", "other"];
const OTHER: usize = 3;
const NEXT: [&str; MOST_FAMILIES] = ["next-0", "next-1", "next-2"];
/// The diameters of marks of `next` events, by family.
const SIZES: [f64; MOST_FAMILIES] = [6.4, 4.2, 5.6];

/// The chapter on events for a page, with each point without a disturbance at which trials have events; none if no
/// trial has any.
pub fn page(record: &Record, groups: &Groups) -> Option<PageChapter> {
    let chosen = |(place, point)| {
        let (metric, trials) = telling_trials(record, point, has_events);
        (!trials.is_empty()).then(|| (place, metric.words(), trials))
    };
    let points = groups.calm().flat_map(|group| groups.points_of(group));
    let points: Vec<_> = points.filter_map(chosen).collect();
    let budget = Budget::new(points.iter().map(|(.., trials)| trials.len()).sum());
    let drawn = |(nth, (place, by, trials)): (usize, (String, String, Vec<&Trial>))| {
        let families = families(&trials);
        let charts = trials.iter().zip(axes(&trials)).enumerate();
        let charts = charts.map(|(of, (trial, axis))| {
            event_chart(format!("events-{nth}-{of}"), trial, axis, &families, budget)
        });
        Events { place, by, charts: charts.collect() }
    };
    let shown: Vec<Events> = points.into_iter().enumerate().map(drawn).collect();
    PageChapter::new("threads", "Events by thread", "threads.html", &shown)
}

/// The charts of a job's events at a point: one for each of `contenders` that has a trial with events, in the order of
/// `contenders`. Empty if none has such a trial.
pub fn event_charts(
    record: &Record,
    point: &Point,
    contenders: &[String],
    budget: Budget,
) -> Vec<EventChart> {
    let (_, all) = telling_trials(record, point, has_events);
    let of = |name: &String| all.iter().copied().find(|trial| trial.contender == *name);
    let trials: Vec<&Trial> = contenders.iter().filter_map(of).collect();
    let families = families(&trials);
    let charts = trials.iter().zip(axes(&trials)).enumerate();
    charts
        .map(|(nth, (trial, axis))| event_chart(format!("events-{nth}"), trial, axis, &families, budget))
        .collect()
}

fn has_events(trial: &Trial) -> bool {
    !trial.sample.events.is_empty()
}

/// The families of `next` events: the different first words of their ids, such as `student` and `score`. Empty if there
/// is only one such word, or more than three.
pub fn families(trials: &[&Trial]) -> Vec<String> {
    let mut known: Vec<String> = Vec::new();
    for JobEvent(.., id) in trials.iter().flat_map(|trial| &trial.sample.events).filter(is_next) {
        let word = first_word(id);
        if !known.iter().any(|other| other == word) {
            known.push(word.to_owned());
        }
        if known.len() > MOST_FAMILIES {
            return Vec::new();
        }
    }
    if known.len() > 1 { known } else { Vec::new() }
}

/// The time axis of each trial's chart. As many trials as possible whose ends lie within a factor of 1.5 share one
/// axis. Shorter trials share it, too, down to a quarter of its length. Each other trial has an axis of its own, since
/// little of a short trial would be seen on a long axis. Trials that do not count have no say in the choice, unless
/// none counts.
pub fn axes(trials: &[&Trial]) -> Vec<Axis> {
    let ends = |counting: bool| {
        let counts = move |trial: &&&Trial| !counting || trial.outcome == Outcome::Ok;
        trials.iter().filter(counts).map(|trial| end_ns(trial)).collect::<Vec<u64>>()
    };
    let right = Some(ends(true)).filter(|ends| !ends.is_empty()).unwrap_or_else(|| ends(false));
    let is_near = |end: u64, other: u64| other >= end && other.saturating_mul(2) <= end.saturating_mul(3);
    let within = |end: u64| right.iter().copied().filter(move |other| is_near(end, *other));
    let least = right.iter().copied().max_by_key(|end| (within(*end).count(), Reverse(*end)));
    let common = least.and_then(|end| within(end).max()).unwrap_or(1);
    let axis = |end: u64| match end >= common / 4 && end <= common {
        true => Axis { end_ns: common, others_end_ns: None },
        false => Axis { end_ns: end, others_end_ns: Some(common) },
    };
    ends(false).into_iter().map(axis).collect()
}

/// The chart of the events of a trial's job on `axis`. `next` events have one look for each of `families`, or one look
/// if it is empty. `budget` has the limits for the chart's marks.
pub fn event_chart(id: String, trial: &Trial, axis: Axis, families: &[String], budget: Budget) -> EventChart {
    let events = &trial.sample.events;
    let threads = threads(events);
    let x_scale = Scale::linear(0.0, axis.end_ns.max(1) as f64, PLOT.x());
    let shown = threads.len().min(MOST_LANES);
    let lane_of: BTreeMap<&str, usize> =
        threads.iter().enumerate().map(|(nth, thread)| (thread.name, nth.min(shown - 1))).collect();
    let mut spots: Vec<Spot> = events
        .iter()
        .map(|event| Spot {
            lane: lane_of.get(event.1.as_str()).copied().unwrap_or_default(),
            look: look(event, families),
            x: x_scale.at(event.0 as f64),
            level: 0,
            first: event,
            last_ns: event.0,
            events: 1,
        })
        .collect();
    spots.sort_by_key(|spot| spot.first.0);
    let mut spots = merged(spots, budget.marks);
    pile_up(&mut spots);
    let (lanes, rooms, bottom) = lanes(&threads, &spots);

    let is_told = spots.len() <= budget.told;
    let marks = spots.iter().map(|spot| Drawn {
        look: spot.look,
        several: false,
        path: outline(spot.look, spot.x, rooms[spot.lane].y(spot)),
        text: spot.text(),
    });
    let looks: BTreeSet<usize> = spots.iter().map(|spot| spot.look).collect();
    let end = Unit::Nanoseconds.text(end_ns(trial) as f64);
    let own = axis.others_end_ns.map_or("", |_| ", on a time axis of its own");
    EventChart {
        id,
        title: one_line(&format!("{}, block {}: {end}{own}", trial.contender, trial.block + 1)),
        lost: (trial.outcome != Outcome::Ok).then(|| trial.outcome.as_str()),
        description: one_line(&described(trial, &threads, &end)),
        frame: Plot { bottom, ..PLOT }
            .rows(ticks(&x_scale, time_from_zero(Unit::Nanoseconds)))
            .with_foot(KEY_HEIGHT),
        common_end: axis.others_end_ns.filter(|end| *end < axis.end_ns).map(|end| x_scale.at(end as f64)),
        lanes,
        key: key(looks.into_iter(), families),
        looks: by_look(marks, class, is_told),
        merged: (spots.len() < events.len()).then(|| {
            let marks = count(spots.len() as f64);
            format!("{} are drawn as {marks} marks", plural(events.len(), "event"))
        }),
    }
}

/// A thread, its numbers of events, and when the first one came.
struct Thread<'a> {
    name: &'a str,
    next: usize,
    events: usize,
    first_ns: u64,
}

/// The threads of events: those with `next` events first, then the others, either of them by their first event.
fn threads(events: &[JobEvent]) -> Vec<Thread<'_>> {
    let mut known: BTreeMap<&str, Thread> = BTreeMap::new();
    for event in events {
        let new = Thread { name: &event.1, next: 0, events: 0, first_ns: event.0 };
        let thread = known.entry(&event.1).or_insert(new);
        thread.events += 1;
        thread.next += usize::from(is_next(&event));
        thread.first_ns = thread.first_ns.min(event.0);
    }
    let mut threads: Vec<Thread> = known.into_values().collect();
    threads.sort_by_key(|thread| (thread.next == 0, thread.first_ns));
    threads
}

/// The places of marks in a lane: for each family of `next` events the lower end and the distance between marks of a
/// pile, and the middle of other events.
struct Room {
    bottoms: Vec<f64>,
    steps: Vec<f64>,
    others: f64,
}

impl Room {
    fn y(&self, spot: &Spot) -> f64 {
        tenth(match family(spot.look) {
            None => self.others,
            Some(family) => {
                self.bottoms[family] - SIZES[family] / 2.0 - spot.level as f64 * self.steps[family]
            }
        })
    }
}

/// The lanes from top to bottom, the places of marks in each, and the y at which the last lane ends.
fn lanes(threads: &[Thread], spots: &[Spot]) -> (Vec<Lane>, Vec<Room>, f64) {
    let whole = if threads.len() > MOST_LANES { MOST_LANES - 1 } else { threads.len() };
    let (own, rest) = threads.split_at(whole);
    let mut shown: Vec<(String, usize)> =
        own.iter().map(|thread| (label(thread.name), thread.next)).collect();
    if !rest.is_empty() {
        let next = rest.iter().map(|thread| thread.next).sum();
        shown.push((format!("and {} more threads", count(rest.len() as f64)), next));
    }
    // Lanes with `next` events have one height, for the highest pile of any of them, as far as there is room.
    let mut piles: BTreeMap<usize, BTreeMap<usize, usize>> = BTreeMap::new();
    for (spot, family) in spots.iter().filter_map(|spot| Some((spot, family(spot.look)?))) {
        let pile = piles.entry(family).or_default().entry(spot.lane).or_default();
        *pile = (*pile).max(spot.level + 1);
    }
    let with_next = shown.iter().filter(|(_, next)| *next > 0).count().max(1);
    let most = (ROOM / (with_next * piles.len().max(1)) as f64).clamp(8.0, 44.0);
    let mut tracks = [0.0; MOST_FAMILIES];
    for (family, lanes) in &piles {
        let highest = lanes.values().copied().max().unwrap_or(1) as f64;
        tracks[*family] = (highest * SIZES[*family] + 2.0).min(most).max(SIZES[*family] + 1.0);
    }
    // Where no thread has others than `next`, nothing is kept for them.
    let others = if spots.iter().all(|spot| family(spot.look).is_some()) { 0.0 } else { OTHERS };
    let (mut y, mut lanes, mut rooms) = (PLOT.top, Vec::new(), Vec::new());
    for (nth, (label, next)) in shown.into_iter().enumerate() {
        let mut bottom = y + GAP / 2.0;
        let mut room = Room { bottoms: Vec::new(), steps: Vec::new(), others: 0.0 };
        for (family, track) in tracks.iter().enumerate() {
            bottom += if next > 0 { *track } else { 0.0 };
            let pile = piles.get(&family).and_then(|lanes| lanes.get(&nth)).copied().unwrap_or(1);
            let size = SIZES[family];
            room.bottoms.push(bottom);
            room.steps.push(((track - size - 1.0) / pile.saturating_sub(1).max(1) as f64).clamp(0.0, size));
        }
        room.others = bottom + OTHERS / 2.0;
        let height = bottom - y + GAP / 2.0 + if next > 0 { others } else { OTHERS };
        lanes.push(Lane {
            label,
            y: tenth(y),
            height: tenth(height),
            class: if next > 0 { "strong" } else { "soft" },
            count: (next > 0).then(|| count(next as f64)),
        });
        rooms.push(room);
        y += height;
    }
    (lanes, rooms, tenth(y))
}

/// A mark for one event, or for several of one look that are near each other on a lane.
struct Spot<'a> {
    lane: usize,
    look: usize,
    x: f64,
    /// The number of marks below this one in its pile.
    level: usize,
    first: &'a JobEvent,
    last_ns: u64,
    events: usize,
}

impl Spot<'_> {
    fn text(&self) -> String {
        let JobEvent(ns, thread, kind, id) = self.first;
        let [thread, kind, id] = [thread, kind, id].map(|word| shortened(word, WORD_CHARS));
        match self.events {
            1 => format!("{}, {thread}: {kind} {id}", time(*ns)),
            n => format!(
                "{} to {}, {thread} first: {} {kind}, {id} first",
                time(*ns),
                time(self.last_ns),
                count(n as f64)
            ),
        }
    }
}

/// The spots unchanged if there are at most `most`. Otherwise those of one look and lane are merged within a width,
/// which is doubled until few enough are left.
fn merged(spots: Vec<Spot>, most: usize) -> Vec<Spot> {
    if spots.len() <= most {
        return spots;
    }
    let bin = |spot: &Spot, width: f64| (spot.lane, spot.look, ((spot.x - PLOT.left) / width) as usize);
    let mut width = 1.0;
    while width < PLOT.right - PLOT.left
        && spots.iter().map(|spot| bin(spot, width)).collect::<BTreeSet<_>>().len() > most
    {
        width *= 2.0;
    }
    let mut few: BTreeMap<(usize, usize, usize), Spot> = BTreeMap::new();
    for spot in spots {
        match few.get_mut(&bin(&spot, width)) {
            Some(known) => {
                known.events += 1;
                known.last_ns = spot.last_ns;
            }
            None => drop(few.insert(bin(&spot, width), spot)),
        }
    }
    let mut few: Vec<Spot> = few.into_values().collect();
    few.sort_by_key(|spot| spot.first.0);
    few
}

/// Puts `next` events of one family and lane that are at the same place one upon the other, in the order of time.
fn pile_up(spots: &mut [Spot]) {
    let mut piles: BTreeMap<(usize, usize), (f64, usize)> = BTreeMap::new();
    for spot in spots.iter_mut().filter(|spot| family(spot.look).is_some()) {
        let (x, height) = piles.entry((spot.lane, spot.look)).or_insert((spot.x, 0));
        if spot.x - *x >= PILE {
            (*x, *height) = (spot.x, 0);
        }
        spot.level = *height;
        *height += 1;
    }
}

/// The position of the event's kind in `KINDS`; for a `next` event, `KINDS.len()` plus the position of its family.
fn look(event: &JobEvent, families: &[String]) -> usize {
    if is_next(&event) {
        let word = first_word(&event.3);
        return KINDS.len() + families.iter().position(|family| family == word).unwrap_or(0);
    }
    KINDS.iter().position(|kind| *kind == event.2).unwrap_or(OTHER)
}

/// The family of a look of `next` events; none for another kind.
fn family(look: usize) -> Option<usize> {
    look.checked_sub(KINDS.len())
}

fn class(look: usize) -> &'static str {
    family(look).map_or(KINDS[look.min(OTHER)], |family| NEXT[family])
}

/// The SVG path of a mark around a point, as short as possible. Dots are the round ends of lines without length.
fn outline(look: usize, x: f64, y: f64) -> String {
    match class(look) {
        "tick" => format!("M{x},{}v11", tenth(y - 5.5)),
        // Beginnings are above, ends below: they often come at the same time.
        "subscribe" => format!("M{},{}l5,3l-5,3z", tenth(x - 1.7), tenth(y - 6.0)),
        "complete" => format!("M{},{}h4v4h-4z", tenth(x - 2.0), tenth(y + 1.5)),
        "other" => format!("M{},{}l6,6m0,-6l-6,6", tenth(x - 3.0), tenth(y - 3.0)),
        "next-2" => format!("M{},{y}l3,-3l3,3l-3,3z", tenth(x - 3.0)),
        _ => format!("M{x},{y}h.01"),
    }
}

fn key(looks: impl DoubleEndedIterator<Item = usize>, families: &[String]) -> Vec<Key> {
    let mut x = 8.0;
    let entry = |look: usize| {
        let label = match family(look) {
            Some(family) => match families.get(family).map(String::as_str) {
                Some("") => "next (other)".to_owned(),
                Some(word) => format!("next ({})", shortened(word, LABEL_CHARS)),
                None => "next".to_owned(),
            },
            None => KINDS[look].to_owned(),
        };
        let at = x;
        x += 28.0 + 6.4 * label.chars().count() as f64;
        let middle = match class(look) {
            "subscribe" => 3.0,
            "complete" => -3.5,
            _ => 0.0,
        };
        Key { class: class(look), path: outline(look, 0.0, middle), x: at, label }
    };
    let (others, next): (Vec<usize>, Vec<usize>) = looks.partition(|look| *look < KINDS.len());
    next.into_iter().chain(others).map(entry).collect()
}

/// The chart in words, for readers who do not see it: the kinds of events, and how many were on each thread.
fn described(trial: &Trial, threads: &[Thread], end: &str) -> String {
    let events = &trial.sample.events;
    let (with, without): (Vec<&Thread>, Vec<&Thread>) = threads.iter().partition(|thread| thread.next > 0);
    let next: usize = with.iter().map(|thread| thread.next).sum();
    let told = |threads: &[&Thread], what: fn(&Thread) -> usize| {
        let first = threads
            .iter()
            .take(MOST_LANES)
            .map(|t| format!("{} on {}", count(what(t) as f64), named(t.name)));
        let rest = threads.get(MOST_LANES..).unwrap_or_default();
        let more = (!rest.is_empty()).then(|| {
            let events: usize = rest.iter().map(|thread| what(thread)).sum();
            format!("{} on {}", count(events as f64), plural(rest.len(), "more thread"))
        });
        first.chain(more).collect::<Vec<_>>().join(", ")
    };
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    events.iter().for_each(|event| *kinds.entry(&event.2).or_default() += 1);
    let kinds: Vec<String> = kinds
        .iter()
        .take(8)
        .map(|(kind, n)| format!("{} {}", count(*n as f64), shortened(kind, WORD_CHARS)))
        .collect();
    let mut text = format!(
        "The events of a job of {}, the last after {end}, on {}: {}.",
        trial.contender,
        plural(threads.len(), "thread"),
        kinds.join(", ")
    );
    if next > 0 {
        text += &format!(" Of {} {}.", plural(next, "next event"), told(&with, |thread| thread.next));
    }
    if !without.is_empty() {
        text += &format!(" Of the others, on threads without next events: {}.", told(&without, |t| t.events));
    }
    text
}

fn is_next(event: &&JobEvent) -> bool {
    event.2 == "next"
}

fn first_word(id: &str) -> &str {
    id.split(|c: char| !c.is_alphabetic()).find(|word| !word.is_empty()).unwrap_or_default()
}

fn end_ns(trial: &Trial) -> u64 {
    trial.sample.events.iter().map(|event| event.0).max().unwrap_or(0)
}

fn time(ns: u64) -> String {
    Unit::Nanoseconds.as_given(ns as f64)
}

fn named(thread: &str) -> String {
    if thread.trim().is_empty() {
        return "a thread without a name".to_owned();
    }
    shortened(thread, WORD_CHARS)
}

/// The name of a thread, cut in its middle to `LABEL_CHARS`, since names differ at their ends.
fn label(name: &str) -> String {
    let name: Vec<char> = one_line(if name.trim().is_empty() { "no name" } else { name }).chars().collect();
    if name.len() <= LABEL_CHARS {
        return name.into_iter().collect();
    }
    let half = LABEL_CHARS / 2;
    let ends = name[..half - 1].iter().chain(&['…']).chain(&name[name.len() - half..]);
    ends.collect()
}
