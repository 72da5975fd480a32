//! The pictures that reports of all kinds have, in the order of the document's tables.

use serde::Serialize;

use crate::charts::{Figure, LineChart, RowChart, Timeline, line_charts, probe_charts, row_chart};
use crate::kinds::chapter::DisturbedPictures;
use crate::kinds::kind_of;
use crate::metric::Named;
use crate::record::Record;
use crate::tables::cells::sort;
use crate::tables::group::{Group, Groups};

/// The pictures of a page, beside its tables.
#[derive(Debug, Serialize)]
pub struct Pictures {
    /// The pictures of each group without a disturbance: lines over the x axis, or rows if the group has one point.
    pub groups: Vec<GroupPictures>,
    /// The pictures of each point with a disturbance.
    pub disturbances: Vec<DisturbedPictures>,
    /// The charts of what the machine took for the probes before each trial.
    pub probes: Vec<Timeline>,
}

#[derive(Debug, Serialize)]
pub struct GroupPictures {
    pub lines: Vec<LineChart>,
    pub rows: Option<RowChart>,
}

impl Pictures {
    pub fn new(record: &Record, groups: &Groups) -> Pictures {
        let calm = groups.calm().enumerate();
        Pictures {
            groups: calm.map(|(nth, group)| group_pictures(record, groups, group, nth)).collect(),
            disturbances: kind_of(record).disturbance_pictures(record, groups),
            probes: probe_charts(record.export),
        }
    }
}

fn group_pictures(record: &Record, groups: &Groups, group: &Group, nth: usize) -> GroupPictures {
    let lines =
        line_charts(record, groups, group, &format!("over-{nth}"), |metric| kind_of(record).is_drawn(metric));
    let rows = match group.points.as_slice() {
        [point] => {
            let mut cells = record.at(point).cells.clone();
            let metric = record.metrics_of(&cells).into_iter().next();
            metric.and_then(|metric| {
                sort(&mut cells, metric);
                let title = metric.label();
                row_chart(record, format!("rows-{nth}"), title, &cells, &[Figure { metric, label: "" }])
            })
        }
        _ => None,
    };
    GroupPictures { lines, rows }
}
