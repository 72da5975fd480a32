//! What other benches use of this one.

pub mod neighbour;
pub mod on_the_fly;
