use kumite_record::{Bound, Effect, NearTie, NearTies, Remedy, Replication, RunParts, RunPlace, Verdict};
use kumite_report::{Style, near_ties, replication_html, replication_markdown, replication_terminal};

use crate::fixture::export;
use crate::page::parsed;

/// A run, and the same on another machine by a later kumite, where one claim came out otherwise.
fn replication() -> Replication {
    let (first, mut second) = (export(), export());
    second.run.kumite = "9.9.9".into();
    second.run.measures = Some(9);
    second.machine.cpu = "Another CPU".into();
    second.machine.cpus = 64;
    second.contenders[0].version = Some("another version".into());
    second.run.cut_short = Some("the budget of 1 min was used up".into());
    let holds = second.claims.iter_mut().find(|claim| claim.verdict == Verdict::Holds).unwrap();
    holds.verdict = Verdict::Fails;
    let last = second.claims.pop().unwrap();
    assert!(first.claims.contains(&last));
    Replication::new(["theirs", "here"], [RunParts::from(&first), RunParts::from(&second)], Vec::new())
}

#[test]
fn two_runs_for_a_terminal() {
    insta::assert_snapshot!(replication_terminal(&replication(), &Style { color: false, width: 100 }));
}

#[test]
fn two_runs_in_markdown() {
    insta::assert_snapshot!(replication_markdown(&replication()));
}

#[test]
fn a_page_has_a_row_for_each_claim_and_each_difference() {
    let replication = replication();
    let html = replication_html(&replication);
    let page = parsed(&html);
    let rows = page
        .descendants()
        .filter(|node| node.has_tag_name("tbody"))
        .map(|body| body.children().filter(|row| row.has_tag_name("tr")).count());
    assert_eq!(rows.collect::<Vec<_>>(), [replication.claims.len(), replication.differences.len()]);
}

#[test]
fn near_ties_have_what_would_decide_them() {
    let export = export();
    let claim = export.claims.iter().find(|claim| claim.verdict == Verdict::Holds).unwrap();
    let near = |verdict, remedy| NearTie {
        claim: claim.id.clone(),
        verdict,
        decided_by: claim.decided_by.clone().unwrap(),
        effect: Effect {
            bound: Bound::Both { low: 0.9, high: 1.3, level: 0.8 },
            ..claim.effect.clone().unwrap()
        },
        sittings: 1,
        remedy,
    };
    let near = vec![
        near(Verdict::Holds, Remedy::Rounds(41)),
        near(Verdict::Fails, Remedy::Jobs { now: 3, enough: 8 }),
        near(Verdict::Undecided, Remedy::Sittings { sittings: 3, agree: 0.672 }),
        near(Verdict::DependsOnSitting, Remedy::Sittings { sittings: 4, agree: 0.13 }),
        near(Verdict::NoDifference, Remedy::Margin),
    ];
    let (run, claims) = (export.run.clone(), export.claims.len());
    let all = NearTies { run, place: RunPlace::File("found/standard.json.gz".to_owned()), claims, near };
    let one = NearTies { near: all.near[..1].to_vec(), place: RunPlace::Store, ..all.clone() };
    let none = NearTies { near: Vec::new(), ..one.clone() };
    insta::assert_snapshot!([all, one, none].map(|of| near_ties(&of)).join("\n"));
}
