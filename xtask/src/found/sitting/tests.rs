//! Sittings of a tiny experiment, measured by nothing: the trials are made up.

use std::cell::RefCell;

use anyhow::{Result, anyhow};
use kumite_record::{
    Contender, Kind as RunKind, Machine, Metric, Point, Question, Run, SCHEMA, Sample, Sitting, Trial,
    Verdict,
};

use super::*;

const SPEC: &str = r#"
question = "Which is faster?"
kind = "command"
blocks = 10
[profiles.standard]
[profiles.everyone]
claims = []
[[claim]]
id = "a-first"
assert = "wall_ms(a) < wall_ms(b)"
"#;

/// A checkout with the experiment.
struct Checkout(tempfile::TempDir);

impl Checkout {
    fn new() -> Checkout {
        let of = Checkout(tempfile::tempdir().unwrap());
        std::fs::create_dir_all(of.folder()).unwrap();
        of.specify(SPEC);
        of
    }

    fn folder(&self) -> PathBuf {
        self.0.path().join("experiments/tiny")
    }

    fn specify(&self, text: &str) {
        std::fs::write(self.folder().join("experiment.toml"), text).unwrap();
    }

    fn experiment(&self) -> Experiment<'_> {
        Experiment::at(self.0.path(), "tiny").unwrap()
    }

    fn sit(&self, measure: &dyn Fn(&Entry) -> Result<Export>) -> Result<()> {
        self.experiment().sit(Entry { seed: 7, ..Entry::default() }, measure)
    }

    fn log(&self) -> Log {
        self.experiment().read_log().unwrap()
    }

    fn record(&self) -> Export {
        Export::read(&self.folder().join(RECORD)).unwrap()
    }
}

/// A complete sitting on a day. In its ten rounds "a" takes this share of the time that "b" takes.
pub fn measured(day: i64, ratio: f64) -> Export {
    let started = Timestamp::from_second(day * 24 * 3600).unwrap();
    let finished = Timestamp::from_second(day * 24 * 3600 + 1170).unwrap();
    let contender =
        |name: &str| Contender { name: name.to_owned(), model: "threads".to_owned(), ..Contender::default() };
    let id = format!("day-{day}");
    let machine = Some("boot".to_owned());
    let sitting = Sitting { run: id.clone(), started, rounds: 10, machine, ..Sitting::default() };
    let run = Run {
        id,
        experiment: "tiny".to_owned(),
        profile: PROFILE.to_owned(),
        kind: RunKind::from("command"),
        measures: Some(MEASURES),
        started,
        finished: Some(finished),
        blocks: 10,
        points: vec![Point::default()],
        metrics: vec![Metric::named("wall_ms")],
        question: Question { text: "Which is faster?".to_owned(), source: None },
        spec: SPEC.to_owned(),
        sittings: vec![sitting],
        ..Run::default()
    };
    let trial = |seq: u32, contender: &str, value: f64| Trial {
        seq,
        block: seq / 2,
        contender: contender.to_owned(),
        started,
        sample: Sample { metrics: [("wall_ms".to_owned(), value)].into(), ..Sample::default() },
        ..Trial::default()
    };
    let of_round = |block: u32| [trial(2 * block, "a", 10.0 * ratio), trial(2 * block + 1, "b", 10.0)];
    let all = Export {
        schema: SCHEMA,
        run,
        machine: Machine::default(),
        contenders: ["a", "b"].map(contender).into(),
        cells: Vec::new(),
        parts: Vec::new(),
        claims: Vec::new(),
        checks: Vec::new(),
        gate: None,
        warnings: Vec::new(),
        trials: (0..10).flat_map(of_round).collect(),
    };
    rejudge(&all).unwrap()
}

#[test]
fn three_complete_sittings_are_judged_together_and_a_fourth_is_kept_and_not_used() {
    let checkout = Checkout::new();
    for day in 0..3 {
        assert!(!checkout.folder().join(RECORD).exists(), "of fewer than three there is none");
        checkout.sit(&|_| Ok(measured(day, 0.8))).unwrap();
    }
    let of_three = checkout.record();
    assert_eq!((of_three.run.sittings.len(), of_three.trials.len()), (3, 60));
    assert_eq!((of_three.claims[0].verdict, of_three.claims[0].sittings.len()), (Verdict::Holds, 3));
    assert!(rejudge(&of_three).unwrap() == of_three, "it can be judged anew");
    checkout.sit(&|_| Ok(measured(3, 1.2))).unwrap();
    assert!(checkout.record() == of_three);
    let log = checkout.log();
    let files: Vec<_> = log.sittings.iter().filter_map(|of| of.file.as_deref()).collect();
    assert_eq!(files, ["sitting-1.json.gz", "sitting-2.json.gz", "sitting-3.json.gz", "sitting-4.json.gz"]);
    let last = &log.sittings[3];
    assert_eq!((last.complete, last.trials, last.minutes, last.seed), (true, Some(20), Some(19.5), 7));
    assert!(checkout.experiment().standing(&log).ends_with("kept and used for no verdict: 4"));
}

#[test]
fn a_sitting_waits_until_it_is_apart_from_the_last() {
    let checkout = Checkout::new();
    checkout.sit(&|_| Ok(measured(0, 0.8))).unwrap();
    let (experiment, log) = (checkout.experiment(), checkout.log());
    let at =
        |minutes: i64| Entry { began: Timestamp::from_second(minutes * 60).unwrap(), ..Entry::default() };
    let refused = experiment.is_apart(&log, &at(79)).unwrap_err().to_string();
    let expected =
        "the last sitting ended at 00:19:30 UTC: one that begins before 01:19:30 would be one with it";
    assert_eq!(refused, expected);
    experiment.is_apart(&log, &at(80)).unwrap();
    let elsewhere = Entry { boot: "another".to_owned(), ..at(40) };
    experiment.is_apart(&log, &elsewhere).unwrap();
}

#[test]
fn a_sitting_is_logged_before_its_first_trial_and_one_that_was_killed_stays_as_not_complete() {
    let checkout = Checkout::new();
    // The log that a kill at this moment would leave.
    let seen = RefCell::new(Log::default());
    let ended = checkout.sit(&|begun| {
        *seen.borrow_mut() = checkout.log();
        assert_eq!(seen.borrow().sittings, std::slice::from_ref(begun));
        Err(anyhow!("kumite ended with signal: 9"))
    });
    assert_eq!(ended.unwrap_err().to_string(), "sitting 1 is not complete: kumite ended with signal: 9");
    let left = seen.into_inner();
    assert_eq!((left.sittings[0].complete, left.sittings[0].why.as_deref()), (false, Some(NOT_ENDED)));
    assert_eq!(checkout.log().sittings[0].why.as_deref(), Some("kumite ended with signal: 9"));
    assert!(!checkout.folder().join(RECORD).exists());
}

#[test]
fn what_was_interrupted_does_not_count_and_what_its_budget_ended_does() {
    let checkout = Checkout::new();
    let cut = |day: i64, why: &str| {
        let mut of = measured(day, 0.8);
        of.run.cut_short = Some(why.to_owned());
        of
    };
    let refused = checkout.sit(&|_| Ok(cut(0, "interrupted"))).unwrap_err();
    assert_eq!(refused.to_string(), "sitting 1 is not complete: interrupted");
    let interrupted = &checkout.log().sittings[0];
    assert_eq!((interrupted.trials, interrupted.file.as_deref()), (Some(20), None));
    checkout.sit(&|_| Ok(cut(1, "the budget of 20 m was spent"))).unwrap();
    checkout.sit(&|_| Ok(measured(2, 0.8))).unwrap();
    checkout.sit(&|_| Ok(measured(3, 0.8))).unwrap();
    let of = checkout.record();
    let short: Vec<_> = of.run.sittings.iter().map(|of| of.cut_short.as_deref()).collect();
    assert_eq!(short, [Some("the budget of 20 m was spent"), None, None]);
}

#[test]
fn after_a_change_of_the_specification_earlier_sittings_no_longer_count_and_are_said() {
    let checkout = Checkout::new();
    checkout.sit(&|_| Ok(measured(0, 0.8))).unwrap();
    let changed = SPEC.replace("blocks = 10", "blocks = 9");
    checkout.specify(&changed);
    let of = |day: i64| {
        let mut of = measured(day, 0.8);
        of.run.spec = changed.clone();
        of
    };
    for day in 1..4 {
        checkout.sit(&|_| Ok(of(day))).unwrap();
    }
    let sittings = checkout.record().run.sittings;
    let made_of: Vec<_> = sittings.iter().map(|of| of.run.as_str()).collect();
    assert_eq!(made_of, ["day-1", "day-2", "day-3"]);
    let said = checkout.experiment().standing(&checkout.log());
    let expected = "3 of 3 that count are there, 4 were begun; of an earlier specification, source or MEASURES, so that they \
                    no longer count: 1";
    assert_eq!(said, expected);
    checkout.specify(&SPEC.replace("Which", "Who"));
    assert_eq!(checkout.log().counting(&checkout.experiment().kind)[0].run.as_deref(), Some("day-0"));
}

#[test]
fn a_sitting_on_another_machine_is_in_the_record_as_a_value() {
    let checkout = Checkout::new();
    checkout.sit(&|_| Ok(measured(0, 0.8))).unwrap();
    let mut elsewhere = measured(1, 0.8);
    elsewhere.machine.cpu = "another".to_owned();
    checkout.sit(&|_| Ok(elsewhere.clone())).unwrap();
    checkout.sit(&|_| Ok(measured(2, 0.8))).unwrap();
    let of = checkout.record();
    let cpus: Vec<_> =
        of.run.sittings.iter().map(|of| of.elsewhere.as_ref().map(|of| of.cpu.as_str())).collect();
    assert_eq!(cpus, [None, Some("another"), None]);
}

#[test]
fn a_busy_machine_and_a_changed_tree_are_refused_before_anything_is_logged() {
    let checkout = Checkout::new();
    let experiment = checkout.experiment();
    let git = |arguments: &[&str]| super::git(checkout.0.path(), arguments).unwrap();
    git(&["init", "-q"]);
    assert!(
        experiment
            .refuse_busy(|| None)
            .unwrap_err()
            .to_string()
            .starts_with("the tree differs from its commit")
    );
    git(&["add", "-A"]);
    git(&["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"]);
    let refused = experiment.refuse_busy(|| Some("stolen (stolen_cores 0.2)".to_owned())).unwrap_err();
    let expected = "the machine is busy: stolen (stolen_cores 0.2); nothing was begun, and nothing is logged";
    assert_eq!(refused.to_string(), expected);
    experiment.refuse_busy(|| None).unwrap();
    assert_eq!(checkout.log(), Log::default());
}

#[test]
fn what_each_took_once_is_kept_if_it_was_measured_whole_and_judges_nothing() {
    let checkout = Checkout::new();
    for day in 0..3 {
        checkout.sit(&|_| Ok(measured(day, 0.8))).unwrap();
    }
    let judged = checkout.record();
    let once = || {
        let mut of = measured(3, 1.5);
        of.run.profile = everyone::PROFILE.to_owned();
        of
    };
    checkout.experiment().of_everyone(&|_| Ok(once())).unwrap();
    let kept = |of: &Checkout| everyone::read(&of.folder(), SPEC).unwrap().unwrap()["run"]["id"].clone();
    assert_eq!(kept(&checkout), "day-3");
    let interrupted = |_| {
        let mut of = once();
        of.run.cut_short = Some("interrupted".to_owned());
        of.run.id = "day-4".to_owned();
        Ok(of)
    };
    let refused = checkout.experiment().of_everyone(&interrupted).unwrap_err();
    assert_eq!(
        (refused.to_string(), kept(&checkout)),
        ("nothing is kept: interrupted".to_owned(), "day-3".into())
    );
    assert!(checkout.record() == judged && checkout.log().sittings.len() == 3);
}

#[test]
fn there_is_a_control_and_it_is_that_of_the_file_if_that_names_one() {
    let checkout = Checkout::new();
    let words = || {
        let of = checkout.experiment();
        of.words(PROFILE, &of.of_sitting(), 7, Path::new("f")).join(" ")
    };
    let expected = "run tiny --profile standard --sittings 1 --strict --control --budget 20m --seed 7 --db f/results.db \
                    --json f/run.json";
    assert_eq!(words(), expected);
    checkout.specify(&format!("control = \"b\"\n{SPEC}"));
    assert_eq!(words(), expected.replace(" --control", ""));
}
