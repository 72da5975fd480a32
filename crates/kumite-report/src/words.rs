//! Sentences and figures, before they get a format: a terminal, HTML and Markdown have the same words. Texts that
//! others wrote are cleaned here.

pub mod bound;
pub mod check;
pub mod claim_scale;
pub mod control;
pub mod effect;
pub mod first_figure;
pub mod gate;
pub mod letters;
pub mod moved;
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
