//! Sentences and figures, before any format: the same words on a terminal, in HTML, Markdown and CSV. What others
//! wrote is cleaned here.

pub mod bound;
pub mod check;
pub mod claim_scale;
pub mod control;
pub mod effect;
pub mod first_figure;
pub mod gate;
pub mod near_tie;
pub mod noise_floor;
pub mod number;
pub mod prospects;
pub mod quantity;
pub mod reason;
pub mod short_window;
pub mod sittings;
pub mod steadiness;
pub mod text;
pub mod verdict;
