//! Collapsed stacks: a line for each stack, outermost frame first, with its number of samples.
//! `inferno-flamegraph`, `flamegraph.pl` and speedscope read it.

use std::collections::BTreeMap;
use std::io::{self, Write};

use metaspy_report::export::{Exporter, Written};

use crate::export::thread_name;
use crate::profile::Profile;

/// Exporter of collapsed stacks, with a line for each distinct stack.
#[derive(Clone, Copy, Debug)]
pub struct Collapsed;

impl Exporter<Profile> for Collapsed {
    fn export(&self, profile: &Profile, out: &mut dyn Write) -> io::Result<Written> {
        let mut lines: BTreeMap<String, u64> = BTreeMap::new();
        let mut stacks: BTreeMap<(u32, u32), u64> = BTreeMap::new();
        for sample in &profile.run.samples.samples {
            *stacks.entry((sample.thread, sample.stack)).or_default() += 1;
        }
        for ((thread, stack), count) in stacks {
            let mut names = vec![plain(&thread_name(profile, thread))];
            let first = names.len();
            let functions = &profile.symbols.functions;
            names.extend(
                profile.methods_of(stack).map(|function| plain(&functions[function as usize].name)),
            );
            names[first..].reverse();
            *lines.entry(names.join(";")).or_default() += count;
        }
        lines.iter().try_for_each(|(stack, count)| writeln!(out, "{stack} {count}"))?;
        Ok(Written { events: profile.total(), notes: Vec::new() })
    }
}

/// Replaces the characters of a name that separate frames and lines.
fn plain(name: &str) -> String {
    name.replace(';', ":").replace(char::is_control, "?")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Sampled, profile};

    #[test]
    fn each_stack_is_a_line() {
        let profile = profile(&[
            Sampled { count: 2, stack: "main:1 > outer:10 [inner:99]" },
            Sampled { count: 1, stack: "main:2" },
            Sampled { count: 3, stack: "main:7" },
        ]);
        let mut out = Vec::new();
        Collapsed.export(&profile, &mut out).expect("memory has room");
        assert_eq!(String::from_utf8_lossy(&out), "main;main 4\nmain;main;outer;inner 2\n");
    }
}
