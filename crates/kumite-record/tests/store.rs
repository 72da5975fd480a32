//! A store gives back all that was written, and passes nothing over that it cannot read.

use std::collections::BTreeMap;
use std::slice::from_ref;

use jiff::Timestamp;
use kumite_record::{
    AxisValue, Binds, Bound, CellName, Check, CheckOutcome, Claim, Contender, ContenderStatus, Decider,
    Doubt, Effect, EffectKind, Histogram, Job, JobEvent, Machine, Mark, NoiseFloor, Op, Outcome, Point,
    Reason, RedComparison, Run, Sample, SelfCheck, Series, Side, Sides, Steadiness, SteadyClass, Store,
    StoreError, Trial, Unit, Verdict, Void, VoidCause, Warning, standing,
};

fn run(id: &str, started: i64) -> Run {
    Run {
        id: id.to_owned(),
        experiment: "fake".to_owned(),
        experiment_given: "fake".to_owned(),
        kind: "http".into(),
        profile: "quick".to_owned(),
        seed: 7,
        started: Timestamp::from_second(started).unwrap(),
        finished: None,
        cut_short: None,
        resumed: Vec::new(),
        command: "kumite run fake".to_owned(),
        kumite: "0.1.0".to_owned(),
        question: Default::default(),
        workload: BTreeMap::from([("body".to_owned(), AxisValue::Text("ping".to_owned()))]),
        points: vec![point()],
        contenders_at: Vec::new(),
        blocks: 6,
        min_blocks: 6,
        margin_percent: 1.0,
        saved: None,
        noise_floor: None,
        spec: String::new(),
        published: None,
        ..Run::default()
    }
}

fn point() -> Point {
    Point(BTreeMap::from([
        ("connections".to_owned(), AxisValue::Int(10)),
        ("share".to_owned(), AxisValue::Float(0.5)),
    ]))
}

fn trial(seq: u32) -> Trial {
    let mut histogram = Histogram::new(3).unwrap();
    for value in [1_000, 2_000_000, 30_000_000_000] {
        histogram.record(value).unwrap();
    }
    Trial {
        seq,
        block: 0,
        attempt: 0,
        void: None,
        contender: "a".to_owned(),
        point: point(),
        started: Timestamp::from_second(5).unwrap(),
        outcome: Outcome::Ok,
        reason: None,
        sample: Sample {
            metrics: BTreeMap::from([("throughput_rps".to_owned(), 0.1 + 0.2)]),
            errors: BTreeMap::from([("timeout".to_owned(), 3)]),
            noise: BTreeMap::from([("stolen_cores".to_owned(), 0.02)]),
            series: Series {
                interval_ms: 100,
                start_ms: -100,
                window_ms: 100.0,
                columns: BTreeMap::from([("response_mean_us".to_owned(), vec![Some(1.5), None])]),
            },
            needs: BTreeMap::from([("response_p99_us".to_owned(), 997)]),
            steadiness: Some(Steadiness {
                class: SteadyClass::WarmUp,
                since_ms: Some(-300),
                changes_ms: vec![-300],
                used_from_ms: 0,
            }),
            disturbance: None,
            jobs: vec![Job { elapsed_ms: 0.1, warm_up: true, ..Job::default() }],
            events: vec![JobEvent(5, "main".to_owned(), "next".to_owned(), "a".to_owned())],
            histograms: BTreeMap::from([("response_ns".to_owned(), histogram)]),
            ..Sample::default()
        },
        marks: vec![Mark::GeneratorBound],
        ready_ms: Some(12.5),
        load_ms: Some(3000.0),
        control: false,
        took_ms: Some(3600.0),
        node: None,
        log: Some("logs/x".to_owned()),
    }
}

fn decider() -> Decider {
    let metric = |contender: &str| Side::Metric {
        contender: contender.to_owned(),
        point: point(),
        metric: "elapsed_ms".to_owned(),
        times: 2.0,
        value: Some(0.25),
    };
    let sides = |op| Sides { left: metric("a"), op, right: Side::Number { value: 2.0 }, unit: Unit::Seconds };
    Decider {
        comparison: "2 * elapsed_ms(a) >= 2 s".to_owned(),
        sides: Some(sides(Op::Within(0.1))),
        contender: Some("a".to_owned()),
        point: point(),
        alike: 1,
        of: 2,
    }
}

#[test]
fn what_a_later_kumite_says_is_kept_word_for_word() {
    let json = serde_json::json!({
        "id": "c", "assert": "1 < 2", "title": null, "published": null, "verdict": "holds-by-luck",
        "lucky_rounds": 4,
        "effect": { "value": 2.0, "kind": "ratio", "bound": { "what": "one-of-many", "of": 3 }, "sat": true },
        "reason": { "what": "more-luck", "rounds": 3 },
        "doubts": [
            { "what": "sat-apart", "hours": 2 },
            { "what": "marked", "cell": { "contender": "a" }, "mark": "sat-down" },
        ],
    });
    let claim: Claim = serde_json::from_value(json.clone()).unwrap();
    assert_eq!(
        (claim.verdict.to_string(), claim.effect.unwrap().bound),
        ("holds-by-luck".to_owned(), Bound::Unknown)
    );
    let Doubt::Marked { mark, .. } = claim.doubts[1] else { panic!("{:?}", claim.doubts) };
    assert_eq!(mark.as_str(), "sat-down");
    assert!(!Mark::ALL.contains(&mark) && !mark.is_outside());
    for (ours, read) in [
        (serde_json::to_value(claim.verdict), &json["verdict"]),
        (serde_json::to_value(&claim.reason), &json["reason"]),
        (serde_json::to_value(&claim.doubts), &json["doubts"]),
    ] {
        assert_eq!(ours.unwrap(), *read);
    }
    let known = serde_json::json!({ "what": "not-tried", "cell": { "contender": "a" } });
    assert!(matches!(serde_json::from_value(known).unwrap(), Reason::NotTried { .. }));
}

#[test]
fn a_run_is_read_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("deep/results.db");
    let (mut first, machine) = (run("r1", 1), Machine { cpus: 2, ..Machine::default() });
    let contenders = ["b", "a"].map(|name| Contender {
        name: name.to_owned(),
        model: "threads".to_owned(),
        status: ContenderStatus::Skipped,
        reason: Some("left out".to_owned()),
        ..Contender::default()
    });
    let claim = Claim {
        id: "c".to_owned(),
        assert: "1 < 2".to_owned(),
        title: None,
        published: None,
        verdict: Verdict::NotTested,
        decided_by: Some(decider()),
        effect: Some(Effect {
            value: 1.5,
            kind: EffectKind::Ratio,
            bound: Bound::AtLeast { low: 1.2, high: None, level: 0.95 },
        }),
        doubts: vec![Doubt::Marked {
            cell: CellName { contender: "a".to_owned(), point: point() },
            mark: Mark::Stolen,
        }],
        ..Claim::default()
    };
    let check = Check {
        id: "floor".to_owned(),
        assert: "elapsed_ms(a) >= 2 s".to_owned(),
        title: None,
        binds: Binds::Trials,
        because: "it waits so long".to_owned(),
        outcome: CheckOutcome::Red,
        green: 0,
        of: 1,
        red: vec![RedComparison {
            comparison: "elapsed_ms(a) >= 2 s".to_owned(),
            violated: 1,
            rounds: 2,
            effect: 0.5,
            effect_kind: EffectKind::Ratio,
            effect_unit: Unit::Seconds,
        }],
        reason: None,
    };
    let warning = Warning { place: "machine".to_owned(), what: "is busy".to_owned() };
    {
        let mut store = Store::open(&file).unwrap();
        store.begin(&first, &machine, &contenders).unwrap();
        store.commit("r1", &trial(0)).unwrap();
        store.commit("r1", &trial(1)).unwrap();
        first.finished = Some(Timestamp::from_second(9).unwrap());
        for _ in 0..2 {
            store.finish(&first, from_ref(&claim), from_ref(&check), from_ref(&warning)).unwrap();
        }
    }
    let store = Store::open_existing(&file).unwrap();
    assert_eq!(store.runs().unwrap(), [first.clone()]);
    assert_eq!(store.machine("r1").unwrap(), machine);
    assert_eq!(store.contenders("r1").unwrap(), contenders);
    assert_eq!(store.claims("r1").unwrap(), [claim]);
    assert_eq!(store.checks("r1").unwrap(), [check]);
    assert_eq!(store.warnings("r1").unwrap(), [warning]);
    let mut read = store.trials("r1").unwrap();
    for trial in &mut read {
        trial.sample.histograms = store.histograms("r1", trial.seq).unwrap();
    }
    assert_eq!(read, [trial(0), trial(1)]);
    assert_eq!(store.folder(), folder.path().join("deep"));
}

#[test]
fn a_whole_run_goes_from_store_to_store_and_takes_the_place_of_its_older_self() {
    let (mut from, mut to) = (Store::in_memory().unwrap(), Store::in_memory().unwrap());
    from.begin(&run("r1", 1), &Machine::default(), &[]).unwrap();
    from.commit("r1", &trial(0)).unwrap();
    to.put(&from.read("r1").unwrap()).unwrap();
    to.begin(&run("r2", 2), &Machine::default(), &[]).unwrap();
    from.commit("r1", &trial(1)).unwrap();
    let warning = Warning { place: "run".to_owned(), what: "is a shard".to_owned() };
    from.finish(&run("r1", 1), &[], &[], from_ref(&warning)).unwrap();
    for _ in 0..2 {
        to.put(&from.read("r1").unwrap()).unwrap();
        let read = to.read("r1").unwrap();
        assert_eq!(read, from.read("r1").unwrap());
        assert_eq!(
            (read.trials.as_slice(), read.warnings),
            (&[trial(0), trial(1)][..], vec![warning.clone()])
        );
        assert_eq!((to.runs().unwrap().len(), to.find("last").unwrap().as_str()), (2, "r1"));
    }
}

#[test]
fn a_trial_is_there_once_or_not_at_all() {
    let mut store = Store::in_memory().unwrap();
    assert!(store.commit("nobody", &trial(0)).is_err(), "of no run");
    store.begin(&run("r1", 1), &Machine::default(), &[]).unwrap();
    store.commit("r1", &trial(0)).unwrap();
    assert!(store.commit("r1", &trial(0)).is_err(), "twice");
    assert_eq!(store.trials("r1").unwrap().len(), 1);
    assert!(store.begin(&run("r1", 2), &Machine::default(), &[]).is_err(), "a run twice");
}

#[test]
fn runs_are_found_by_what_people_type() {
    let mut store = Store::in_memory().unwrap();
    assert!(matches!(store.find("last"), Err(StoreError::NoSuchRun { .. })));
    for (id, started) in [("20260102-a", 2), ("20260101-c", 1), ("20260103-b", 3)] {
        store.begin(&run(id, started), &Machine::default(), &[]).unwrap();
    }
    assert_eq!(store.find("last").unwrap(), "20260103-b");
    assert_eq!(store.find("20260101").unwrap(), "20260101-c");
    assert_eq!(store.find("20260102-a").unwrap(), "20260102-a");
    assert!(matches!(store.find("2026"), Err(StoreError::Ambiguous { matches, .. }) if matches.len() == 3));
    for nothing in ["", "x"] {
        assert!(matches!(store.find(nothing), Err(StoreError::NoSuchRun { .. })));
    }
}

#[test]
fn a_file_that_is_no_store_or_one_of_another_version_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("results.db");
    assert!(matches!(Store::open_existing(&file), Err(StoreError::Open { .. })));
    std::fs::write(&file, "this is no database, but a text that is long enough to be mistaken for one")
        .unwrap();
    let refused = Store::open(&file).map(|_| ()).unwrap_err();
    assert!(matches!(refused, StoreError::Open { .. }));
    assert_eq!(
        refused.to_string().replace(file.to_str().unwrap(), "FILE"),
        "cannot open the results store FILE: file is not a database; --db FILE names another, and `sqlite3 FILE .recover` saves what can be saved of this one"
    );
    std::fs::remove_file(&file).unwrap();
    Store::open(&file).unwrap().keep_selfcheck(&selfcheck(1, "Linux 6")).unwrap();
    for other in [5, 99] {
        rusqlite::Connection::open(&file).unwrap().pragma_update(None, "user_version", other).unwrap();
        for refused in [Store::open(&file), Store::open_read_only(&file)] {
            let refused = refused.map(|_| ()).unwrap_err();
            assert_eq!(
                refused.to_string().replace(file.to_str().unwrap(), "FILE"),
                format!(
                    "the results store FILE is of version {other}, and this kumite reads version 6: use the kumite that wrote it, move the file away, or give another by --db FILE"
                )
            );
        }
    }
}

#[test]
fn a_store_that_is_only_read_is_not_made_and_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("results.db");
    assert!(Store::open_read_only(&file).is_err() && !file.exists(), "it is not made");
    Store::open(&file).unwrap().begin(&run("r1", 1), &Machine::default(), &[]).unwrap();
    let mut reader = Store::open_read_only(&file).unwrap();
    assert_eq!(reader.latest_selfcheck(&Machine::default()).unwrap(), None);
    assert!(reader.keep_selfcheck(&selfcheck(1, "Linux 6")).is_err(), "it only reads");
}

fn selfcheck(started: i64, kernel: &str) -> SelfCheck {
    let machine = Machine { kernel: kernel.to_owned(), cpu: "x".to_owned(), cpus: 2, ..Machine::default() };
    SelfCheck { started: Timestamp::from_second(started).unwrap(), machine, ..SelfCheck::default() }
}

#[test]
fn the_latest_self_check_of_the_same_machine_is_found() {
    let mut store = Store::in_memory().unwrap();
    let machine = selfcheck(0, "Linux 6").machine;
    assert_eq!(store.latest_selfcheck(&machine).unwrap(), None);
    for (started, kernel) in [(2, "Linux 6"), (1, "Linux 6"), (3, "Linux 7")] {
        store.keep_selfcheck(&selfcheck(started, kernel)).unwrap();
    }
    let found = store.latest_selfcheck(&machine).unwrap().unwrap();
    assert_eq!(found, selfcheck(2, "Linux 6"));
    assert_eq!(NoiseFloor::from_check(&found).measured, found.started);
    assert_eq!(store.latest_selfcheck(&Machine { cpus: 4, ..machine }).unwrap(), None);
}

/// A run that has ended with three trials and a verdict.
fn ended(store: &mut Store) -> Run {
    let mut run = run("r1", 1);
    store.begin(&run, &Machine::default(), &[]).unwrap();
    (0..3).for_each(|seq| store.commit("r1", &trial(seq)).unwrap());
    run.finished = Some(Timestamp::from_second(9).unwrap());
    let claim = Claim { id: "c".to_owned(), verdict: Verdict::Holds, ..Claim::default() };
    store.finish(&run, &[claim], &[], &[]).unwrap();
    run
}

#[test]
fn what_is_missing_or_another_since_a_run_ended_is_noticed_whoever_reads_it() {
    let told = |sql: &str| {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("results.db");
        ended(&mut Store::open(&file).unwrap());
        rusqlite::Connection::open(&file).unwrap().execute_batch(sql).unwrap();
        let store = Store::open(&file).unwrap();
        let read = store.trials("r1").map(|trials| trials.len()).map_err(|error| error.to_string());
        assert_eq!(store.read("r1").map(|_| ()).map_err(|error| error.to_string()), read.clone().map(|_| ()));
        read
    };
    let changed =
        |what: &str| format!("run r1 ended with 3 trials, and {what}: rows were removed or changed since");
    assert_eq!(told(""), Ok(3));
    for (sql, what) in [
        ("DELETE FROM trial WHERE seq = 1", "2 are there"),
        ("DELETE FROM trial", "none is there"),
        ("INSERT INTO trial SELECT run, seq + 10, trial FROM trial", "6 are there"),
        (
            "UPDATE trial SET trial = replace(trial, '30000', '30001')",
            "what is kept of it now is something else",
        ),
        ("DELETE FROM histogram WHERE seq = 2", "what is kept of it now is something else"),
        (
            "UPDATE verdict SET claim = replace(claim, 'holds', 'fails')",
            "what is kept of it now is something else",
        ),
    ] {
        let error = told(sql).unwrap_err();
        assert!(error.contains(&changed(what)), "{sql}: {error}");
    }
}

#[test]
fn a_run_that_is_taken_up_again_is_sealed_when_it_ends_again_and_where_it_is_put() {
    let mut store = Store::in_memory().unwrap();
    let mut run = ended(&mut store);
    let finished = run.finished.take();
    store.finish(&run, &[], &[], &[]).unwrap();
    store.commit("r1", &trial(3)).unwrap();
    assert_eq!(store.trials("r1").unwrap().len(), 4);
    run.finished = finished;
    store.finish(&run, &[], &[], &[]).unwrap();
    let mut whole = store.read("r1").unwrap();
    whole.trials.pop();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("results.db");
    let mut other = Store::open(&file).unwrap();
    other.put(&whole).unwrap();
    assert_eq!(other.trials("r1").unwrap().len(), 3);
    rusqlite::Connection::open(&file).unwrap().execute("DELETE FROM trial WHERE seq = 0", []).unwrap();
    assert!(matches!(other.trials("r1"), Err(StoreError::Changed { then: 3, now: 2, .. })));
}

#[test]
fn a_store_whose_file_is_gone_says_so_and_loses_nothing() {
    for how in ["removed", "moved", "replaced", "removed with its folder"] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("deep/g.db");
        let mut store = Store::open(&file).unwrap();
        store.begin(&run("r1", 1), &Machine::default(), &[]).unwrap();
        store.commit("r1", &trial(0)).unwrap();
        match how {
            "removed" => std::fs::remove_file(&file).unwrap(),
            "moved" => std::fs::rename(&file, folder.path().join("h.db")).unwrap(),
            "replaced" => {
                std::fs::write(folder.path().join("other"), "").unwrap();
                std::fs::rename(folder.path().join("other"), &file).unwrap();
            }
            _ => std::fs::remove_dir_all(file.parent().unwrap()).unwrap(),
        }
        let gone = store.commit("r1", &trial(1)).unwrap_err();
        assert!(matches!(&gone, StoreError::Gone { path, .. } if *path == file), "{gone:?}");
        let StoreError::Gone { rescued: Ok(rescued), .. } = gone else { panic!("{how}: {gone:?}") };
        drop(store);
        let seqs: Vec<u32> = Store::open_existing(&rescued)
            .unwrap()
            .trials("r1")
            .unwrap()
            .iter()
            .map(|trial| trial.seq)
            .collect();
        assert_eq!(seqs, [0, 1], "{how}");
    }
}

#[test]
fn a_store_is_made_for_the_first_change_and_not_before() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("new/deep/g.db");
    let mut store = Store::open(&file).unwrap();
    assert_eq!((store.path(), store.folder()), (&*file, file.parent().unwrap()));
    assert_eq!((store.runs().unwrap(), store.named("x").unwrap()), (vec![], None));
    assert!(store.find("last").is_err());
    let nothing = || std::fs::read_dir(folder.path()).unwrap().count() == 0;
    assert!(nothing(), "whoever looks, and keeps nothing, leaves nothing");
    // Another has made it in between.
    Store::open(&file).unwrap().begin(&run("r0", 0), &Machine::default(), &[]).unwrap();
    store.begin(&run("r1", 1), &Machine::default(), &[]).unwrap();
    let ids = |store: &Store| store.runs().unwrap().into_iter().map(|run| run.id).collect::<Vec<_>>();
    assert_eq!(ids(&store), ["r0", "r1"]);
    assert_eq!(ids(&Store::open_existing(&file).unwrap()), ["r0", "r1"]);
}

#[test]
fn a_store_that_cannot_be_made_is_refused_when_it_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    // (A folder that may not be written to is none for root.)
    for nowhere in ["file/g.db", "file/deep/g.db"].map(|path| folder.path().join(path)) {
        let refused = Store::open(&nowhere).map(|_| ()).unwrap_err();
        assert!(matches!(&refused, StoreError::Open { path, .. } if *path == nowhere), "{refused:?}");
    }
}

#[test]
fn several_that_make_a_store_at_once_make_one() {
    for _ in 0..10 {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("results.db");
        let barrier = std::sync::Barrier::new(6);
        std::thread::scope(|scope| {
            for nth in 0..6 {
                let (file, barrier) = (&file, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    let mut store = Store::open(file).unwrap();
                    store.begin(&run(&format!("r{nth}"), nth), &Machine::default(), &[]).unwrap();
                });
            }
        });
        assert_eq!(Store::open(&file).unwrap().runs().unwrap().len(), 6);
    }
}

#[test]
fn an_id_that_leads_elsewhere_is_refused() {
    let of = |id: &str| serde_json::to_string(&run("r1", 1)).unwrap().replace("\"r1\"", &format!("{id:?}"));
    assert!(serde_json::from_str::<Run>(&of("20260101-120000-ab12-merged")).is_ok());
    for id in ["../PWN", "/tmp/x", "a/b", "", ".", "a b", "x\u{1b}[2J"] {
        assert!(serde_json::from_str::<Run>(&of(id)).is_err(), "{id}");
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("results.db");
    Store::open(&file).unwrap().begin(&run("r1", 1), &Machine::default(), &[]).unwrap();
    let other = rusqlite::Connection::open(&file).unwrap();
    other.execute_batch("UPDATE run SET id = '../PWN'").unwrap();
    let store = Store::open(&file).unwrap();
    let error = store.run(&store.find("last").unwrap()).unwrap_err().to_string();
    assert_eq!(
        error.replace(file.to_str().unwrap(), "FILE"),
        "the results store FILE: run: it is kept as '../PWN', and has the id 'r1'"
    );
    other.execute_batch("UPDATE run SET run = replace(run, 'r1', '../PWN')").unwrap();
    let error = store.runs().unwrap_err().to_string();
    assert_eq!(
        error.replace(file.to_str().unwrap(), "FILE"),
        "the results store FILE: run: \"../PWN\" is no id of a run at line 1 column 14"
    );
}

/// Trials with these blocks, attempts and voids; which of them count.
fn counted(trials: &[(u32, u32, bool)]) -> Vec<usize> {
    let void = || Some(Void { what: VoidCause::KumiteStopped, process: None, node: None, lasted_ms: 300.0 });
    let made = trials.iter().enumerate().map(|(seq, &(block, attempt, is_void))| Trial {
        block,
        attempt,
        void: is_void.then(void).flatten(),
        ..trial(seq as u32)
    });
    standing(&made.collect::<Vec<_>>()).map(|trial| trial.seq as usize).collect()
}

#[test]
fn of_a_block_with_a_void_trial_the_attempt_after_it_counts() {
    assert_eq!(
        counted(&[(0, 0, false), (0, 0, true), (0, 1, false), (0, 1, false), (1, 0, false)]),
        [2, 3, 4]
    );
    assert_eq!(
        counted(&[(0, 0, true), (0, 1, true), (0, 2, false), (0, 2, false), (0, 2, false)]),
        [2, 3, 4]
    );
}

#[test]
fn of_a_block_that_was_void_each_time_nothing_counts() {
    assert_eq!(counted(&[(0, 0, true), (0, 1, false), (0, 1, true), (1, 0, false)]), [3]);
}

#[test]
fn of_a_block_that_was_cut_short_after_a_void_what_there_is_counts() {
    assert_eq!(counted(&[(0, 0, false), (0, 0, true), (0, 1, false)]), [2]);
}
