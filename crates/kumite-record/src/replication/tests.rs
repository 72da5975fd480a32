use super::*;
use crate::{Decider, Digests, Op, Point, Service, Unit};

fn claim(verdict: Verdict, effect: f64, [low, high]: [f64; 2]) -> Claim {
    let metric = |contender: &str, value| Side::Metric {
        contender: contender.to_owned(),
        point: Point::default(),
        metric: "wall_ms".to_owned(),
        times: 1.0,
        value: Some(value),
    };
    let sides =
        Sides { left: metric("a", effect), op: Op::Less, right: metric("b", 1.0), unit: Unit::Seconds };
    Claim {
        id: "faster".to_owned(),
        assert: "wall_ms(a) < wall_ms(b)".to_owned(),
        verdict,
        decided_by: Some(Decider { sides: Some(sides), ..Decider::default() }),
        effect: Some(Effect {
            value: effect,
            kind: EffectKind::Ratio,
            bound: Bound::Both { low, high, level: 0.9 },
        }),
        ..Claim::default()
    }
}

fn pair(first: Option<Claim>, second: Option<Claim>) -> (PairOutcome, Option<Untold>, Option<Intervals>) {
    let ClaimPair { outcome, untold, intervals, .. } = ClaimPair::new("faster", [first, second]);
    (outcome, untold, intervals)
}

#[test]
fn verdicts_are_the_same_another_or_cannot_be_told() {
    use PairOutcome::{Another, CouldNotTell, Same};
    use Verdict::{DependsOnSitting, Fails, Holds, NoDifference, NotTested, Undecided};
    let of = |a, b| {
        let of = |verdict| Some(claim(verdict, 0.9, [0.8, 0.95]));
        let (outcome, untold, _) = pair(of(a), of(b));
        assert_eq!(untold.is_some(), outcome == CouldNotTell);
        outcome
    };
    for verdict in [Holds, Fails, NoDifference, DependsOnSitting] {
        assert_eq!(of(verdict, verdict), Same, "{verdict}");
        for nothing in [Undecided, NotTested] {
            assert_eq!([of(verdict, nothing), of(nothing, verdict)], [CouldNotTell; 2], "{verdict}");
        }
    }
    assert_eq!([of(Holds, Fails), of(Fails, Holds), of(Holds, NoDifference)], [Another; 3]);
    // In one of its sittings it may have been what the other run says.
    assert_eq!([of(DependsOnSitting, Holds), of(Fails, DependsOnSitting)], [CouldNotTell; 2]);
    assert_eq!([of(Undecided, Undecided), of(NotTested, NotTested)], [CouldNotTell; 2]);
}

#[test]
fn another_sentence_by_the_same_id_is_another_claim() {
    let first = claim(Verdict::Holds, 0.9, [0.8, 0.95]);
    let other = Claim { assert: "wall_ms(a) < 2 * wall_ms(b)".to_owned(), ..first.clone() };
    let (outcome, untold, _) = pair(Some(first.clone()), Some(other));
    assert_eq!((outcome, untold), (PairOutcome::CouldNotTell, Some(Untold::AskedOtherwise)));
    assert_eq!(pair(Some(first.clone()), None), (PairOutcome::CouldNotTell, Some(Untold::OnlyFirst), None));
    assert_eq!(pair(None, Some(first)), (PairOutcome::CouldNotTell, Some(Untold::OnlySecond), None));
}

#[test]
fn intervals_overlap_or_lie_apart_if_they_are_of_one_comparison() {
    let first = claim(Verdict::Holds, 0.9, [0.8, 0.95]);
    let with = |change: &dyn Fn(&mut Claim)| {
        let mut second = claim(Verdict::Holds, 0.97, [0.96, 0.99]);
        change(&mut second);
        pair(Some(first.clone()), Some(second)).2
    };
    assert_eq!(with(&|_| ()), Some(Intervals::Apart));
    let bound = |bound: Bound| with(&|claim| claim.effect.as_mut().unwrap().bound = bound);
    assert_eq!(bound(Bound::Both { low: 0.95, high: 0.99, level: 0.9 }), Some(Intervals::Overlap));
    assert_eq!(bound(Bound::AtMost { low: None, high: 0.7, level: 0.9 }), Some(Intervals::Apart));
    assert_eq!(bound(Bound::AtMost { low: None, high: 0.99, level: 0.9 }), Some(Intervals::Overlap));
    assert_eq!(bound(Bound::Unknown), None);
    assert_eq!(with(&|claim| claim.decided_by = None), None);
    let decider = |change: &dyn Fn(&mut Decider)| with(&|claim| change(claim.decided_by.as_mut().unwrap()));
    assert_eq!(decider(&|of| of.contender = Some("c".to_owned())), None, "another comparison decided");
    assert_eq!(decider(&|of| of.sides.as_mut().unwrap().right = Side::Number { value: 2.0 }), None);
}

fn contender(source: &str, tools: &str, status: ContenderStatus) -> Contender {
    Contender {
        name: "a".to_owned(),
        model: "threads".to_owned(),
        version: Some("a 1".to_owned()),
        digests: Some(Digests { source: source.to_owned(), tools: tools.to_owned() }),
        status,
        reason: (status != ContenderStatus::Ran).then(|| "needs go".to_owned()),
    }
}

fn between(first: (&Run, &Machine, &Contender), second: (&Run, &Machine, &Contender)) -> Vec<RunDifference> {
    let parts = |(run, machine, contender): (_, _, _)| RunParts {
        run,
        machine,
        contenders: std::slice::from_ref(contender),
        claims: &[],
    };
    Replication::new(["first", "second"], [parts(first), parts(second)], Vec::new()).differences
}

#[test]
fn all_that_differs_is_named_and_nothing_else() {
    let (run, machine, ran) = (Run::default(), Machine::default(), ContenderStatus::Ran);
    let one = (&run, &machine, &contender("s1", "t1", ran));
    let named = |of: Differing, values: [Option<&str>; 2]| RunDifference {
        of,
        values: values.map(|value| value.map(str::to_owned)),
    };
    assert_eq!(between(one, (&Run { id: "2".into(), seed: 9, ..run.clone() }, &machine, one.2)), []);
    let other = Run {
        measures: Some(4),
        kumite: "0.2".to_owned(),
        services: vec![Service { name: "db".into(), kind: "postgresql".into(), version: "16".into() }],
        ..run.clone()
    };
    let fast = Machine { cpus: 8, ..machine.clone() };
    let cpus = Differing::Machine { fact: "logical CPUs".to_owned() };
    let expected = [
        named(Differing::Measures, [None, Some("4")]),
        named(Differing::Kumite, [Some(""), Some("0.2")]),
        named(cpus, [Some("0"), Some("8")]),
        named(Differing::Source { contender: "a".into() }, [Some("s1"), Some("s2")]),
        named(Differing::Tools { contender: "a".into() }, [Some("t1"), Some("t2")]),
        named(Differing::Service { name: "db".into() }, [None, Some("postgresql 16")]),
    ];
    assert_eq!(between(one, (&other, &fast, &contender("s2", "t2", ran))), expected);
    let skipped = contender("s2", "t2", ContenderStatus::Skipped);
    let part = named(Differing::Part { contender: "a".into() }, [Some("ran"), Some("skipped: needs go")]);
    assert_eq!(between(one, (&run, &machine, &skipped)), [part]);
    assert_eq!(
        between((&run, &machine, &skipped), (&run, &machine, &contender("s3", "t3", skipped.status))),
        []
    );
}
