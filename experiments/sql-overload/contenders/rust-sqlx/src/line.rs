//! The line before the pool.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{sync::oneshot, time::timeout};

const PATIENCE: Duration = Duration::from_secs(1);

/// What one gets who finds the line full, or whose turn has not come in time.
pub struct Refused;

/// Lets in as many as there are free places. Others wait for a turn, for a second at most.
pub struct Line {
    waiting_max: usize,
    /// The last who came is the next, and not the first.
    last_first: bool,
    places: Mutex<Places>,
}

struct Places {
    free: usize,
    waiting: VecDeque<oneshot::Sender<Place>>,
}

/// Goes to the next in the line when it is dropped.
pub struct Place(Arc<Line>);

impl Line {
    pub fn new(free: usize, waiting_max: usize, last_first: bool) -> Arc<Line> {
        let places = Mutex::new(Places { free, waiting: VecDeque::new() });
        Arc::new(Line { waiting_max, last_first, places })
    }

    pub async fn enter(self: &Arc<Line>) -> Result<Place, Refused> {
        let turn = {
            let mut places = self.places.lock().unwrap();
            if places.free > 0 {
                places.free -= 1;
                return Ok(Place(self.clone()));
            }
            // Those whose patience has ended, or whose client has gone away.
            places.waiting.retain(|turn| !turn.is_closed());
            if places.waiting.len() >= self.waiting_max {
                return Err(Refused);
            }
            let (sender, turn) = oneshot::channel();
            places.waiting.push_back(sender);
            turn
        };
        match timeout(PATIENCE, turn).await {
            Ok(Ok(place)) => Ok(place),
            _ => Err(Refused),
        }
    }

    /// Who is to have a place that came free; if nobody waits it stays free.
    fn next(&self) -> Option<oneshot::Sender<Place>> {
        let mut places = self.places.lock().unwrap();
        let next = if self.last_first { places.waiting.pop_back() } else { places.waiting.pop_front() };
        if next.is_none() {
            places.free += 1;
        }
        next
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(turn) = self.0.next() {
            // If nobody is there any more, the place is dropped again, and goes to the next.
            let _ = turn.send(Place(self.0.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::RefCell, time::Instant};

    use super::*;

    #[tokio::test]
    async fn who_is_next() {
        for (last_first, expected) in [(false, "abc"), (true, "cba")] {
            let line = Line::new(1, 3, last_first);
            let place = line.enter().await;
            let turns = RefCell::new(String::new());
            let take = async |name| {
                let _place = line.enter().await;
                turns.borrow_mut().push(name);
            };
            // Biased: they come in this order.
            tokio::join!(biased; take('a'), take('b'), take('c'), async {
                assert!(line.enter().await.is_err());
                drop(place);
            });
            assert_eq!(turns.into_inner(), expected);
        }
    }

    #[tokio::test]
    async fn patience() {
        let line = Line::new(1, usize::MAX, false);
        let place = line.enter().await;
        let began = Instant::now();
        assert!(line.enter().await.is_err());
        assert!(began.elapsed() >= PATIENCE);
        drop(place);
        assert!(line.enter().await.is_ok());
    }
}
