//! Passes the versions of the compiler and of actix to the program.

use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=Cargo.lock");
    println!("cargo:rustc-env=RUST_VERSION={}", rust_version());
    for (variable, package) in [("ACTIX_WEB_VERSION", "actix-web"), ("ACTIX_HTTP_VERSION", "actix-http")] {
        println!("cargo:rustc-env={variable}={}", locked_version(package));
    }
}

/// The "1.95.0" of "rustc 1.95.0 (59807616e 2026-04-14)".
fn rust_version() -> String {
    let rustc = env::var_os("RUSTC").expect("cargo names the compiler");
    let output = Command::new(rustc)
        .arg("--version")
        .output()
        .expect("the compiler runs");
    let said = String::from_utf8(output.stdout).expect("the compiler speaks UTF-8");
    said.split_whitespace()
        .nth(1)
        .expect("the compiler says its version")
        .to_owned()
}

fn locked_version(package: &str) -> String {
    let lock = fs::read_to_string("Cargo.lock").expect("Cargo.lock is there");
    let (_, entry) = lock
        .split_once(&format!("name = \"{package}\"\nversion = \""))
        .expect("the package is locked");
    entry.split('"').next().expect("the version ends").to_owned()
}
