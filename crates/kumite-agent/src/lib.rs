//! The connection to kumite on another node: what a driver and `kumite agent` say to each other, and the way there.
//!
//! Something that exists, such as ssh or Slurm's srun, starts `kumite agent` there; no port is opened, and nothing is
//! installed but kumite itself, in the user's cache. Driver and agent speak over its standard input and output, in
//! [frames](encode), by the rules of [`Ask`] and [`Tell`]. When its input ends, the agent ends, and so does all that
//! it started: after a killed driver, a cut network or a closed laptop, no process is left behind.
//!
//! Nothing here knows what an experiment is: files, work and stores pass through as bytes.

mod bootstrap;
mod error;
mod files;
mod frame;
mod life;
mod link;
mod message;
mod node;
mod srun;
mod ssh;
mod wire;

pub use bootstrap::{Program, own_file};
pub use error::{Error, Misdeed};
pub use files::{Folder, Piece, Received, below, pieces};
pub use frame::{LONGEST, NotAFrame, decode, encode};
pub use life::{Patient, SIGN_EVERY, SILENCE_LIMIT};
pub use link::{Event, Link, Way};
pub use message::{Ask, PROTOCOL, Tell, Worked};
pub use node::Node;
pub use srun::{ADDRESSES, JobNode};
pub use ssh::{Host, NotAHost};
