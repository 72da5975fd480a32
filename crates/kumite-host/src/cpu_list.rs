//! Lists of CPUs in the notation that users write, such as `0,2-3`.

use std::str::FromStr;

use thiserror::Error;

/// The highest CPU number that is accepted. A higher one is taken for a slip of the user.
const HIGHEST: usize = 4095;

/// The numbers of some CPUs. If they were parsed, they are ascending, each occurs once, and there is at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuList(pub Vec<usize>);

/// The error that a text is no list of CPUs: not in the notation, without a CPU, or with a number above 4095.
#[derive(Debug, PartialEq, Eq, Error)]
#[error("expected CPUs such as 1 or 0,2-3")]
pub struct CpuListError;

impl FromStr for CpuList {
    type Err = CpuListError;

    fn from_str(text: &str) -> Result<CpuList, CpuListError> {
        let number =
            |text: &str| text.trim().parse().ok().filter(|cpu: &usize| *cpu <= HIGHEST).ok_or(CpuListError);
        let mut cpus = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (number(first)?, number(last)?);
            if last < first {
                return Err(CpuListError);
            }
            cpus.extend(first..=last);
        }
        cpus.sort_unstable();
        cpus.dedup();
        Ok(CpuList(cpus))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_numbers_are_read_and_all_else_is_refused() {
        assert_eq!("1".parse(), Ok(CpuList(vec![1])));
        assert_eq!("3,0-1, 1".parse(), Ok(CpuList(vec![0, 1, 3])));
        for text in ["", "a", "1-", "2-1", "0,3-2", "0,,1", "4096", "-1"] {
            assert_eq!(text.parse::<CpuList>(), Err(CpuListError), "{text}");
        }
    }
}
