//! The sentence on a claim that was judged at other values of parameters than its source had.

use kumite_record::{AxisValue, Claim, Run, Verdict};

use crate::words::number::count;
use crate::words::text::one_line;

/// The values of parameters at which a claim was judged, and those of its source: `at records = 2,000,000; the source
/// had 100,000,000`. None if there is no source, if the values are the same, or if the claim was not tested.
pub fn scale(run: &Run, claim: &Claim) -> Option<String> {
    let source = run.question.source.as_ref().filter(|_| claim.verdict != Verdict::NotTested)?;
    let known = claim.scale.iter().filter_map(|(name, ours)| Some((name, ours, source.workload.get(name)?)));
    let (mut here, mut there) = (Vec::new(), Vec::new());
    for (name, ours, theirs) in known {
        let ours: Vec<String> = ours.iter().map(value).collect();
        here.push(format!("{name} = {}", ours.join(" or ")));
        there.push((name, value(theirs)));
    }
    let there = match &there[..] {
        [] => return None,
        [(_, only)] => only.clone(),
        several => {
            several.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
        }
    };
    Some(one_line(&format!("at {}; the source had {there}", here.join(", "))))
}

fn value(value: &AxisValue) -> String {
    match value {
        AxisValue::Int(number) => count(*number as f64),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use kumite_record::{Question, Source};

    use super::*;

    #[test]
    fn one_parameter_is_named_once_and_several_on_both_sides() {
        let records = ("records".to_owned(), AxisValue::Int(100_000_000));
        let window = ("duration_s".to_owned(), AxisValue::Float(1.5));
        let source = |workload| Source { workload, ..Source::default() };
        let run = |workload| Run {
            question: Question { source: Some(source(workload)), ..Question::default() },
            ..Run::default()
        };
        let ours = [
            ("records".to_owned(), [100_000, 2_000_000].map(AxisValue::Int).to_vec()),
            ("duration_s".to_owned(), vec![AxisValue::Int(2)]),
        ];
        let claim = Claim { verdict: Verdict::Holds, scale: ours.into(), ..Claim::default() };
        let one = scale(&run([records.clone()].into()), &claim);
        assert_eq!(one.as_deref(), Some("at records = 100,000 or 2,000,000; the source had 100,000,000"));
        let two = scale(&run([records.clone(), window].into()), &claim);
        assert_eq!(
            two.as_deref(),
            Some(
                "at duration_s = 2, records = 100,000 or 2,000,000; the source had duration_s = 1.5, records = 100,000,000"
            )
        );
        let untested = Claim { verdict: Verdict::NotTested, ..claim };
        assert_eq!(scale(&run([records].into()), &untested), None);
        assert_eq!(scale(&Run::default(), &untested), None);
    }
}
