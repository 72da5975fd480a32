//! Tables of rates.

use crate::noise::NOISES;
use crate::rates::{Rate, Rates, simulate_all};
use crate::run::{Dependence, Scenario};
use crate::scenarios::Row;

/// Rows, with their rates in each kind of noise.
pub struct Table {
    rows: Vec<(Row, Vec<Rates>)>,
}

/// One column of rates in a table.
#[derive(Clone, Copy)]
pub struct Figure {
    pub title: &'static str,
    pub of: fn(&Rates) -> &[Rate; 3],
    /// The highest value that a rate may have.
    pub limit: f64,
}

impl Table {
    pub fn new(mut rows: Vec<Row>, runs: usize) -> Table {
        let scenarios: Vec<Scenario> = rows.iter_mut().flat_map(|row| row.scenarios.drain(..)).collect();
        let mut rates = simulate_all(&scenarios, runs).into_iter();
        Table {
            rows: rows.into_iter().map(|row| (row, rates.by_ref().take(NOISES.len()).collect())).collect(),
        }
    }

    pub fn print(&self, figure: Figure) {
        let Figure { title, of, limit } = figure;
        println!(
            "\n{title}\n\n| | k | dependence | {} |",
            NOISES.each_ref().map(|noise| noise.name).join(" | ")
        );
        println!("| --- | --- | --- |{}", " --- |".repeat(NOISES.len()));
        for (row, rates) in &self.rows {
            let cells: Vec<String> = rates.iter().map(|rates| cell(of(rates), limit)).collect();
            println!("| {} | {} | {} | {} |", row.truth, row.k, name(row.dependence), cells.join(" | "));
        }
        let all = self.rows.iter().flat_map(|(_, rates)| rates).flat_map(of);
        let failing = all.clone().filter(|rate| rate.is_above(limit)).count();
        println!("\n{failing} of {} figures are above {} %.", all.count(), 100.0 * limit);
        self.print_highest(figure);
    }

    /// The highest figure of each truth and number of comparisons.
    fn print_highest(&self, Figure { title, of, limit }: Figure) {
        let mut ks: Vec<usize> = self.rows.iter().map(|(row, _)| row.k).collect();
        ks.sort_unstable();
        ks.dedup();
        let heads: Vec<String> = ks.iter().map(|k| format!("k = {k}")).collect();
        println!("\n{title}: the highest of all noises and dependences\n\n| | {} |", heads.join(" | "));
        println!("| --- |{}", " --- |".repeat(ks.len()));
        let mut truths: Vec<&String> = self.rows.iter().map(|(row, _)| &row.truth).collect();
        truths.dedup();
        for truth in truths {
            let highest_of = |k: &usize| {
                let here = self.rows.iter().filter(|(row, _)| row.truth == *truth && row.k == *k);
                let rates: Vec<&[Rate; 3]> = here.flat_map(|(_, rates)| rates).map(of).collect();
                let highest = |stop: usize| {
                    rates.iter().map(|rates| rates[stop]).max_by(|a, b| a.mean().total_cmp(&b.mean()))
                };
                cell(&[0, 1, 2].map(|stop| highest(stop).unwrap_or_default()), limit)
            };
            let cells: Vec<String> = ks.iter().map(highest_of).collect();
            println!("| {truth} | {} |", cells.join(" | "));
        }
    }
}

fn cell(rates: &[Rate; 3], limit: f64) -> String {
    let mark = |rate: &Rate| if rate.is_above(limit) { "!" } else { "" };
    rates.each_ref().map(|rate| format!("{:.1}{}", 100.0 * rate.mean(), mark(rate))).join(" ")
}

fn name(dependence: Dependence) -> &'static str {
    match dependence {
        Dependence::Independent => "independent",
        Dependence::TiedComparisons => "comparisons tied",
        Dependence::TiedClaims => "claims tied",
    }
}
