//! The probe of memory: a chain of loads through 64 MiB, in which each load says where the next one is, so that
//! caches do not help.

use std::hint::black_box;
use std::io;
use std::time::Duration;

use crate::memory::Fresh;
use crate::slice::portions;

/// The size of the chain's memory in bytes: more than the caches of most machines.
const BYTES: usize = 64 << 20;
/// The number of words in a cache line of 64 bytes.
const LINE: usize = 64 / size_of::<u32>();
const LINES: usize = BYTES / 64;
/// The number of loads in a portion, which takes about a tenth of a millisecond.
pub(crate) const STEPS: u32 = 1_000;

/// The chain of loads, and the position in it.
pub(crate) struct Chase {
    memory: Fresh,
    at: u32,
}

impl Chase {
    /// Maps the memory and fills it with the chain, which takes longer than a probe. An error if the kernel gives no
    /// memory.
    pub fn new() -> io::Result<Chase> {
        let mut memory = Fresh::map(BYTES)?;
        link(memory.words(), LINES);
        Ok(Chase { memory, at: 0 })
    }

    /// Follows the chain for `time`, in portions of [`STEPS`] loads, and returns how long each portion took.
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

/// Links the first words of all lines to one circle in random order (Sattolo's algorithm), so that no prefetcher can
/// guess the next line.
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
