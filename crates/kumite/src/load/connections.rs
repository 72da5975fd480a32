//! The flags for how long connections last, and for those that carry no request.

use std::num::NonZeroU64;

#[derive(clap::Args)]
#[group(skip)]
pub struct Args {
    /// End each connection after N requests and open another [default: as many as the server takes]
    #[arg(long, value_name = "N")]
    requests_per_connection: Option<NonZeroU64>,
    /// Connections that are held open beside the load and carry no request [default: 0]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=100_000))]
    idle_connections: Option<u32>,
}

impl Args {
    /// The number of requests after which a connection ends; `None` for no limit.
    pub fn requests_each(&self) -> Option<NonZeroU64> {
        self.requests_per_connection
    }

    pub fn idle(&self) -> usize {
        self.idle_connections.unwrap_or(0) as usize
    }

    /// The first of these flags that is given; `None` if none of them is.
    pub fn given(&self) -> Option<&'static str> {
        let given = [
            ("--requests-per-connection", self.requests_per_connection.is_some()),
            ("--idle-connections", self.idle_connections.is_some()),
        ];
        given.into_iter().find_map(|(flag, is_given)| is_given.then_some(flag))
    }
}
