//! The findings of the experiment's checker on a server's answers. The checker looks at some of the answers that passed
//! all other checks, once the server has ended.

use kumite_record::{AnswersChecked, Outcome, RequestChecked};

use crate::driver::Measured;

/// A reason against a server's answers.
#[derive(Debug, PartialEq)]
pub(super) enum Against {
    /// The checker found an answer wrong.
    Wrong(String),
    /// The checker came to no finding, or had nothing to look at.
    Unchecked(String),
}

impl Against {
    /// The reason against the answers on which the checker came to these findings. None if it looked at some, and all
    /// of these are right.
    pub fn of(checked: &AnswersChecked) -> Option<Against> {
        let sum = |count: fn(&RequestChecked) -> u64| checked.requests.iter().map(count).sum();
        let (right, wrong): (u64, u64) = (sum(|of| of.right), sum(|of| of.wrong));
        let first = checked.requests.iter().find_map(|of| of.first_wrong.as_ref().map(|why| (&of.name, why)));
        if let Some((name, why)) = first {
            let all = right + wrong;
            return Some(Against::Wrong(format!(
                "the checker found {wrong} of {all} answers wrong, one to '{name}': {why}"
            )));
        }
        if let Some(why) = &checked.undecided {
            return Some(Against::Unchecked(format!("an answer could not be checked: {why}")));
        }
        (right == 0).then(|| {
            Against::Unchecked(
                "the checker had nothing to look at: no answer that was drawn was right and kept".to_owned(),
            )
        })
    }

    /// The reason in words.
    pub fn words(self) -> String {
        match self {
            Against::Wrong(why) | Against::Unchecked(why) => why,
        }
    }

    /// Puts the reason into a trial whose answers passed all other checks. The trial is disqualified if an answer is
    /// wrong, and else failed.
    pub fn tell(self, measured: &mut Measured) {
        let outcome = match &self {
            Against::Wrong(_) => Outcome::Disqualified,
            Against::Unchecked(_) => Outcome::Failed,
        };
        (measured.outcome, measured.reason) = (outcome, Some(self.words()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_wrong_answer_is_enough_and_no_answer_proves_nothing() {
        let request = |right, wrong: Option<&str>| RequestChecked {
            name: "GET /".to_owned(),
            right,
            wrong: u64::from(wrong.is_some()),
            first_wrong: wrong.map(str::to_owned),
        };
        let of = |requests: Vec<RequestChecked>, undecided: Option<&str>| {
            let undecided = undecided.map(str::to_owned);
            Against::of(&AnswersChecked { requests, undecided, ..AnswersChecked::default() })
        };
        assert_eq!(of(vec![request(2, None)], None), None);
        let wrong = of(vec![request(3, None), request(1, Some("no rows"))], Some("GET /: it was killed"));
        let why = "the checker found 1 of 5 answers wrong, one to 'GET /': no rows";
        assert_eq!(wrong, Some(Against::Wrong(why.to_owned())));
        let why = "an answer could not be checked: GET /: it was killed";
        assert_eq!(
            of(vec![request(3, None)], Some("GET /: it was killed")),
            Some(Against::Unchecked(why.to_owned()))
        );
        assert!(matches!(of(Vec::new(), None), Some(Against::Unchecked(_))));
        let mut measured = Measured::answered(None);
        Against::Wrong("no rows".to_owned()).tell(&mut measured);
        assert_eq!((measured.outcome, measured.reason.as_deref()), (Outcome::Disqualified, Some("no rows")));
    }
}
