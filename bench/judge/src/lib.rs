//! What other benches use of this one.

pub mod neighbour;
