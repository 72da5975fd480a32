//! Pictures of a made-up run, beside what was published.

use kumite_record::{Estimate, Metric, Published, PublishedRow, Run, Unit};

use super::*;

fn point(connections: i64, cores: &str) -> Point {
    Point(
        [
            ("connections".to_owned(), AxisValue::Int(connections)),
            ("cores".to_owned(), AxisValue::Text(cores.to_owned())),
        ]
        .into(),
    )
}

/// Two contenders at two numbers of connections, on one core and on all.
fn export() -> Export {
    let estimate = |value: f64| Estimate {
        estimate: value,
        low: None,
        high: None,
        unit: Unit::RequestsPerSecond,
        n: 6,
        lower_bounds: 0,
    };
    let cell = |contender: &str, connections: i64, cores: &str, value: f64| Cell {
        contender: contender.to_owned(),
        point: point(connections, cores),
        trials: 6,
        disqualified: 0,
        failed: 0,
        marked: 0,
        metrics: [("throughput_rps".to_owned(), estimate(value))].into(),
        needs: Default::default(),
        steadiness: None,
    };
    let row = |series: &str, value: f64, connections: i64| PublishedRow {
        series: series.to_owned(),
        contender: "b".to_owned(),
        point: Point([("connections".to_owned(), AxisValue::Int(connections))].into()),
        metrics: [("throughput_rps".to_owned(), value)].into(),
    };
    let published = Published {
        note: String::new(),
        beside: vec!["connections".to_owned()],
        main: vec!["1".to_owned(), "2".to_owned()],
        rows: vec![row("1", 300.0, 10), row("2", 500.0, 10), row("1", 600.0, 20), row("warm-up", 9e9, 20)],
    };
    let contender = |name: &str| kumite_record::Contender { name: name.to_owned(), ..Default::default() };
    let values = [("a", 10, 100.0), ("a", 20, 200.0), ("b", 10, 150.0), ("b", 20, 250.0)];
    let of =
        |cores: &'static str| values.map(|(name, connections, value)| cell(name, connections, cores, value));
    Export {
        schema: kumite_record::SCHEMA,
        run: Run {
            metrics: vec![Metric::named("throughput_rps")],
            published: Some(published),
            ..Run::default()
        },
        machine: Default::default(),
        contenders: ["a", "b"].map(contender).into(),
        cells: of("1").into_iter().chain(of("all")).collect(),
        parts: Vec::new(),
        claims: Vec::new(),
        checks: Vec::new(),
        gate: None,
        warnings: Vec::new(),
        trials: Vec::new(),
    }
}

fn asked() -> Picture {
    Picture {
        title: "Requests <served>".to_owned(),
        contenders: ["a", "b"].map(str::to_owned).into(),
        at: [("cores".to_owned(), "all".to_owned())].into(),
        drawn: Drawn::Lines {
            metrics: vec!["throughput_rps".to_owned()],
            over: "connections".to_owned(),
            published: true,
        },
    }
}

#[test]
fn lines_are_drawn_with_the_median_of_the_main_published_series_dashed() {
    let svg = picture_svg(&export(), &asked()).unwrap();
    let xml = roxmltree::Document::parse(&svg).unwrap();
    let paths = |class: &str| xml.descendants().filter(|node| node.attribute("class") == Some(class)).count();
    assert_eq!((paths("line"), paths("theirs")), (2, 1));
    assert!(svg.contains("b, connections = 10: 400, as published"), "{svg}");
    assert!(svg.contains("the median of 2 series") && svg.contains("Requests &lt;served&gt;"));
    let mut without = asked();
    without.drawn = Drawn::Lines {
        metrics: vec!["throughput_rps".to_owned()],
        over: "connections".to_owned(),
        published: false,
    };
    assert!(!picture_svg(&export(), &without).unwrap().contains("class=\"theirs\""));
}

#[test]
fn what_the_run_does_not_have_or_leaves_open_is_an_error() {
    let error = |change: &dyn Fn(&mut Picture)| {
        let mut of = asked();
        change(&mut of);
        picture_svg(&export(), &of).unwrap_err().to_string()
    };
    let lines = |metric: &str, over: &str| Drawn::Lines {
        metrics: vec![metric.to_owned()],
        over: over.to_owned(),
        published: true,
    };
    assert_eq!(error(&|of| of.contenders.push("c".to_owned())), "the run has no contender c");
    assert_eq!(error(&|of| of.drawn = lines("x", "connections")), "the run has no metric x");
    assert_eq!(
        error(&|of| of.drawn = lines("throughput_rps", "x")),
        "a has several points at x: name more axes in `at`"
    );
    assert_eq!(error(&|of| of.at.clear()), "a has several points at connections: name more axes in `at`");
    assert_eq!(
        error(&|of| of.drawn = Drawn::Lanes),
        "0 points of the run are meant by `at`, and one must be"
    );
}
