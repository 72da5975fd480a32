//! The verdicts as one picture: a row for each claim, whose middle is the border of the claim, or equality if the
//! claim has two borders.

use kumite_record::{Bound, Claim, EffectKind, Export, NodeEffect, Run, SittingEffect, SittingSide, Verdict};
use minijinja::value::Serde;
use minijinja::{Environment, context};
use serde::Serialize;

use super::frame::Tick;
use super::tenth;
use crate::words::effect::EffectText;
use crate::words::sittings::stood;
use crate::words::text::one_line;
use crate::words::verdict::{key, nodes_said, symbol};

const TITLE_CHARS: usize = 44;
const SAID_CHARS: usize = 30;
const TITLE_LINES: usize = 5;
const LINE: f64 = 16.0;
const TOP: f64 = 14.0;
/// Half of the plot's width: the distance from the border in the middle to either end.
const HALF: f64 = 138.0;
/// The least factor from the border to either end of the plot, used where all effects are near their borders.
/// `MOST_SPAN` is the greatest: effects beyond it lie at the edge.
const LEAST_SPAN: f64 = 1.5;
const MOST_SPAN: f64 = 20.0;
const TICKS: [f64; 8] = [1.05, 1.1, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0];
/// The least distance between two ticks.
const TICK_ROOM: f64 = 30.0;

/// The forest of verdicts as geometry: lengths and places in pixels. Horizontal places count from the left end of the
/// plot.
#[derive(Debug, Serialize)]
pub struct Forest {
    width: f64,
    height: f64,
    bottom: f64,
    ticks: Vec<Tick>,
    rows: Vec<Row>,
    description: String,
    /// True if a row has a scale of its own.
    own_scale: bool,
    /// True if a row has dots for sittings.
    of_sittings: bool,
}

/// The row of a claim.
#[derive(Debug, Serialize)]
struct Row {
    /// The verdict's word in the style sheet.
    key: &'static str,
    symbol: char,
    title: String,
    /// The verdict, then its effect if there is one.
    head: String,
    /// The lines below the head, joined: the bound with what was claimed, the figures with their place, and the
    /// sittings that agree.
    bound: String,
    /// The title, broken into lines, at most `TITLE_LINES`. `said_lines` are all lines of the head and of what is
    /// below it.
    title_lines: Vec<Line>,
    said_lines: Vec<Line>,
    /// The number of lines at the beginning of `said_lines` that belong to the head.
    head_lines: usize,
    top: f64,
    bottom: f64,
    y: f64,
    /// The ends of the zone in which the claim holds; none if the effect has no place on an axis.
    zone: Option<(f64, f64)>,
    whisker: Option<(f64, f64)>,
    point: Option<f64>,
    nodes: Vec<NodeRow>,
    /// A dot for each sitting; empty if there are fewer than two, or if the effect has no place on an axis.
    sittings: Vec<SittingDot>,
    /// The 80 % interval of the next sitting's effect, cut off at the ends of the plot; none if there are fewer than
    /// two sittings or it is unknown.
    next: Option<(f64, f64)>,
}

#[derive(Debug, Serialize)]
struct SittingDot {
    /// The style sheet's word for the finding of the sitting: `so`, `not-so` or `open`.
    side: &'static str,
    at: f64,
}

/// The claim's effect on one node, in a row below the claim's.
#[derive(Debug, Serialize)]
struct NodeRow {
    name: String,
    said: String,
    contradicts: bool,
    y: f64,
    point: f64,
}

#[derive(Debug, Serialize)]
struct Line {
    y: f64,
    text: String,
}

/// The verdicts of a run as an SVG that stands alone: it has a light and a dark look, and needs no network.
pub fn forest_svg(export: &Export) -> String {
    let mut templates = Environment::new();
    // The ending of the name turns escaping on.
    let svg = templates.add_template("forest.xml", include_str!("../page/forest.svg"));
    let render =
        || templates.get_template("forest.xml")?.render(context! { forest => Serde(Forest::new(export)) });
    svg.and_then(|()| render()).expect("the template is part of the program and its tests render it")
}

impl Forest {
    pub fn new(export: &Export) -> Forest {
        let places: Vec<Option<Place>> = export.claims.iter().map(Place::new).collect();
        let far = places.iter().flatten().filter(|place| !place.own_scale).flat_map(Place::all);
        let span = far.map(f64::abs).fold(LEAST_SPAN.ln(), f64::max).min(MOST_SPAN.ln());
        let mut top = TOP;
        let mut rows = Vec::new();
        for (claim, place) in export.claims.iter().zip(&places) {
            let row = row(&export.run, claim, place.as_ref(), span, top);
            top = row.bottom;
            rows.push(row);
        }
        let texts: Vec<String> =
            rows.iter().map(|row| format!("{}: {} {}.", row.title, row.head, row.bound)).collect();
        Forest {
            width: 2.0 * HALF,
            height: top + 56.0,
            bottom: top,
            ticks: ticks(span),
            of_sittings: rows.iter().any(|row| !row.sittings.is_empty()),
            rows,
            description: texts.join(" "),
            own_scale: places.iter().flatten().any(|place| place.own_scale),
        }
    }
}

/// The place of a claim's effect on an axis: 0 is the claim's border, or equality if the claim has two borders;
/// positive values lie on the side where the claim holds. Ratios are placed by their logarithm.
struct Place {
    effect: f64,
    low: Option<f64>,
    high: Option<f64>,
    holds_from: f64,
    holds_to: f64,
    /// The place of the effect on each node; empty if the run had one node.
    nodes: Vec<f64>,
    /// The place of the effect in each sitting, in their order.
    sittings: Vec<f64>,
    next: Option<(f64, f64)>,
    /// True if the effect is a difference and no ratio, so that it shares no scale with other claims.
    own_scale: bool,
}

impl Place {
    fn new(claim: &Claim) -> Option<Place> {
        let effect = claim.effect.as_ref()?;
        let kind = effect.kind;
        let zone = claim.decided_by.as_ref()?.sides.as_ref()?.op.zone(kind)?;
        // An end on which the verdict does not rest is not drawn.
        let (low, high) = match effect.bound {
            Bound::AtLeast { low, .. } => (Some(low), None),
            Bound::AtMost { high, .. } => (None, Some(high)),
            Bound::Both { low, high, .. } => (Some(low), Some(high)),
            Bound::Exact | Bound::Unknown => (None, None),
        };
        let (is_flipped, at) = match (zone.from, zone.to) {
            (Some(_), Some(_)) => (false, 1.0),
            (Some(from), None) => (false, from),
            (None, Some(to)) => (true, to),
            (None, None) => return None,
        };
        let place = |value: f64| {
            let place = match kind {
                EffectKind::Ratio => (value / at).ln(),
                _ => value - at,
            };
            if is_flipped { -place } else { place }
        };
        let is_band = zone.from.is_some() && zone.to.is_some();
        let (low, high) = (low.map(place), high.map(place));
        let (low, high) = if is_flipped { (high, low) } else { (low, high) };
        Some(Place {
            effect: place(Some(effect.value).filter(|value| value.is_finite())?),
            low,
            high,
            holds_from: zone.from.filter(|_| is_band).map_or(0.0, place),
            holds_to: zone.to.filter(|_| is_band).map_or(f64::INFINITY, place),
            nodes: claim.nodes.iter().map(|node| place(node.effect)).collect(),
            sittings: claim.sittings.iter().map(|of| place(of.effect)).collect(),
            next: claim.next_sitting.map(|next| (place(next.low_80), place(next.high_80))),
            own_scale: kind != EffectKind::Ratio,
        })
    }

    fn all(&self) -> impl Iterator<Item = f64> {
        let own = [Some(self.effect), self.low, self.high].into_iter().flatten();
        own.chain(self.nodes.iter().chain(&self.sittings).copied()).filter(|value| value.is_finite())
    }
}

fn row(run: &Run, claim: &Claim, place: Option<&Place>, span: f64, top: f64) -> Row {
    let title = one_line(claim.title.as_deref().unwrap_or(&claim.assert));
    let mut title_lines = wrapped(&title, TITLE_CHARS);
    if title_lines.len() > TITLE_LINES {
        title_lines.truncate(TITLE_LINES);
        title_lines[TITLE_LINES - 1].push('…');
    }
    let effect = EffectText::new(run, claim);
    let verdict = claim.verdict.to_string();
    let head = effect.as_ref().map_or(verdict.clone(), |effect| format!("{verdict}: {}", effect.effect));
    let below = effect.map(|effect| effect.below()).unwrap_or_default();
    let below: Vec<String> = below.into_iter().chain(stood(claim)).collect();
    let head_texts = wrapped(&head, SAID_CHARS);
    let head_lines = head_texts.len();
    let said_lines: Vec<String> =
        head_texts.into_iter().chain(below.iter().flat_map(|line| wrapped(line, SAID_CHARS))).collect();
    let bound = below.join(", ");
    let lines = title_lines.len().max(said_lines.len()) as f64;
    let bottom = top + lines * LINE + 14.0;
    let y = (top + bottom) / 2.0;
    let of_nodes = claim.nodes.len() as f64 * LINE;
    let centred = |texts: Vec<String>| {
        let first = y - (texts.len() as f64 - 1.0) * LINE / 2.0 + 4.0;
        let line = |(nth, text)| Line { y: tenth(first + nth as f64 * LINE), text };
        texts.into_iter().enumerate().map(line).collect()
    };
    let x = |place: &Place, value: f64| {
        // On a scale of its own the farthest value lies three quarters of the way to an end.
        let span = match place.own_scale {
            true => place.all().map(f64::abs).fold(0.0, f64::max) / 0.75,
            false => span,
        };
        let share = if span > 0.0 { (value / span).clamp(-1.0, 1.0) } else { 0.0 };
        tenth(HALF * (1.0 + share))
    };
    let node = |place: &Place, nth: usize, (node, said): (&NodeEffect, String)| NodeRow {
        name: one_line(&node.node),
        said,
        contradicts: node.contradicts,
        y: tenth(bottom + (nth as f64 + 0.5) * LINE - 6.0),
        point: x(place, place.nodes[nth]),
    };
    let nodes = |place: &Place| {
        nodes_said(claim).into_iter().enumerate().map(|(nth, of)| node(place, nth, of)).collect()
    };
    let several = place.filter(|place| place.sittings.len() > 1);
    let sittings = |place: &Place| {
        let dot =
            |(of, at): (&SittingEffect, &f64)| SittingDot { side: side_key(of.side), at: x(place, *at) };
        claim.sittings.iter().zip(&place.sittings).map(dot).collect()
    };
    let whisker = |place: &Place| {
        let (low, high) = (place.low.unwrap_or(place.effect), place.high.unwrap_or(place.effect));
        (x(place, low), x(place, high))
    };
    Row {
        key: key(claim.verdict),
        symbol: symbol(claim.verdict),
        title,
        head,
        bound,
        title_lines: centred(title_lines),
        said_lines: centred(said_lines),
        head_lines,
        top: tenth(top),
        bottom: tenth(bottom + of_nodes),
        y: tenth(y),
        zone: place.map(|place| (x(place, place.holds_from), x(place, place.holds_to))),
        whisker: place.filter(|place| place.low.or(place.high).is_some()).map(whisker),
        point: place.map(|place| x(place, place.effect)).filter(|_| claim.verdict != Verdict::NotTested),
        nodes: place.map(nodes).unwrap_or_default(),
        sittings: several.map(sittings).unwrap_or_default(),
        next: several.and_then(|place| place.next.map(|(low, high)| (x(place, low), x(place, high)))),
    }
}

fn side_key(side: SittingSide) -> &'static str {
    match side {
        SittingSide::So => "so",
        SittingSide::NotSo => "not-so",
        SittingSide::Open => "open",
    }
}

fn wrapped(text: &str, width: usize) -> Vec<String> {
    textwrap::wrap(text, width)
        .into_iter()
        .map(|line| line.into_owned())
        .filter(|line| !line.is_empty())
        .collect()
}

/// The tick of the border in the middle, then a tick on either side for each factor of `TICKS` that has room. `span`
/// is the logarithm of the factor at the ends.
fn ticks(span: f64) -> Vec<Tick> {
    let mut ticks = vec![Tick { at: HALF, label: "border".to_owned() }];
    let mut last = HALF * 0.1;
    for factor in TICKS {
        let at = HALF * factor.ln() / span;
        if at - last >= TICK_ROOM && at <= HALF {
            last = at;
            let ends = [HALF - at, HALF + at];
            ticks.extend(ends.map(|at| Tick { at: tenth(at), label: format!("{factor}×") }));
        }
    }
    ticks
}

#[cfg(test)]
mod tests {
    use kumite_record::{Decider, Effect, NextSitting, Op, Side, Sides, Unit};

    use super::*;

    fn claim(value: f64, op: Op, bound: Bound) -> Claim {
        let expression = Side::Expression { value: None };
        let sides = Sides { left: expression.clone(), op, right: expression, unit: Unit::Count };
        Claim {
            verdict: Verdict::Holds,
            decided_by: Some(Decider { sides: Some(sides), ..Decider::default() }),
            effect: Some(Effect { value, kind: EffectKind::Ratio, bound }),
            ..Claim::default()
        }
    }

    #[test]
    fn what_holds_is_right_of_the_middle_whichever_way_the_claim_is_put() {
        let at_least = Place::new(&claim(2.0, Op::Greater, Bound::Unknown)).unwrap();
        let at_most = Place::new(&claim(0.5, Op::Less, Bound::Unknown)).unwrap();
        assert_eq!((at_least.effect, at_most.effect), (2f64.ln(), 2f64.ln()));
        assert!(Place::new(&claim(0.5, Op::GreaterOrEqual, Bound::Unknown)).unwrap().effect < 0.0);
    }

    #[test]
    fn a_bound_from_above_is_turned_with_its_claim() {
        let bound = Bound::AtMost { low: Some(0.4), high: 0.8, level: 0.9 };
        let place = Place::new(&claim(0.5, Op::LessOrEqual, bound)).unwrap();
        assert_eq!((place.low, place.high), (Some(-(0.8f64.ln())), None));
    }

    #[test]
    fn several_sittings_have_dots_on_their_side_of_the_border_and_one_has_none() {
        let mut of = claim(0.9, Op::Less, Bound::Unknown);
        let sitting = |effect, side| SittingEffect { effect, side, ..SittingEffect::default() };
        let next = NextSitting { low_80: 0.7, high_80: 50.0, low_95: 0.5, high_95: 60.0 };
        of.sittings = vec![sitting(0.8, SittingSide::So), sitting(1.25, SittingSide::NotSo)];
        of.next_sitting = Some(next);
        let row =
            |claim: &Claim| row(&Run::default(), claim, Place::new(claim).as_ref(), LEAST_SPAN.ln(), 0.0);
        let of_two = row(&of);
        let [so, not_so] = of_two.sittings.as_slice() else { panic!("{of_two:?}") };
        assert_eq!((so.side, not_so.side), ("so", "not-so"));
        // At equal factors to either side.
        assert!(so.at > HALF && (so.at + not_so.at - 2.0 * HALF).abs() < 0.11, "{of_two:?}");
        let (at_least, at_most) = of_two.next.unwrap();
        assert!(at_most == 0.0 && at_least > so.at, "it ends with the plot: {of_two:?}");
        of.sittings.truncate(1);
        assert!(row(&of).sittings.is_empty() && row(&of).next.is_none());
    }

    #[test]
    fn within_has_a_band_around_equality() {
        let place = Place::new(&claim(1.02, Op::Within(0.1), Bound::Unknown)).unwrap();
        assert!(place.holds_from < 0.0 && place.effect > 0.0 && place.effect < place.holds_to);
    }

    #[test]
    fn a_claim_without_an_effect_has_a_row_and_no_point() {
        let export_claim = Claim { verdict: Verdict::NotTested, title: Some("T".into()), ..Claim::default() };
        assert!(Place::new(&export_claim).is_none());
    }

    #[test]
    fn ticks_leave_room_for_their_labels() {
        for span in [1.5f64, 2.0, 20.0] {
            let mut at: Vec<f64> = ticks(span.ln()).iter().map(|tick| tick.at).collect();
            at.sort_by(f64::total_cmp);
            assert!(at.windows(2).all(|pair| pair[1] - pair[0] >= TICK_ROOM - 0.1), "{span}: {at:?}");
        }
    }
}
