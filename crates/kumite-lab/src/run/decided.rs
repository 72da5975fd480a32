//! The claims that are decided while a run goes on, and the news about them. Nothing is judged here.

use std::collections::BTreeSet;

use kumite_record::{Claim, Verdict};

/// The claims that have a verdict so far. A claim is news when it is decided, and when its verdict is taken back.
#[derive(Debug, Default)]
pub struct Decided {
    claims: usize,
    ids: BTreeSet<String>,
    news: Vec<Claim>,
}

impl Decided {
    /// Takes the claims as they stand after a round.
    pub fn add(&mut self, claims: Vec<Claim>) {
        self.claims = claims.len();
        for claim in claims {
            let is_open = matches!(claim.verdict, Verdict::Undecided | Verdict::NotTested);
            let is_news = match is_open {
                // In a run that is judged at its end, by the strict rule, later rounds may take a verdict back.
                true => self.ids.remove(&claim.id),
                false => self.ids.insert(claim.id.clone()),
            };
            if is_news {
                self.news.push(claim);
            }
        }
    }

    /// The claims that were decided, or became open again, since the last call of this method.
    pub fn news(&mut self) -> Vec<Claim> {
        std::mem::take(&mut self.news)
    }

    /// The number of decided claims, and of all claims. `None` before the claims are first judged, and if there are no
    /// claims.
    pub fn tally(&self) -> Option<(usize, usize)> {
        (self.claims > 0).then_some((self.ids.len(), self.claims))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_news_once_when_it_is_decided() {
        let claim = |id: &str, verdict| Claim { id: id.into(), verdict, ..Claim::default() };
        let mut decided = Decided::default();
        assert_eq!(decided.tally(), None);
        let ids = |claims: Vec<Claim>| claims.into_iter().map(|claim| claim.id).collect::<Vec<_>>();
        decided.add(vec![claim("a", Verdict::Undecided), claim("b", Verdict::Fails)]);
        assert_eq!((ids(decided.news()), decided.tally()), (vec!["b".to_owned()], Some((1, 2))));
        decided.add(vec![claim("a", Verdict::Holds), claim("b", Verdict::Fails)]);
        assert_eq!(ids(decided.news()), ["a"]);
        assert!(decided.news().is_empty());
        decided.add(vec![claim("a", Verdict::Undecided), claim("b", Verdict::Fails)]);
        assert_eq!((ids(decided.news()), decided.tally()), (vec!["a".to_owned()], Some((1, 2))));
    }
}
