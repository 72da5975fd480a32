//! Links as an add-on must, and puts the versions of compiler and library into it.

use std::{env, fs, process::Command};

fn main() {
    napi_build::setup();

    let rustc = Command::new(env::var("RUSTC").unwrap()).arg("--version").output().unwrap();
    let rustc = String::from_utf8(rustc.stdout).unwrap();
    let lock = fs::read_to_string("Cargo.lock").unwrap();
    let (_, rest) = lock.split_once("name = \"napi\"\nversion = \"").unwrap();
    let napi = rest.split('"').next().unwrap();
    println!("cargo::rerun-if-changed=Cargo.lock");
    println!("cargo::rustc-env=VERSIONS={}, napi {napi}", rustc.trim());
}
