//! The declared metrics of trials, put into one order for the record.

use kumite_record::Metric;

/// The metrics of a kind of workload, in two groups.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    /// The results, which a reader asks for first.
    pub results: Vec<Metric>,
    /// The costs, which come last.
    pub costs: Vec<Metric>,
}

impl Metrics {
    /// All metrics in order: the results, then `own`, the metrics that only an experiment has, then the costs.
    pub fn around(self, own: impl IntoIterator<Item = Metric>) -> Vec<Metric> {
        self.results.into_iter().chain(own).chain(self.costs).collect()
    }
}

/// The metrics of a distribution, in µs: its mean, its percentiles and its maximum, with roles such as
/// `response-p99`.
pub(crate) fn distribution(of: &str, what: &str) -> Vec<Metric> {
    let metric = |end: &str, about: String| {
        let role = format!("{of}_{end}").replace('_', "-");
        Metric::new(&format!("{of}_{end}_us"), &about).role(&role)
    };
    vec![
        metric("mean", format!("Mean {what}.")),
        metric("p50", format!("Median {what}.")),
        metric("p90", format!("90th percentile of {what}.")).detail(),
        metric("p99", format!("99th percentile of {what}.")),
        metric("p99_9", format!("99.9th percentile of {what}.")).detail(),
        metric("max", format!("Longest {what}.")).detail(),
    ]
}
