//! Calls that nobody waits for: each is made when its turn comes, and up to twice more if it fails.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

use super::{Call, FunctionState, stopping};
use crate::{Invocation, Refused};

/// The most places in a function's queue. A long payload takes several, so that all payloads have at most about 330
/// MB.
const MOST_WAITING: usize = 10_000;
/// The bytes of a payload for each place in the queue.
const BYTES_OF_A_PLACE: usize = 32 << 10;
/// The times to wait after the first and the second failure of a call before it is made again: AWS's defaults.
const RETRIES: [Duration; 2] = [Duration::from_secs(60), Duration::from_secs(120)];
/// The age at which a call is given up: AWS's default.
const OLDEST: Duration = Duration::from_secs(6 * 3600);

/// The places in a function's queue.
pub(super) fn room() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(MOST_WAITING))
}

fn places(call: &Call) -> u32 {
    1 + u32::try_from(call.payload.len() / BYTES_OF_A_PLACE).unwrap_or(u32::MAX)
}

impl FunctionState {
    /// Takes a call over, to be made later. It is refused if the queue has no room for it.
    pub fn enqueue(self: &Arc<Self>, call: Call) -> Result<(), Refused> {
        let place = Arc::clone(&self.room).try_acquire_many_owned(places(&call));
        let place = place.map_err(|_| Refused::QueueFull)?;
        let function = Arc::clone(self);
        tokio::spawn(async move {
            let id = call.request_id.clone();
            if let Err(why) = function.delivered(call).await {
                // The caller is gone, so the reason goes to the log.
                let name = &function.setting.function.name;
                (function.tell)(&format!("RequestId: {id} of {name} is given up: {why}\n"));
            }
            drop(place);
        });
        Ok(())
    }

    /// Makes a call until it succeeds, at most three times. The error is the reason why it was given up.
    async fn delivered(&self, call: Call) -> Result<(), &'static str> {
        let stopped = "the host is stopped";
        let mut retries = RETRIES.into_iter();
        loop {
            let left = OLDEST.saturating_sub(call.offered.elapsed());
            let turn = tokio::select! {
                biased;
                () = stopping(self.stop.clone()) => return Err(stopped),
                turn = tokio::time::timeout(left, self.turns.of_event()) => turn,
            };
            let turn = turn.map_err(|_| "no instance was free for it in six hours")?;
            match self.called(turn, Call { offered: Instant::now(), ..call.clone() }).await {
                Ok(Invocation { error: None, .. }) => return Ok(()),
                Err(Refused::Stopping) => return Err(stopped),
                Ok(_) | Err(_) => {}
            }
            tokio::select! {
                biased;
                () = stopping(self.stop.clone()) => return Err(stopped),
                () = tokio::time::sleep(retries.next().ok_or("it has failed three times")?) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_payload_has_the_places_of_several_calls() {
        let places_of = |length| places(&Call::new(vec![b' '; length].into()));
        assert_eq!((places_of(2), places_of(32 << 10), places_of(1 << 20)), (1, 2, 33));
        let most_bytes = MOST_WAITING / places_of(1 << 20) as usize * (1 << 20);
        assert!(most_bytes < 330 << 20, "{most_bytes}");
    }
}
