//! A parser of a chunked body (RFC 9112, section 7.1), byte by byte.

use super::Malformed;
use crate::field::{is_text, is_token};

pub(super) const OVERHEAD_LIMIT: usize = 64 * 1024;

/// The state of reading a chunked body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Chunked {
    state: ChunkState,
    /// While a size line is read, the chunk's size so far; after it, the bytes of the chunk that are still to come.
    left: u64,
    /// The number of bytes since the last chunk's data: size, extensions, trailers.
    overhead: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChunkState {
    FirstDigit,
    Digits,
    AfterSize,
    Extension,
    SizeLf,
    Data,
    DataCr,
    DataLf,
    TrailerStart,
    TrailerName,
    TrailerValue,
    TrailerLf,
    EndLf,
}

impl Chunked {
    /// The state before the first chunk.
    pub const START: Chunked = Chunked { state: ChunkState::FirstDigit, left: 0, overhead: 0 };

    /// Takes the data of a chunk among the next `available` bytes, and returns their number. 0 if the next byte is
    /// not data, and is for [`step`](Chunked::step).
    #[inline]
    pub fn take_data(&mut self, available: usize) -> usize {
        if self.state != ChunkState::Data {
            return 0;
        }
        let here = usize::try_from(self.left).map_or(available, |left| left.min(available));
        self.left -= here as u64;
        if self.left == 0 {
            self.state = ChunkState::DataCr;
        }
        here
    }

    /// Takes a byte that is not data. `true` if it was the last byte of the body. The error says which rule of the
    /// chunked coding the byte breaks.
    #[inline]
    pub fn step(&mut self, byte: u8) -> Result<bool, Malformed> {
        use ChunkState::*;
        self.state = match (self.state, byte) {
            (FirstDigit | Digits, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                let digit = (byte as char).to_digit(16).map_or(0, u64::from);
                self.left =
                    self.left.checked_mul(16).ok_or(Malformed("a chunk is longer than 64 bits can say"))?
                        + digit;
                self.overhead += 1;
                Digits
            }
            (Digits | AfterSize | Extension, b'\r') => SizeLf,
            (Digits | AfterSize, b';') => Extension,
            (Digits | AfterSize, b' ' | b'\t') => {
                self.overhead += 1;
                AfterSize
            }
            (Extension, byte) if is_text(byte) => {
                self.overhead += 1;
                Extension
            }
            (SizeLf, b'\n') if self.left == 0 => TrailerStart,
            (SizeLf, b'\n') => {
                self.overhead = 0;
                Data
            }
            (DataCr, b'\r') => DataLf,
            (DataLf, b'\n') => FirstDigit,
            (TrailerStart, b'\r') => EndLf,
            (EndLf, b'\n') => return Ok(true),
            (TrailerStart | TrailerName, byte) if is_token(byte) => {
                self.overhead += 1;
                TrailerName
            }
            (TrailerName, b':') => TrailerValue,
            (TrailerValue, b'\r') => TrailerLf,
            (TrailerValue, byte) if is_text(byte) => {
                self.overhead += 1;
                TrailerValue
            }
            (TrailerLf, b'\n') => TrailerStart,
            _ => return Err(Malformed("its chunks are not framed as chunks are")),
        };
        if self.overhead > OVERHEAD_LIMIT {
            Err(Malformed("more than 64 KiB are framing of one chunk"))
        } else {
            Ok(false)
        }
    }
}
