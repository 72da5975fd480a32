//! A record in, bytes of terminal, HTML, Markdown or CSV out.
//!
//! Every format has the same order: the question and its source, red checks, the verdicts, the measurements of each group of points
//! (HTML alone draws what happened within trials), failures and recovery, what was published, what could not be measured,
//! doubts, and what is needed to repeat the run. Nothing here reads a file, a clock or the environment, so a record gives the
//! same report everywhere. What others wrote (names, reasons, logs) is escaped in each format.
//!
//! From below: `record` is a record and its index. `words` says things, `tables` lays them out, `charts` draws them, `kinds`
//! has what only one kind of workload shows. Above them a file for each format: `terminal`, `html`, `markdown`, `csv`; and one
//! for each other thing that is shown: `summary`, `comparison`, `replication`, `load`, `found_rate`, `selfcheck`.

mod charts;
mod comparison;
mod csv;
mod document;
mod found_rate;
mod html;
mod kinds;
mod leaf;
mod load;
mod markdown;
mod metric;
mod page;
mod pictures;
mod record;
mod replication;
mod selfcheck;
mod style;
mod summary;
mod tables;
mod terminal;
mod words;

pub use charts::forest::forest_svg;
pub use comparison::{
    MetricUnit, NamedMetrics, NamedMetricsError, Shown, TimeUnit, Units, compare_asciidoc, compare_csv,
    compare_gate, compare_html, compare_markdown, compare_orgmode, compare_terminal, cut_short,
};
pub use csv::csv;
pub use found_rate::{found_rate_terminal, rate_trial_line};
pub use html::html;
pub use load::{load_html, load_markdown, load_terminal};
pub use markdown::markdown;
pub use replication::{
    replication_claims, replication_differences, replication_html, replication_markdown, replication_terminal,
};
pub use selfcheck::selfcheck_terminal;
pub use style::Style;
pub use summary::{decided, summary};
pub use terminal::terminal;
pub use words::first_figure::first_figure;
pub use words::gate::run_gate;
pub use words::near_tie::near_tie;
pub use words::number::{count, plural, significant};
pub use words::quantity::time_us;
pub use words::reason::reason;
pub use words::text::{plain, plain_but_colours};
