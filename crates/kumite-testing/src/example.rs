//! Programs that tests start.

use std::path::PathBuf;

/// Where cargo has put an example of the crate under test: beside the folder of its tests.
pub fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test knows where it is");
    let built = test.ancestors().nth(2).expect("tests are in a folder").join("examples").join(name);
    assert!(built.is_file(), "{}: `cargo test` or `cargo build --examples` makes it", built.display());
    built
}
