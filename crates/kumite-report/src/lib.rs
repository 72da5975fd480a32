//! Reports and other results as text: a record goes in, and a terminal's text, HTML, Markdown, CSV, SVG, JUnit XML or
//! another format comes out.
//!
//! Every format of a run's report, but for CSV, has the same order: the question and its source, red checks, the
//! verdicts, the measurements of each group of points (HTML alone draws what happened within trials), failures and
//! recovery, what was published, what could not be measured, doubts, and what is needed to repeat the run. Nothing
//! here reads a file, a clock or the environment, so a record gives the same report everywhere. Texts that others
//! wrote (names, reasons, logs) are escaped in each format.
//!
//! The modules, from the lowest up: `record` is a record and its index. `words` makes sentences, `tables` makes rows
//! and columns, `charts` makes pictures, and `kinds` has the parts that only one kind of workload has. Above them is a
//! file for each format: `terminal`, `html`, `markdown`, `csv`; and one for each other thing that is shown: `summary`,
//! `comparison`, `run_review` and `review`, which has formats of its own for machines and reviewers, `replication`,
//! `load`, `found_rate`, `selfcheck`, `outlook`, `diagnosis`, `instruments`, `run_line`, `load_second`, `claim_row`,
//! `picture`. `thinned` makes a smaller record.

mod by_request;
mod charts;
mod claim_row;
mod comparison;
mod csv;
mod diagnosis;
mod document;
mod found_rate;
mod html;
mod instruments;
mod kinds;
mod leaf;
mod load;
mod load_second;
mod markdown;
mod metric;
mod outlook;
mod page;
mod picture;
mod pictures;
mod rate_trial;
mod record;
mod replication;
mod review;
mod run_line;
mod run_review;
mod selfcheck;
mod slo_result;
mod style;
mod summary;
mod tables;
mod terminal;
mod thinned;
mod words;

pub use charts::forest::forest_svg;
pub use claim_row::ClaimRow;
pub use comparison::{
    MetricUnit, NamedMetrics, NamedMetricsError, Shown, TimeUnit, Units, compare_asciidoc, compare_csv,
    compare_failure, compare_gate, compare_html, compare_markdown, compare_orgmode, compare_review,
    compare_terminal, cut_short,
};
pub use csv::csv;
pub use diagnosis::{diagnoses, diagnosis};
pub use found_rate::{found_rate_html, found_rate_markdown, found_rate_terminal};
pub use html::html;
pub use instruments::{disk_line, play_lines, stub_line};
pub use load::{load_html, load_markdown, load_terminal};
pub use load_second::{LoadSecond, load_line, load_lines};
pub use markdown::markdown;
pub use outlook::{absent, outlook, too_near};
pub use picture::{Drawn, NoPicture, Picture, picture_svg};
pub use rate_trial::rate_trial_line;
pub use replication::{
    replication_claims, replication_differences, replication_html, replication_markdown, replication_terminal,
};
pub use review::Review;
pub use review::annotations::annotations;
pub use review::comment::comment;
pub use review::job_summary::job_summary;
pub use review::junit::junit;
pub use run_line::run_line;
pub use run_review::run_review;
pub use selfcheck::selfcheck_terminal;
pub use slo_result::{slo_gate, slo_html, slo_markdown, slo_terminal};
pub use style::Style;
pub use summary::{decided, summary};
pub use terminal::terminal;
pub use thinned::{thinned, without_courses};
pub use words::first_figure::first_figure;
pub use words::gate::{gate_reason, run_gate};
pub use words::near_tie::near_ties;
pub use words::number::plural;
pub use words::prospects::{prospect_faults, prospect_notes, prospect_outlook};
pub use words::quantity::{bytes, length};
pub use words::reason::reason;
pub use words::short_window::{ShortWindow, in_profiles, short_window};
pub use words::text::{plain, plain_but_colours};
