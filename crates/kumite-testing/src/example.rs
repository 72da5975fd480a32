//! Programs that tests start.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use kumite_process::spawn_unmarked;

/// The path of an example of the crate under test: cargo puts it beside the folder of its tests. `cargo test` builds
/// examples, but `cargo test --test NAME` does not: a missing one is built here. Panics if it cannot be.
pub fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test knows where it is");
    let folder = test.ancestors().nth(2).expect("tests are in a folder");
    let built = folder.join("examples").join(name);
    static BUILDING: Mutex<()> = Mutex::new(());
    let _one_at_a_time = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    if !built.is_file() {
        build_example(name, folder);
    }
    assert!(built.is_file(), "{}: `cargo build --examples` makes it", built.display());
    built
}

/// Builds an example of the crate under test, in the same profile as its tests. `folder` is the one above the tests.
/// Panics if that fails.
pub fn build_example(name: &str, folder: &Path) {
    let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    build.args(["build", "--quiet", "--example", name]);
    build.args(folder.ends_with("release").then_some("--release"));
    build.current_dir(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo says which crate it tests"));
    build.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let said = spawn_unmarked(&mut build).and_then(Child::wait_with_output).expect("cargo can be started");
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
}
