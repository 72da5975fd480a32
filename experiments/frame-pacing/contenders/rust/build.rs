//! Puts the versions of compiler and tokio into the binary, for `--version`.

use std::{env, fs, process::Command};

fn main() {
    let rustc = Command::new(env::var("RUSTC").unwrap()).arg("--version").output().unwrap();
    let rustc = String::from_utf8(rustc.stdout).unwrap();
    let lock = fs::read_to_string("Cargo.lock").unwrap();
    let (_, tokio) = lock.split_once("name = \"tokio\"\nversion = \"").unwrap();
    let tokio = tokio.split('"').next().unwrap();
    println!("cargo::rerun-if-changed=Cargo.lock");
    println!("cargo::rustc-env=VERSIONS={}, tokio {tokio}", rustc.trim());
}
