//! The names by which trees and groups are known as ours.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::mark::Mark;
use crate::owner::Owner;

/// A new token, for the name of a group.
pub(crate) fn token() -> String {
    token_and_mark().0
}

/// A new token, which the members of a tree carry in their environment, and the tree's mark. If we cannot tell our
/// own pid namespace, the token names namespace 0, in which no process is, and there is no mark.
pub(crate) fn token_and_mark() -> (String, Option<Mark>) {
    static STARTED: AtomicU64 = AtomicU64::new(0);
    let count = STARTED.fetch_add(1, Ordering::Relaxed);
    match Owner::this() {
        Some(owner) => (format!("{owner}-{count}"), Mark::new(&owner, count)),
        None => (format!("0-{}-0-{count}", std::process::id()), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_names_its_owner() {
        let (one, two) = (token(), token());
        assert_ne!(one, two);
        assert_eq!(Owner::parse(&one), Owner::this());
        assert_eq!(Owner::parse("7-42-99-3"), Some(Owner { namespace: 7, pid: 42, started: 99 }));
    }
}
