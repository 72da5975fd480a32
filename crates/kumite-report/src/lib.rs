//! A record in, bytes of terminal, HTML, Markdown or CSV out.
//!
//! Every format has the same order: the question and its source, red checks, the verdicts, the measurements of each group of points
//! (HTML alone draws what happened within trials), failures and recovery, what was published, what could not be measured,
//! doubts, and what is needed to repeat the run. Nothing here reads a file, a clock or the environment, so a record gives the
//! same report everywhere. What others wrote (names, reasons, logs) is escaped in each format.

mod bound;
mod chapter;
mod chart;
mod check;
mod comparison;
mod csv;
mod disturbance;
mod document;
mod effect;
mod facts;
mod failure;
mod forest;
mod found_rate;
mod gate;
mod grid;
mod group;
mod html;
mod kind;
mod leaf;
mod load;
mod markdown;
mod marks;
mod metric;
mod noise;
mod number;
mod page;
mod pictures;
mod published;
mod quantity;
mod reason;
mod record;
mod scale;
mod selfcheck;
mod steadiness;
mod style;
mod summary;
mod table;
mod terminal;
mod text;
mod trials;
mod verdict;

pub use comparison::{
    MetricUnit, Shown, TimeUnit, Units, compare_asciidoc, compare_csv, compare_gate, compare_html,
    compare_markdown, compare_orgmode, compare_terminal, cut_short,
};
pub use csv::csv;
pub use forest::forest_svg;
pub use found_rate::{found_rate_terminal, rate_trial_line};
pub use gate::run_gate;
pub use html::html;
pub use load::{load_html, load_markdown, load_terminal};
pub use markdown::markdown;
pub use number::{count, plural, significant};
pub use quantity::time_us;
pub use reason::reason;
pub use selfcheck::selfcheck_terminal;
pub use style::Style;
pub use summary::{decided, summary};
pub use terminal::terminal;
pub use text::{plain, plain_but_colours};
