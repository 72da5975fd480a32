//! The table of the crate's documentation, printed anew: `cargo run --release -p kumite-stats --example hits`. `cargo
//! test` asserts some of it.

mod series;

use series::{NOISES, SHAPES, row};

fn main() {
    println!("| | {} |", NOISES.map(|noise| noise.name).join(" | "));
    println!("| --- |{}", " --- |".repeat(NOISES.len()));
    for shape in &SHAPES {
        let cell = |hits: &Vec<f64>| {
            hits.iter().map(|share| format!("{:.0}", share * 100.0)).collect::<Vec<_>>().join(" ")
        };
        let cells: Vec<String> = row(shape, &[15, 30, 100, 300], 1_000).iter().map(cell).collect();
        println!("| {} | {} |", shape.name, cells.join(" | "));
    }
}
