//! The prospects of a plan's claims, in words.

use kumite_record::{Prospect, Prospects};

/// The table of a plan's claims: the number of comparisons of each, and the numbers of blocks that it needs to hold and
/// to fail. A number above `blocks`, the blocks of the plan, has a `(!)`. Empty if there are no claims.
pub fn table(prospects: &Prospects, blocks: u32) -> String {
    if prospects.of_claims.is_empty() {
        return String::new();
    }
    let fewest = |needed: Option<usize>| match needed {
        None => "cannot".to_owned(),
        Some(needed) if needed > blocks as usize => format!("{needed} (!)"),
        Some(needed) => needed.to_string(),
    };
    let width = prospects.of_claims.iter().map(|of| of.id.chars().count()).max().unwrap_or(0).max(5);
    let mut text = format!(
        "\n{}. Blocks that each needs by itself if 90 % of\nrounds agree (a clearer claim needs fewer):\n  {:width$}  comparisons  to hold  to fail\n",
        claims(prospects.claims),
        "claim"
    );
    for of in &prospects.of_claims {
        let (hold, fail) = (fewest(of.to_hold), fewest(of.to_fail));
        text += &format!("  {:width$}  {:11}  {hold:7}  {fail}\n", of.id, of.comparisons);
    }
    text
}

/// The notes before a run: the number of claims, and the claims for which `blocks` blocks are too few.
pub fn prospect_notes(prospects: &Prospects, blocks: u32) -> Vec<String> {
    prospect_outlook(prospects, blocks).into_iter().chain(prospect_faults(prospects, blocks)).collect()
}

/// The note on the number of claims, and on the fewest blocks that one of them needs, beside the `blocks` of the plan.
/// None if there are no claims.
pub fn prospect_outlook(prospects: &Prospects, blocks: u32) -> Option<String> {
    if prospects.of_claims.is_empty() {
        return None;
    }
    let most = prospects.of_claims.iter().map(|of| of.comparisons).max().unwrap_or(0);
    let fewest =
        prospects.of_claims.iter().filter_map(|of| of.to_hold.into_iter().chain(of.to_fail).min()).min();
    let fewest = match fewest {
        None => format!("there are at most {blocks} blocks"),
        Some(fewest) if fewest > blocks as usize => {
            format!("a claim needs about {fewest} blocks and there are {blocks}; a clear one needs fewer")
        }
        Some(fewest) => format!("a claim needs about {fewest} of the {blocks} blocks; a clear one fewer"),
    };
    let of = if most == 1 { "of 1 comparison".to_owned() } else { format!("of up to {most} comparisons") };
    Some(format!("{}, {of}: {fewest}", claims(prospects.claims)))
}

/// A note for each claim that cannot hold, or cannot fail, with at most `blocks` blocks. It has the remedy, if there is
/// one.
pub fn prospect_faults(prospects: &Prospects, blocks: u32) -> Vec<String> {
    prospects.of_claims.iter().filter_map(|of| fault(of, blocks as usize)).collect()
}

fn fault(of: &Prospect, blocks: usize) -> Option<String> {
    let id = &of.id;
    let can = |needed: Option<usize>| needed.is_some_and(|needed| needed <= blocks);
    let (few_to, never) = match (can(of.to_hold), can(of.to_fail)) {
        (true, true) => return None,
        (true, false) => ("fail", "can hold and never fail"),
        (false, true) => ("hold", "can fail and never hold"),
        (false, false) => ("be decided", "cannot be decided"),
    };
    Some(match of.blocks() {
        Some(needed) => format!(
            "claim {id} needs {needed} blocks to {few_to} if 90 % of rounds agree, and there are {blocks}: set blocks = {needed}"
        ),
        None => format!("claim {id} {never}: the plan does not try all that it compares"),
    })
}

fn claims(count: usize) -> String {
    match count {
        1 => "1 claim is judged".to_owned(),
        n => format!("{n} claims are judged together"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prospects(to_hold: Option<usize>, to_fail: Option<usize>) -> Prospects {
        let of = Prospect { id: "a-leads".to_owned(), comparisons: 3, to_hold, to_fail };
        Prospects { claims: 1, fewest: Some(5), of_claims: vec![of] }
    }

    #[test]
    fn a_plan_that_cannot_decide_says_which_number_would_do() {
        let faults = |to_hold, to_fail| prospect_faults(&prospects(to_hold, to_fail), 12);
        assert_eq!(faults(Some(12), Some(12)), Vec::<String>::new());
        assert_eq!(
            faults(Some(12), Some(18)),
            [
                "claim a-leads needs 18 blocks to fail if 90 % of rounds agree, and there are 12: set blocks = 18"
            ]
        );
        assert_eq!(
            faults(Some(16), Some(18)),
            [
                "claim a-leads needs 18 blocks to be decided if 90 % of rounds agree, and there are 12: set blocks = 18"
            ]
        );
        assert_eq!(
            faults(None, Some(12)),
            ["claim a-leads can fail and never hold: the plan does not try all that it compares"]
        );
    }

    #[test]
    fn a_run_begins_with_what_it_takes() {
        let notes = prospect_notes(&prospects(Some(16), Some(18)), 24);
        assert_eq!(
            notes,
            [
                "1 claim is judged, of up to 3 comparisons: a claim needs about 16 of the 24 blocks; a clear one fewer"
            ]
        );
    }

    #[test]
    fn a_table_has_a_line_for_each_claim() {
        let expected = "\n1 claim is judged. Blocks that each needs by itself if 90 % of\nrounds agree (a clearer claim needs fewer):\n  claim    comparisons  to hold  to fail\n  a-leads            3  16 (!)   cannot\n";
        assert_eq!(table(&prospects(Some(16), None), 12), expected);
        assert_eq!(table(&Prospects { claims: 0, fewest: None, of_claims: Vec::new() }, 12), "");
    }
}
