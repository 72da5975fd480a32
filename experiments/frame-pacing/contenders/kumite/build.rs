//! Puts the versions of compiler and kumite-play into the binary, for `--version`.

use std::{env, fs, process::Command};

fn main() {
    let rustc = Command::new(env::var("RUSTC").unwrap()).arg("--version").output().unwrap();
    let rustc = String::from_utf8(rustc.stdout).unwrap();
    let lock = fs::read_to_string("Cargo.lock").unwrap();
    let (_, play) = lock.split_once("name = \"kumite-play\"\nversion = \"").unwrap();
    let play = play.split('"').next().unwrap();
    println!("cargo::rerun-if-changed=Cargo.lock");
    println!("cargo::rustc-env=VERSIONS={}, kumite-play {play}", rustc.trim());
}
