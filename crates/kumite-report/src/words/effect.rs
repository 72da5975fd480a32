//! The comparison that decided a claim, in words: both sides, their figures, the bound and the claim.

use kumite_record::{Bound, Claim, Effect, EffectKind, Op, Point, Run, Side, Sides, Unit, Verdict};

use crate::words::number::{digits_apart, significant};
use crate::words::quantity::{Measured, with_symbol};
use crate::words::text::one_line;

/// The effect of a claim in pieces of text. Each format takes as many of them as it has room for.
#[derive(Debug, Default, PartialEq)]
pub struct EffectText {
    /// The sides and the effect: `elixir-hedwig / node-botkit = 0.467 ×`
    pub effect: String,
    /// The bound of the effect, such as `at most 0.542 ×`; `no bound` if none is known. None if the effect is exact.
    pub bound: Option<String>,
    /// The confidence in the bound: `95 %`, or `alone, 90 %` for an undecided claim. None if the effect is exact, or
    /// no bound is known.
    level: Option<String>,
    /// The border that was claimed, such as `≥ 1 claimed`; none if the claim names no figure.
    claimed: Option<String>,
    /// The figures of both sides, such as `18,300 against 39,200 /s`; none if the effect is a figure itself.
    figures: Option<String>,
    /// The place, such as `at connections=50`; none if all values are defaults, or if the names of the sides say the
    /// place.
    place: Option<String>,
}

impl EffectText {
    /// The effect of a claim in pieces; none if nothing was measured.
    pub fn new(run: &Run, claim: &Claim) -> Option<EffectText> {
        let (effect, decider) = (claim.effect.as_ref()?, claim.decided_by.as_ref()?);
        let Some(sides) = &decider.sides else {
            return Some(EffectText {
                effect: format!("exactly {}", Unit::Count.text(effect.value)),
                place: at(run, &decider.point),
                ..EffectText::default()
            });
        };
        let shown = Scaled::new(sides, effect);
        let names = Names::new(shown.left, shown.right);
        let alone = if claim.verdict == Verdict::Undecided { "alone, " } else { "" };
        let level = effect.bound.level().map(|level| format!("{alone}{}", percent(level)));
        let place = match &names.place {
            Some(place) => at(run, place),
            None => {
                let contender = decider.contender.iter().map(|name| format!("contender {}", one_line(name)));
                let place: Vec<String> = contender.chain(at(run, &decider.point)).collect();
                (!place.is_empty()).then(|| place.join(" "))
            }
        };
        Some(EffectText {
            effect: shown.named(&names),
            bound: shown.bound(),
            level,
            claimed: shown.claimed(&names),
            figures: shown.figures(&names),
            place,
        })
    }

    /// The effect with its bound: `elixir-hedwig / node-botkit = 0.467 × (at most 0.542 ×)`
    pub fn short(&self) -> String {
        format!("{}{}", self.effect, in_brackets([self.bound.clone()]))
    }

    /// All pieces but the level of confidence, on one line.
    pub fn line(&self) -> String {
        let bracket = in_brackets([self.bound.clone(), self.claimed.clone()]);
        format!("{}{bracket}{}", self.effect, self.rest())
    }

    /// All pieces in a sentence, with the level of confidence in the brackets.
    pub fn sentence(&self) -> String {
        format!("{}{}{}", self.effect, in_brackets([self.sure_bound(), self.claimed.clone()]), self.rest())
    }

    /// The lines below the effect: first the bound and what was claimed, then the figures and the place.
    pub fn below(&self) -> Vec<String> {
        let bounds: Vec<String> = [self.sure_bound(), self.claimed.clone()].into_iter().flatten().collect();
        let figures: Vec<String> = [&self.figures, &self.place].into_iter().flatten().cloned().collect();
        [bounds.join("; "), figures.join(" ")].into_iter().filter(|line| !line.is_empty()).collect()
    }

    fn sure_bound(&self) -> Option<String> {
        match (&self.level, &self.bound) {
            (Some(level), Some(bound)) => Some(format!("{level}: {bound}")),
            (_, bound) => bound.clone(),
        }
    }

    fn rest(&self) -> String {
        let figures = self.figures.as_ref().map_or(String::new(), |figures| format!(", {figures}"));
        let place = self.place.as_ref().map_or(String::new(), |place| format!(" {place}"));
        figures + &place
    }
}

fn in_brackets<const N: usize>(parts: [Option<String>; N]) -> String {
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join("; ")) }
}

fn at(run: &Run, point: &Point) -> Option<String> {
    let place = run.place(point);
    (!place.is_empty()).then(|| format!("at {}", one_line(&place.to_string())))
}

/// The text of another effect of the comparison that decided a claim, in the unit of the claim's own effect: `1.20 ×`.
/// None if the claim has no effect or its decider no sides.
pub fn figure(claim: &Claim, effect: f64) -> Option<String> {
    let sides = claim.decided_by.as_ref()?.sides.as_ref()?;
    let shown = Scaled::new(sides, claim.effect.as_ref()?);
    Some(shown.with_unit(shown.figure(effect)))
}

/// The text of an interval of effects of the comparison that decided a claim, in the unit of the claim's own effect:
/// `0.90 to 1.10 ×`. None if the claim has no effect or its decider no sides.
pub fn interval(claim: &Claim, low: f64, high: f64) -> Option<String> {
    let sides = claim.decided_by.as_ref()?.sides.as_ref()?;
    Some(Scaled::new(sides, claim.effect.as_ref()?).interval(low, high))
}

/// The whole interval of an effect whose verdict rests on one end of it: `90 %: 1.28 to 1.60 ×`. None if the verdict
/// rests on both ends, or the other end is not known.
pub fn two_sided(claim: &Claim) -> Option<String> {
    let (effect, decider) = (claim.effect.as_ref()?, claim.decided_by.as_ref()?);
    let (low, high) = match effect.bound {
        Bound::AtLeast { low, high: Some(high), .. } | Bound::AtMost { low: Some(low), high, .. } => {
            (low, high)
        }
        _ => return None,
    };
    let shown = Scaled::new(decider.sides.as_ref()?, effect);
    Some(format!("{}: {}", percent(effect.bound.level()?), shown.interval(low, high)))
}

/// The effect of a comparison, as it is shown. If a multiple was compared by ratio, the effect of the metric itself
/// is shown; if one side is a number, a figure beside that number is shown.
struct Scaled<'a> {
    left: &'a Side,
    right: &'a Side,
    op: Op,
    effect: &'a Effect,
    /// True if the number stood on the left, so that the sides are exchanged here.
    is_turned: bool,
    /// The factor that an effect is multiplied with before `plus` is added.
    times: f64,
    plus: f64,
    /// The unit of the effect; none if it is a ratio to a side that is no number.
    unit: Option<Unit>,
    sides_unit: Unit,
    /// The number of digits that tell the shown figures apart. Figures are divided by `factor` and get `symbol`.
    digits: usize,
    factor: f64,
    symbol: String,
}

impl<'a> Scaled<'a> {
    fn new(sides: &'a Sides, effect: &'a Effect) -> Scaled<'a> {
        let (mut left, mut right) = (&sides.left, &sides.right);
        let is_number = |side: &Side| matches!(side, Side::Number { .. });
        let can_be_turned = !matches!(sides.op, Op::Within(_)) && effect.kind != EffectKind::Exact;
        let is_turned = is_number(left) && !is_number(right) && can_be_turned;
        if is_turned {
            (left, right) = (right, left);
        }
        let (times, plus, unit) = match (effect.kind, right) {
            (EffectKind::Exact, _) => (1.0, 0.0, Some(sides.unit)),
            (EffectKind::Ratio, Side::Number { value }) => (value / left.times(), 0.0, Some(sides.unit)),
            (EffectKind::Ratio, _) => (right.times() / left.times(), 0.0, None),
            (EffectKind::Difference, Side::Number { value }) => {
                (1.0 / left.times(), value / left.times(), Some(sides.unit))
            }
            (EffectKind::Difference, _) => (1.0, 0.0, Some(sides.unit)),
        };
        let op = if is_turned { turned(sides.op) } else { sides.op };
        let mut shown = Scaled {
            left,
            right,
            op,
            effect,
            is_turned,
            times,
            plus,
            unit,
            sides_unit: sides.unit,
            digits: 3,
            factor: 1.0,
            symbol: " ×".to_owned(),
        };
        // A bound that is not quite what was claimed must not look as if it were.
        let ends = [effect.bound.low(), effect.bound.high()].into_iter().flatten();
        let mut known: Vec<f64> = ends.chain([effect.value]).map(|value| shown.scaled(value)).collect();
        if let Some(unit) = unit {
            let largest = known.iter().map(|value| value.abs()).filter(|value| value.is_finite());
            let (factor, symbol) = unit.fitting(largest.fold(0.0, f64::max));
            (shown.factor, shown.symbol) = (factor, with_symbol(unit, symbol));
        }
        known.extend(shown.borders());
        shown.digits = digits_apart(&known);
        shown
    }

    /// An effect as it is shown, before it is divided by `factor`.
    fn scaled(&self, effect: f64) -> f64 {
        let effect = match (self.is_turned, self.effect.kind) {
            (false, _) => effect,
            (true, EffectKind::Ratio) => 1.0 / effect,
            (true, _) => -effect,
        };
        effect * self.times + self.plus
    }

    fn figure(&self, effect: f64) -> String {
        let value = self.scaled(effect) / self.factor;
        match self.unit {
            Some(unit) => unit.digits(value, self.digits),
            None => significant(value, self.digits),
        }
    }

    fn with_unit(&self, figure: String) -> String {
        format!("{figure}{}", self.symbol)
    }

    fn interval(&self, low: f64, high: f64) -> String {
        let (low, high) = if self.is_turned { (high, low) } else { (low, high) };
        self.with_unit(format!("{} to {}", self.figure(low), self.figure(high)))
    }

    /// The sides and the effect: `a / b = 1.43 ×`, `elapsed_ms of a = 120 ms`, `a − 2 × b = 3.00 ms`, `1.53`
    fn named(&self, Names { left, right, .. }: &Names) -> String {
        let value = self.with_unit(self.figure(self.effect.value));
        let multiple = |side: &Side, name: &str| match side.times() {
            1.0 => name.to_owned(),
            times => format!("{} × {name}", Unit::Number.at_most(times, 6)),
        };
        match (self.effect.kind, left) {
            (EffectKind::Exact, Some(left)) => format!("{} = exactly {value}", multiple(self.left, left)),
            (EffectKind::Exact, None) => format!("exactly {value}"),
            (_, Some(left)) if matches!(self.right, Side::Number { .. }) => format!("{left} = {value}"),
            (_, None) if matches!(self.right, Side::Number { .. }) => value,
            (kind, left) => {
                let name =
                    |name: &Option<String>, side: &Side| name.clone().unwrap_or_else(|| self.value_of(side));
                let (left, right) = (name(left, self.left), name(right, self.right));
                match kind {
                    EffectKind::Ratio => format!("{left} / {right} = {value}"),
                    _ => {
                        format!("{} − {} = {value}", multiple(self.left, &left), multiple(self.right, &right))
                    }
                }
            }
        }
    }

    fn bound(&self) -> Option<String> {
        let one = |words: [&str; 2], end: f64| {
            format!("{} {}", words[usize::from(self.is_turned)], self.with_unit(self.figure(end)))
        };
        match self.effect.bound {
            Bound::AtLeast { low, .. } => Some(one(["at least", "at most"], low)),
            Bound::AtMost { high, .. } => Some(one(["at most", "at least"], high)),
            Bound::Both { low, high, .. } => Some(self.interval(low, high)),
            Bound::Unknown => Some("no bound".to_owned()),
            Bound::Exact => None,
        }
    }

    /// The borders that were claimed, as they are shown: one, or two for a band.
    fn borders(&self) -> Vec<f64> {
        let zone = self.op.zone(self.effect.kind);
        let borders = zone.into_iter().flat_map(|zone| [zone.from, zone.to]);
        // Those of an op that is turned are the same: 1 or 0.
        borders.flatten().map(|border| border * self.times + self.plus).collect()
    }

    /// The border that was claimed: `≥ 1 claimed`, `0.900 to 1.10 claimed`. None if the claim names none.
    fn claimed(&self, names: &Names) -> Option<String> {
        let text = |value: f64| match self.unit {
            Some(_) if value == 0.0 => "0".to_owned(),
            Some(unit) => {
                let (_, symbol) = unit.fitting(value);
                let text = unit.at_most(value, 6);
                if symbol.is_empty() { text + &with_symbol(unit, "") } else { text }
            }
            None => Unit::Number.at_most(value, 6),
        };
        let sign = match self.op {
            Op::Less => "<",
            Op::LessOrEqual => "≤",
            Op::Greater => ">",
            Op::GreaterOrEqual => "≥",
            Op::Equal => "=",
            Op::Within(_) => "",
        };
        let what = match (self.effect.kind, self.right, &self.borders()[..]) {
            (EffectKind::Exact, Side::Number { value }, _) => text(*value),
            (EffectKind::Exact, right, _) => match &names.right {
                Some(name) => format!("that of {name}, {}", self.value_of(right)),
                None => self.value_of(right),
            },
            (_, _, [from, to]) => return Some(format!("{} to {} claimed", text(*from), text(*to))),
            (_, _, [border]) => text(*border),
            _ => return None,
        };
        Some(format!("{sign} {what} claimed"))
    }

    /// The figures of both sides: `18,300 against 39,200 /s`. None if one side is a number, the comparison is exact,
    /// a figure is missing, or the effect names both sides by their figures.
    fn figures(&self, names: &Names) -> Option<String> {
        let is_beside_a_number = matches!(self.right, Side::Number { .. });
        let is_said = names.left.is_none() && names.right.is_none();
        if is_beside_a_number || is_said || self.effect.kind == EffectKind::Exact {
            return None;
        }
        let (left, right) = (self.left.value()?, self.right.value()?);
        let (factor, symbol) = self.sides_unit.fitting(left.abs().max(right.abs()));
        let digits = digits_apart(&[left / factor, right / factor]);
        let show = |value: f64| self.sides_unit.digits(value / factor, digits);
        Some(format!("{} against {}{}", show(left), show(right), with_symbol(self.sides_unit, symbol)))
    }

    fn value_of(&self, side: &Side) -> String {
        side.value().map_or_else(
            || "what was not measured".to_owned(),
            |value| {
                let (_, symbol) = self.sides_unit.fitting(value);
                let more = if symbol.is_empty() { with_symbol(self.sides_unit, "") } else { String::new() };
                self.sides_unit.text(value) + &more
            },
        )
    }
}

fn turned(op: Op) -> Op {
    match op {
        Op::Less => Op::Greater,
        Op::LessOrEqual => Op::GreaterOrEqual,
        Op::Greater => Op::Less,
        Op::GreaterOrEqual => Op::LessOrEqual,
        Op::Equal | Op::Within(_) => op,
    }
}

/// The names of both sides, and the place that both were measured at.
struct Names {
    /// The name of the left side; none if it is a number or an expression.
    left: Option<String>,
    right: Option<String>,
    /// The point that both sides were measured at; none if the sides do not say it.
    place: Option<Point>,
}

impl Names {
    fn new(left: &Side, right: &Side) -> Names {
        match (left, right) {
            (
                Side::Metric { contender: a, point: at_a, metric: metric_a, .. },
                Side::Metric { contender: b, point: at_b, metric: metric_b, .. },
            ) => {
                let (shared, only_a) = shared(at_a, at_b);
                let (_, only_b) = self::shared(at_b, at_a);
                // An axis that differs is told, whatever its default is.
                let cell = |contender: &str, own: &Point| match own.is_empty() {
                    true => one_line(contender),
                    false => one_line(&format!("{contender} at {own}")),
                };
                let (a, b) = (cell(a, &only_a), cell(b, &only_b));
                let name = |metric: &str, cell: String| match metric_a == metric_b {
                    true => cell,
                    false => format!("{} of {cell}", one_line(metric)),
                };
                Names { left: Some(name(metric_a, a)), right: Some(name(metric_b, b)), place: Some(shared) }
            }
            (Side::Metric { contender, point, metric, .. }, other) => {
                let is_alone = matches!(other, Side::Number { .. });
                let name = if is_alone { format!("{metric} of {contender}") } else { contender.clone() };
                Names { left: Some(one_line(&name)), right: None, place: Some(point.clone()) }
            }
            (_, Side::Metric { contender, point, .. }) => {
                Names { left: None, right: Some(one_line(contender)), place: Some(point.clone()) }
            }
            _ => Names { left: None, right: None, place: None },
        }
    }
}

/// The part of a point that it shares with another, and the rest.
fn shared(of: &Point, other: &Point) -> (Point, Point) {
    let (shared, own) = of.0.clone().into_iter().partition(|(axis, value)| other.get(axis) == Some(value));
    (Point(shared), Point(own))
}

/// A share in percent, with at most two decimals: `95 %`, `99.17 %`.
fn percent(share: f64) -> String {
    format!("{} %", (share * 10_000.0).round() / 100.0)
}

#[cfg(test)]
mod tests {
    use kumite_record::{AxisValue, Decider};

    use super::*;

    fn point(pairs: &[(&str, i64)]) -> Point {
        Point(pairs.iter().map(|(axis, value)| ((*axis).to_owned(), AxisValue::Int(*value))).collect())
    }

    fn metric(contender: &str, at: &[(&str, i64)], times: f64, value: f64) -> Side {
        let (contender, metric) = (contender.to_owned(), "t_us".to_owned());
        Side::Metric { contender, point: point(at), metric, times, value: Some(value) }
    }

    fn number(value: f64) -> Side {
        Side::Number { value }
    }

    fn said(sides: (Side, Op, Side, Unit), kind: EffectKind, value: f64, bound: Bound) -> EffectText {
        let (left, op, right, unit) = sides;
        let decided_by = Decider {
            sides: Some(Sides { left, op, right, unit }),
            contender: Some("java".to_owned()),
            point: point(&[("n", 7)]),
            ..Decider::default()
        };
        let claim = Claim {
            verdict: Verdict::Fails,
            decided_by: Some(decided_by),
            effect: Some(Effect { value, kind, bound }),
            ..Claim::default()
        };
        let run = Run { workload: [("cores".to_owned(), AxisValue::Int(1))].into(), ..Run::default() };
        EffectText::new(&run, &claim).unwrap()
    }

    const AT_MOST: Bound = Bound::AtMost { low: Some(0.4), high: 0.542, level: 0.95 };

    #[test]
    fn both_sides_are_named_with_their_figures_and_what_they_share_is_the_place() {
        let at = [("connections", 50), ("cores", 1)];
        let (left, right) = (metric("hedwig", &at, 1.0, 18_300.0), metric("botkit", &at, 1.0, 39_200.0));
        let sides = (left, Op::GreaterOrEqual, right, Unit::PerSecond);
        let text = said(sides, EffectKind::Ratio, 0.4668, AT_MOST);
        assert_eq!(
            text.line(),
            "hedwig / botkit = 0.467 × (at most 0.542 ×; ≥ 1 claimed), 18,300 against 39,200 /s at connections=50"
        );
        assert_eq!(
            text.sentence(),
            "hedwig / botkit = 0.467 × (95 %: at most 0.542 ×; ≥ 1 claimed), 18,300 against 39,200 /s at connections=50"
        );
        assert_eq!(text.short(), "hedwig / botkit = 0.467 × (at most 0.542 ×)");
    }

    #[test]
    fn an_axis_that_differs_stays_with_its_side_and_so_does_a_metric() {
        let (left, right) =
            (metric("a", &[("n", 1), ("m", 2)], 1.0, 1.0), metric("a", &[("n", 9), ("m", 2)], 1.0, 2.0));
        let text = said((left, Op::Less, right, Unit::Count), EffectKind::Ratio, 0.5, Bound::Unknown);
        assert_eq!(text.line(), "a at n=1 / a at n=9 = 0.500 × (no bound; < 1 claimed), 1 against 2 at m=2");
        let other = Side::Metric {
            contender: "a".to_owned(),
            point: Point::default(),
            metric: "r_us".to_owned(),
            times: 1.0,
            value: None,
        };
        let text = said(
            (metric("a", &[], 1.0, 1.0), Op::Less, other, Unit::Count),
            EffectKind::Ratio,
            0.5,
            Bound::Unknown,
        );
        assert_eq!(text.short(), "t_us of a / r_us of a = 0.500 × (no bound)");
    }

    #[test]
    fn a_multiple_is_what_is_claimed_and_the_effect_is_of_the_metrics_themselves() {
        let (left, right) = (metric("a", &[], 1.0, 0.06), metric("b", &[], 5.0, 0.001));
        let bound = Bound::AtLeast { low: 7.2, high: Some(14.0), level: 0.95 };
        let text = said((left, Op::GreaterOrEqual, right, Unit::Seconds), EffectKind::Ratio, 12.0, bound);
        assert_eq!(text.line(), "a / b = 60.0 × (at least 36.0 ×; ≥ 5 claimed), 60.0 against 1.00 ms");
        let (left, right) = (metric("a", &[], 1.0, 1.0), metric("b", &[], 0.7, 1.5));
        let bound = Bound::Both { low: 0.98, high: 1.02, level: 0.9 };
        let text = said((left, Op::Within(0.1), right, Unit::Bytes), EffectKind::Ratio, 1.0, bound);
        assert_eq!(
            text.line(),
            "a / b = 0.700 × (0.686 to 0.714 ×; 0.63 to 0.77 claimed), 1.00 against 1.50 B"
        );
    }

    #[test]
    fn beside_a_number_the_effect_is_the_metrics_own_figure_whichever_side_that_is_on() {
        let sides = (metric("a", &[("n", 3)], 1.0, 0.2), Op::LessOrEqual, number(0.5), Unit::Seconds);
        let text = said(sides, EffectKind::Ratio, 0.4, AT_MOST);
        assert_eq!(text.line(), "t_us of a = 200 ms (at most 271 ms; ≤ 500 ms claimed) at n=3");
        let sides = (number(0.5), Op::GreaterOrEqual, metric("a", &[("n", 3)], 1.0, 0.2), Unit::Seconds);
        let bound = Bound::AtLeast { low: 2.0, high: None, level: 0.95 };
        let text = said(sides, EffectKind::Ratio, 2.5, bound);
        assert_eq!(text.line(), "t_us of a = 200 ms (at most 250 ms; ≤ 500 ms claimed) at n=3");
        let sides = (metric("a", &[], 1.0, 0.2), Op::Greater, number(-0.1), Unit::Seconds);
        let bound = Bound::AtLeast { low: 0.2, high: None, level: 0.95 };
        let text = said(sides, EffectKind::Difference, 0.3, bound);
        assert_eq!(text.line(), "t_us of a = 200 ms (at least 100 ms; > -100 ms claimed)");
    }

    #[test]
    fn a_side_that_was_worked_out_has_its_value_for_a_name() {
        let of_sum = Side::Expression { value: Some(0.01) };
        let sides = (of_sum.clone(), Op::Less, metric("b", &[("n", 2)], 1.0, 0.02), Unit::Seconds);
        let text = said(sides, EffectKind::Ratio, 0.5, AT_MOST);
        assert_eq!(
            text.line(),
            "10.0 ms / b = 0.500 × (at most 0.542 ×; < 1 claimed), 10.0 against 20.0 ms at n=2"
        );
        let text = said(
            (of_sum, Op::Greater, number(0.0), Unit::Number),
            EffectKind::Difference,
            0.01,
            Bound::Unknown,
        );
        assert_eq!(text.line(), "0.0100 (no bound; > 0 claimed) contender java at n=7");
    }

    #[test]
    fn a_difference_of_two_sides_keeps_their_multiples() {
        let sides = (metric("a", &[], 1.0, 0.0), Op::Greater, metric("b", &[], 2.0, 0.001), Unit::Seconds);
        let bound = Bound::AtMost { low: None, high: -0.001, level: 0.95 };
        let text = said(sides, EffectKind::Difference, -0.002, bound);
        assert_eq!(text.line(), "a − 2 × b = -2.00 ms (at most -1.00 ms; > 0 claimed), 0 against 1.00 ms");
    }

    #[test]
    fn an_exact_value_is_told_beside_what_it_was_to_be() {
        let sides = (metric("a", &[], 1.0, 3.5), Op::Equal, number(3.0), Unit::Seconds);
        assert_eq!(
            said(sides, EffectKind::Exact, 3.5, Bound::Exact).line(),
            "t_us of a = exactly 3.50 s (= 3 s claimed)"
        );
        let sides = (metric("a", &[], 1.0, 7.0), Op::Equal, metric("b", &[], 1.0, 9.0), Unit::Count);
        assert_eq!(
            said(sides, EffectKind::Exact, 7.0, Bound::Exact).line(),
            "a = exactly 7 (= that of b, 9 claimed)"
        );
    }
}
