//! Puts the versions of compiler and libraries into the binary, for `--version`.

use std::{env, fs, process::Command};

fn main() {
    let rustc = Command::new(env::var("RUSTC").unwrap()).arg("--version").output().unwrap();
    let rustc = String::from_utf8(rustc.stdout).unwrap();
    let lock = fs::read_to_string("Cargo.lock").unwrap();
    let version = |name: &str| {
        let (_, rest) = lock.split_once(&format!("name = \"{name}\"\nversion = \"")).unwrap();
        rest.split('"').next().unwrap().to_string()
    };
    println!("cargo::rerun-if-changed=Cargo.lock");
    println!(
        "cargo::rustc-env=VERSIONS={}, reqwest {}, hyper {}, tokio {}",
        rustc.trim(),
        version("reqwest"),
        version("hyper"),
        version("tokio")
    );
}
