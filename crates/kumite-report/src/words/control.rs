//! The control of a run or of a comparison in words: how far its two copies are from each other.

use kumite_record::{Comparison, Control, ControlRatio, Run};
use serde::Serialize;

use crate::words::number::{plural, significant};
use crate::words::text::one_line;

/// The sentence on a control, and whether it is an alarm.
#[derive(Debug, Serialize)]
pub struct ControlText {
    /// True if the control differs from itself by more than chance.
    pub is_off: bool,
    pub said: String,
}

impl ControlText {
    /// The sentence on a run's control; none if the run has no control or has not ended.
    pub fn new(run: &Run) -> Option<ControlText> {
        let control = run.control.as_ref().filter(|_| run.finished.is_some())?;
        let left = "an effect that this could carry over its border is undecided";
        Some(ControlText::said(control, left, &|of| place(run, of)))
    }

    /// The sentence on a comparison's control; none if the comparison has no control.
    pub fn of_comparison(comparison: &Comparison) -> Option<ControlText> {
        let left = "a ratio that is nearer to 1 is undecided";
        let control = comparison.control.as_ref()?;
        let metric = |of: &ControlRatio| match of.metric.as_str() {
            "time_wall_clock" => "wall time".to_owned(),
            other => one_line(other),
        };
        Some(ControlText::said(control, left, &metric))
    }

    fn said(control: &Control, left: &str, place: &dyn Fn(&ControlRatio) -> String) -> ControlText {
        let name = one_line(&control.contender);
        let furthest = control.off.iter().max_by(|a, b| a.distance().total_cmp(&b.distance()));
        let said = match (furthest, &control.itself) {
            (Some(of), _) => {
                let more = match control.off.len() - 1 {
                    0 => String::new(),
                    more => format!(", and differs in {} more", plural(more, "figure")),
                };
                format!(
                    "the control differs from itself: of two copies of {name} one is {}{more}; {left}",
                    ratio(of, place)
                )
            }
            (None, Some(of)) => format!("Control: of two copies of {name} one is {}.", ratio(of, place)),
            (None, None) => format!("Control: {name} has too few blocks to say how far it is from itself."),
        };
        ControlText { is_off: furthest.is_some(), said }
    }
}

/// The reason why a verdict is not given: the control is so far off that the effect may be on the other side of its
/// border.
pub fn cannot_tell(run: &Run, by: &ControlRatio) -> String {
    let percent = significant((by.distance().exp() - 1.0) * 100.0, 2);
    format!("cannot tell: the control differs from itself by {percent} % in {}", place(run, by))
}

fn ratio(of: &ControlRatio, place: &dyn Fn(&ControlRatio) -> String) -> String {
    let interval = of.ratio.low.zip(of.ratio.high);
    let interval = interval.map_or(String::new(), |(low, high)| format!("95 %: {low:.3}–{high:.3}; "));
    let blocks = plural(of.blocks, "block");
    format!("{:.3} × the other in {} ({interval}{blocks})", of.ratio.estimate, place(of))
}

fn place(run: &Run, ControlRatio { metric, point, .. }: &ControlRatio) -> String {
    let metric = one_line(metric);
    let point = point.as_ref().map(|point| run.place(point)).filter(|point| !point.is_empty());
    point.map_or_else(|| metric.clone(), |point| format!("{metric} at {}", one_line(&point.to_string())))
}
