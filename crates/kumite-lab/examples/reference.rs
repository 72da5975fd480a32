//! Prints `docs/reference.md`.

fn main() {
    print!("{}", kumite_lab::reference());
}
