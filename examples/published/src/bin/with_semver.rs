//! 600 versions: parsed, matched with five requirements, and sorted.

use semver::*;

fn main() {
    let reqs: Vec<VersionReq> =
        ["^1.2", ">=1, <2", "~0.3.4", "*", "=1.0.0-rc.1"].iter().map(|s| s.parse().unwrap()).collect();
    let mut n = 0;
    let mut vs: Vec<Version> = (0..600)
        .map(|i| format!("{}.{}.{}{}", i % 3, i % 20, i % 7, if i % 5 == 0 { "-rc.1+b" } else { "" }).parse().unwrap())
        .collect();
    for v in &vs {
        for r in &reqs {
            n += r.matches(v) as usize
        }
    }
    vs.sort();
    println!("{n} {}", vs[0]);
}
