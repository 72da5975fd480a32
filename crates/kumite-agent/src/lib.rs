//! kumite on another node.
//!
//! Something that exists, such as ssh or Slurm's srun, starts `kumite agent` there; it opens no port. Driver and agent speak over its
//! standard input and output, in [frames](frame). The agent ends with its input, and takes with it what it started.

mod bootstrap;
mod files;
mod frame;
mod life;
mod link;
mod message;
mod node;
mod srun;
mod ssh;
mod wire;

pub use bootstrap::Program;
pub use files::{Folder, Received, below, pieces};
pub use frame::{LONGEST, decode, encode};
pub use life::{Patient, SIGN_EVERY, SILENCE_LIMIT};
pub use link::{Link, Said, Way};
pub use message::{Ask, PROTOCOL, Tell, Worked};
pub use node::Node;
pub use srun::{ADDRESSES, JobNode};
pub use ssh::Host;
