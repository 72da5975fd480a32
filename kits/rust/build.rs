//! Puts the compiler's version into the kit, for the answer to hello.

use std::{env, process::Command};

fn main() {
    let rustc = Command::new(env::var("RUSTC").unwrap()).arg("--version").output().unwrap();
    let version = String::from_utf8(rustc.stdout).unwrap();
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=RUSTC_VERSION={}", version.trim());
}
