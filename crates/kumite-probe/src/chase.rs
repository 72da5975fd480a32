//! A chain of loads through 64 MiB, of which each says where the next is: what memory takes, caches set aside.

use std::hint::black_box;
use std::io;
use std::time::Duration;

use crate::memory::Fresh;
use crate::slice::portions;

/// More than the caches of most machines.
const BYTES: usize = 64 << 20;
/// Words in a line of the cache.
const LINE: usize = 64 / size_of::<u32>();
const LINES: usize = BYTES / 64;
/// About a tenth of a millisecond.
pub(crate) const STEPS: u32 = 1_000;

/// The chain, and where it is.
pub(crate) struct Chase {
    memory: Fresh,
    at: u32,
}

impl Chase {
    /// Maps and fills the memory, which takes longer than a probe.
    pub fn new() -> io::Result<Chase> {
        let mut memory = Fresh::map(BYTES)?;
        link(memory.words(), LINES);
        Ok(Chase { memory, at: 0 })
    }

    /// How long [`STEPS`] took, for each of some portions.
    pub fn portions(&mut self, time: Duration) -> Vec<Duration> {
        let (words, mut at) = (self.memory.words(), self.at);
        let took = portions(time, || {
            for _ in 0..STEPS {
                at = words[at as usize];
            }
            black_box(at);
        });
        self.at = at;
        took
    }
}

/// One circle through the first words of all lines, in random order (Sattolo): no prefetcher knows where it goes on.
fn link(words: &mut [u32], lines: usize) {
    for line in 0..lines {
        words[line * LINE] = (line * LINE) as u32;
    }
    let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
    for last in (1..lines).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let other = (state % last as u64) as usize;
        words.swap(last * LINE, other * LINE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chain_goes_through_every_line_once_and_comes_back() {
        let lines = 1000;
        let mut words = vec![0; lines * LINE];
        link(&mut words, lines);
        let (mut at, mut seen) = (0_u32, vec![false; lines]);
        for _ in 0..lines {
            at = words[at as usize];
            assert!(!std::mem::replace(&mut seen[at as usize / LINE], true), "{at}");
        }
        assert_eq!(at, 0);
    }
}
