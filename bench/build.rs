//! Compiles the C++ peer, links the Fortran one, and notes the versions that the report names.

use std::{env, fs, path::Path, process::Command};

/// Where Debian puts Eigen's headers.
const EIGEN: &str = "/usr/include/eigen3";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=peers.cpp");
    println!("cargo::rerun-if-changed=Cargo.lock");

    assert!(
        Path::new(EIGEN).exists(),
        "{EIGEN} is missing: install libeigen3-dev, libqrupdate-dev and libopenblas-dev, or run 'make bench', which does"
    );
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .file("peers.cpp")
        // As a system directory, so that warnings about Eigen's own code stay out.
        .flag("-isystem")
        .flag(EIGEN)
        .flag("-march=native")
        .opt_level(3)
        .define("NDEBUG", None)
        // GCC 12 warns of its own AVX-512 headers, thousands of lines at a time.
        .flag_if_supported("-Wno-maybe-uninitialized")
        .compile("peers");
    println!("cargo::rustc-link-lib=qrupdate");
    println!("cargo::rustc-link-lib=openblas");

    println!("cargo::rustc-env=BENCH_RUSTC={}", rustc_version());
    let lock = fs::read_to_string("Cargo.lock").unwrap_or_default();
    for package in ["faer", "nalgebra"] {
        let version = locked_version(&lock, package).unwrap_or("of unknown version");
        println!("cargo::rustc-env=BENCH_{}={version}", package.to_uppercase());
    }
}

fn rustc_version() -> String {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output();
    let text = output.map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&text).trim().to_owned()
}

fn locked_version<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let (_, entry) = lock.split_once(&format!("name = \"{package}\"\nversion = \""))?;
    entry.split('"').next()
}
