//! The macro player: it makes a schedule of controller states from text, and writes each state to a device at its
//! frame.
//!
//! text ─ [`Macro::parse`] ─► [`Macro`] ─ [`Macro::schedule`] ─► [`Schedule`] ─ [`play`] ─► [`Device`]
//!
//! A macro has at most 1,000,000 states and 10,000,000 frames with its loops expanded ([`Macro::MOST_STATES`],
//! [`Macro::MOST_FRAMES`]); one that would have more is an error, found before anything is expanded.
//!
//! Everything that takes time is done before the first state: on the clock there is only waiting and writing. This
//! crate knows no lab and no Linux: what a platform has is in `kumite-limits` and in the devices.

#[forbid(unsafe_code)]
mod apart;
#[forbid(unsafe_code)]
mod device;
#[forbid(unsafe_code)]
mod error;
#[forbid(unsafe_code)]
mod notation;
#[forbid(unsafe_code)]
mod pacer;
#[forbid(unsafe_code)]
mod pacing;
#[cfg(feature = "page")]
#[forbid(unsafe_code)]
mod page;
#[forbid(unsafe_code)]
mod player;
#[forbid(unsafe_code)]
mod schedule;
#[forbid(unsafe_code)]
mod state;
mod titan_one;

pub use apart::{ApartError, play_apart};
pub use device::{Device, Gcapi, Log, OpenDevice, OpenError, Uinput};
pub use error::DeviceError;
pub use notation::{Macro, NotationError};
pub use pacing::Pacing;
#[cfg(feature = "page")]
pub use page::{Page, PageError};
pub use player::{PlayEnd, Played, play, play_as_is};
pub use schedule::{FPS, Held, Schedule};
pub use state::{Control, PadState};
