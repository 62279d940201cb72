//! Links the program where it will lie in memory.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |part: &str| env::var(format!("CARGO_CFG_TARGET_{part}")).unwrap_or_default();
    // An agent waits for each start of a hook. A program that can lie anywhere has 30,000 addresses written into it when it
    // starts, which touches more than a hundred pages.
    if target("OS") == "linux" && target("ENV") == "gnu" {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
