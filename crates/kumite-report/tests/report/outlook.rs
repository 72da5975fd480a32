use std::time::Duration;

use kumite_record::{
    AxisValue, Contender, ContenderStatus, Outlook, OutlookContender, OutlookPoint, OutlookRequest,
    OutlookSittings, Point, Prospect, Prospects, Shard, Unavailable,
};
use kumite_report::{absent, outlook};

fn one(name: &str, needs: &[&str], left_out: Option<&str>) -> OutlookContender {
    OutlookContender {
        name: name.to_owned(),
        model: "an event loop".to_owned(),
        needs: needs.iter().map(ToString::to_string).collect(),
        left_out: left_out.map(str::to_owned),
    }
}

fn request(name: &str, session: Option<&str>) -> OutlookRequest {
    let (what, session) = ("GET /".to_owned(), session.map(str::to_owned));
    OutlookRequest { name: name.to_owned(), what, session, turns: [1, 4] }
}

fn at(connections: i64) -> Point {
    Point([("connections".to_owned(), AxisValue::Int(connections))].into())
}

fn small() -> Outlook {
    Outlook {
        experiment: "chatbot".to_owned(),
        question: "Is it?".to_owned(),
        profile: "quick".to_owned(),
        contenders: vec![one("a", &[], None)],
        requests: Vec::new(),
        points: vec![OutlookPoint { point: Point::default(), contenders: vec!["a".to_owned()] }],
        unavailable: Vec::new(),
        trials: 1,
        time: None,
        blocks: [3, 3],
        prospects: Prospects { claims: 0, fewest: None, of_claims: Vec::new() },
        not_judged: Vec::new(),
        checks: Vec::new(),
        sittings: None,
        shard: None,
    }
}

#[test]
fn a_run_of_one_point_without_claims() {
    insta::assert_snapshot!("outlook_of_one_point", outlook(&small(), None));
}

#[test]
fn a_run_with_all_that_one_can_have() {
    let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    let of = Outlook {
        contenders: vec![
            one("a", &["node >= 20", "sh"], None),
            one("b", &[], None),
            one("c", &[], Some("left out by --skip")),
        ],
        requests: vec![request("GET /", None), request("login", Some("user"))],
        points: vec![
            OutlookPoint { point: at(1), contenders: names(&["a", "b"]) },
            OutlookPoint { point: at(50), contenders: names(&["b"]) },
        ],
        unavailable: vec![Unavailable { point: at(900), why: "it needs 4 CPUs".to_owned() }],
        trials: 3,
        time: Some([Duration::from_millis(90), Duration::from_secs(40)]),
        blocks: [6, 20],
        prospects: Prospects {
            claims: 1,
            fewest: Some(5),
            of_claims: vec![Prospect {
                id: "a-leads".to_owned(),
                comparisons: 2,
                to_hold: Some(16),
                to_fail: Some(24),
            }],
        },
        not_judged: names(&["tail"]),
        checks: names(&["all-right", "none-lost"]),
        shard: Some(Shard { nth: 1, of: 3, node: "n1".to_owned() }),
        ..small()
    };
    insta::assert_snapshot!("outlook", outlook(&of, None));
}

#[test]
fn sittings_are_counted_with_the_time_between_them() {
    let of_one = [Duration::from_secs(60), Duration::from_secs(60)];
    let sittings = |number, minutes: u64| {
        let apart = Duration::from_secs(minutes * 60);
        let of = Outlook { time: Some(of_one), sittings: Some(OutlookSittings { number, apart }), ..small() };
        outlook(&of, None).lines().skip(7).collect::<Vec<_>>().join("\n")
    };
    let all = [sittings(1, 60), sittings(4, 90), sittings(4, 10)];
    insta::assert_snapshot!("outlook_of_sittings", all.join("\n\n"));
}

#[test]
fn absentees_have_a_line_for_each_reason() {
    let one = |name: &str, status, reason: Option<&str>| Contender {
        name: name.to_owned(),
        status,
        reason: reason.map(str::to_owned),
        ..Contender::default()
    };
    let all = [
        one("a", ContenderStatus::Ran, None),
        one("b", ContenderStatus::Skipped, Some("left out by --only")),
        one("c", ContenderStatus::Failed, Some("it does not build")),
        one("d", ContenderStatus::Skipped, Some("left out by --only")),
    ];
    assert_eq!(absent(&all), ["skipped b, d: left out by --only", "failed c: it does not build"]);
}
