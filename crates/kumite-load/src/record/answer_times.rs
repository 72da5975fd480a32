//! Response times of answers, and their times to the first byte.
//!
//! Nearly all answers come in one piece, and then the two are the same. So only answers in several pieces are counted
//! twice, and an answer in one piece costs no more than its response time does.

use hdrhistogram::Histogram;

use crate::record::histogram::{add, histogram};

/// The times of answers in ns.
#[derive(Clone)]
pub(crate) struct AnswerTimes {
    /// The response times of all answers.
    pub response: Histogram<u64>,
    /// The times of those answers that came in several pieces; `None` if none did.
    in_pieces: Option<Box<InPieces>>,
}

#[derive(Clone)]
struct InPieces {
    response: Histogram<u64>,
    first_byte: Histogram<u64>,
}

impl AnswerTimes {
    pub fn new() -> AnswerTimes {
        AnswerTimes { response: histogram(), in_pieces: None }
    }

    /// Adds an answer. `first_byte` is at most `response`.
    #[inline]
    pub fn record(&mut self, response: u64, first_byte: u64) {
        self.response.record(response).expect("a histogram that grows takes any value");
        if first_byte != response {
            self.record_in_pieces(response, first_byte);
        }
    }

    fn record_in_pieces(&mut self, response: u64, first_byte: u64) {
        let times = self.in_pieces.get_or_insert_with(InPieces::new);
        times.response.record(response).expect("a histogram that grows takes any value");
        times.first_byte.record(first_byte).expect("a histogram that grows takes any value");
    }

    /// Adds the answers of another thread.
    pub fn add(&mut self, other: &AnswerTimes) {
        add(&mut self.response, &other.response);
        if let Some(others) = &other.in_pieces {
            let times = self.in_pieces.get_or_insert_with(InPieces::new);
            add(&mut times.response, &others.response);
            add(&mut times.first_byte, &others.first_byte);
        }
    }

    /// The times to the first byte of all answers; `None` if they are the response times.
    pub fn first_byte(&self) -> Option<Histogram<u64>> {
        let in_pieces = self.in_pieces.as_ref()?;
        let mut times = self.response.clone();
        times.subtract(&in_pieces.response).expect("what is taken away was added");
        add(&mut times, &in_pieces.first_byte);
        Some(times)
    }

    pub fn is_empty(&self) -> bool {
        self.response.is_empty()
    }

    pub fn clear(&mut self) {
        self.response.reset();
        self.in_pieces = None;
    }
}

impl InPieces {
    fn new() -> Box<InPieces> {
        Box::new(InPieces { response: histogram(), first_byte: histogram() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_to_the_first_byte_are_those_of_counting_each_answer_twice() {
        let mut seed = 7_u64;
        let mut draw = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        let (mut both, mut expected) = (AnswerTimes::new(), histogram());
        for _ in 0..2 {
            let mut times = AnswerTimes::new();
            for nth in 0..10_000 {
                let response = draw(1 << 31);
                let first_byte = if nth % 3 == 0 { draw(response + 1) } else { response };
                times.record(response, first_byte);
                expected.record(first_byte).unwrap();
            }
            both.add(&times);
        }
        assert_eq!((both.first_byte(), both.response.len()), (Some(expected), 20_000));
    }

    #[test]
    fn answers_in_one_piece_are_counted_once() {
        let mut times = AnswerTimes::new();
        times.record(5, 5);
        assert_eq!((times.first_byte(), times.response.len()), (None, 1));
        times.record(5, 3);
        times.clear();
        assert_eq!((times.first_byte(), times.is_empty()), (None, true));
    }
}
