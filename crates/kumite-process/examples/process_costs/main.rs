//! Measures the cost of watching a tree, the cost of control groups and how well they limit: `cargo run --release -p
//! kumite-process --example process_costs`. It prints figures of this machine, and takes some four minutes.

mod groups;
mod members;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.as_slice() {
        [] => {
            members::usage();
            groups::costs();
            groups::shares();
        }
        [what, cpu_ms] if what == "burst" => groups::burst(cpu_ms.parse().expect("a number of ms")),
        _ => panic!("{args:?}"),
    }
}
