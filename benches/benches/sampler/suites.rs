//! Published programs, as their users have them: what sampling costs each, how much of its samples
//! has a name and a line, and how far apart its shares and those of `perf record` are in one run.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

use metaspy_benches::child;
use metaspy_benches::report::target;
use metaspy_benches::stats::median;
use metaspy_sampler::options::Output;
use metaspy_sampler::symbols::Category;
use metaspy_sampler::{Options, Profile, Target, sample};

use crate::program::used_ns;
use crate::{Goal, Limit, rounds};

/// A program: its package with a version, its name, and its arguments; `SOURCES` are the packages
/// of cargo's registry, `TEXT` all of their documents in one file, `FILE` this program's file, and
/// `MANY` fifty times this file.
struct Published {
    package: &'static str,
    name: &'static str,
    arguments: &'static [&'static str],
}

const SUITES: [Published; 5] = [
    Published {
        package: "ripgrep@15.2.0",
        name: "rg",
        arguments: &["--no-config", "-uuu", "-c", r"(\w+)\s+(\w+)y\b", "SOURCES"],
    },
    Published { package: "tokei@15.0.0", name: "tokei", arguments: &["SOURCES"] },
    Published {
        package: "comrak@0.59.0",
        name: "comrak",
        arguments: &["--gfm", "--unsafe", "TEXT"],
    },
    Published { package: "hexyl@0.17.0", name: "hexyl", arguments: &["--length", "24MiB", "FILE"] },
    Published {
        package: "b3sum@1.8.7",
        name: "b3sum",
        arguments: &["--no-mmap", "--num-threads", "1", "MANY"],
    },
];

/// Samples each program in rounds, and once beside `perf record`.
pub fn measure() -> Result<Vec<Goal>, String> {
    let directory = target().join("published");
    let inputs = Inputs::make(&directory)?;
    println!(
        "\n{:<12} {:>8} {:>8} {:>9} {:>9} {:>9} {:>9} {:>9}  {}",
        "suites",
        "cpu s",
        "cpu +%",
        "samples",
        "threads",
        "named %",
        "line %",
        "whole %",
        "perf, errors"
    );
    let mut goals = Vec::new();
    let suites = if child::is_smoke() { &SUITES[3..4] } else { &SUITES[..] };
    for suite in suites {
        let program = suite.install(&directory)?;
        let mut words = vec![program.into_os_string()];
        words.extend(suite.arguments.iter().flat_map(|word| inputs.resolve(word)));
        let (mut plain, mut sampled) = (Vec::new(), Vec::new());
        let mut last = None;
        run_plain(&words)?;
        for _ in 0..rounds().min(5) {
            plain.push(run_plain(&words)?);
            let profile = run_sampled(&words)?;
            sampled.push(profile.run.processor_ns as f64);
            last = Some(profile);
        }
        let profile = last.ok_or("no round")?;
        let added: Vec<f64> = sampled
            .iter()
            .zip(&plain)
            .map(|(with, without)| 100.0 * (with / without - 1.0))
            .collect();
        let found = SampleShares::of(&profile);
        let agreement = beside_perf(&words)?;
        println!(
            "{:<12} {:>8.2} {:>8.2} {:>9} {:>9} {:>9.1} {:>9.1} {:>9.1}  {}",
            suite.name,
            median(&plain) / 1e9,
            median(&added),
            profile.total(),
            profile.run.samples.threads.len(),
            found.named,
            found.with_line,
            found.whole,
            agreement
                .as_ref()
                .map_or("-".to_owned(), |(name, errors)| format!("{errors:.1} of {name}")),
        );
        let of = |what: &str| format!("{}: {what}", suite.name);
        goals.push(Goal {
            what: of("cost at 1 kHz, %"),
            is: median(&added),
            limit: Limit::AtMost(5.0),
        });
        goals.push(Goal {
            what: of("samples with a function, %"),
            is: found.named,
            limit: Limit::AtLeast(99.0),
        });
        if let Some((_, errors)) = agreement {
            let what = of("largest difference from perf record, standard errors");
            goals.push(Goal { what, is: errors, limit: Limit::AtMost(4.0) });
        }
    }
    Ok(goals)
}

impl Published {
    /// Builds it in release mode with line tables, once.
    fn install(&self, directory: &Path) -> Result<PathBuf, String> {
        let root = directory.join(self.package.replace('@', "-"));
        let program = root.join("bin").join(self.name);
        if program.exists() {
            return Ok(program);
        }
        eprintln!("suites: cargo install {}", self.package);
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        cargo.args(["install", "--locked", "--quiet", self.package, "--root"]).arg(&root);
        cargo.arg("--target-dir").arg(directory.join("build"));
        cargo
            .env("CARGO_PROFILE_RELEASE_DEBUG", "line-tables-only")
            .env("CARGO_PROFILE_RELEASE_STRIP", "none");
        let status = cargo.status().map_err(|error| error.to_string())?;
        if status.success() {
            Ok(program)
        } else {
            Err(format!("{} cannot be installed: {status}", self.package))
        }
    }
}

/// What the programs read.
struct Inputs {
    sources: PathBuf,
    text: PathBuf,
}

impl Inputs {
    fn make(directory: &Path) -> Result<Inputs, String> {
        let cargo = std::env::var_os("CARGO_HOME").map(PathBuf::from);
        let cargo = cargo
            .or_else(|| Some(std::env::home_dir()?.join(".cargo")))
            .ok_or("no home directory")?;
        let sources = cargo.join("registry/src");
        let text = directory.join("documents.md");
        let write = || -> io::Result<()> {
            fs::create_dir_all(directory)?;
            let mut out = File::create(&text)?;
            for registry in fs::read_dir(&sources)? {
                for package in fs::read_dir(registry?.path())? {
                    let document = package?.path().join("README.md");
                    if let Ok(document) = fs::read(document) {
                        out.write_all(&document)?;
                    }
                }
            }
            Ok(())
        };
        write().map_err(|error| format!("{}: {error}", sources.display()))?;
        Ok(Inputs { sources, text })
    }

    fn resolve(&self, word: &str) -> Vec<OsString> {
        let own = std::env::current_exe().unwrap_or_else(|_| self.text.clone());
        match word {
            "SOURCES" => vec![self.sources.clone().into()],
            "TEXT" => vec![self.text.clone().into()],
            "FILE" => vec![own.into()],
            "MANY" => vec![own.into(); 50],
            word => vec![word.into()],
        }
    }
}

/// The processor time of a run that nothing samples, in ns.
fn run_plain(words: &[OsString]) -> Result<f64, String> {
    let before = used_ns();
    let line = silent(words);
    let status =
        Command::new(&line[0]).args(&line[1..]).status().map_err(|error| error.to_string())?;
    // `rg` ends with 2 if one of the files cannot be read.
    if status.code().is_none_or(|code| code > 2) {
        return Err(format!("{}: {status}", words[0].display()));
    }
    Ok(used_ns() - before)
}

fn run_sampled(words: &[OsString]) -> Result<Profile, String> {
    let options = Options { output: Output::Shared, ..Options::default() };
    let run = sample(&Target::Command(silent(words)), &options, &AtomicBool::new(false))
        .map_err(|it| it.to_string())?;
    Ok(Profile::new(run))
}

/// A command line without output: a shell opens `/dev/null`, and the program replaces it.
fn silent(words: &[OsString]) -> Vec<OsString> {
    let shell = ["sh", "-c", "exec \"$0\" \"$@\" > /dev/null 2>&1"].map(Into::into);
    shell.into_iter().chain(words.iter().cloned()).collect()
}

/// Shares of the samples, in percent.
struct SampleShares {
    /// With a function.
    named: f64,
    /// With a line of the source, of those in code with debug information: not the kernel's and the
    /// C library's.
    with_line: f64,
    /// With all callers.
    whole: f64,
}

impl SampleShares {
    fn of(profile: &Profile) -> SampleShares {
        let (mut named, mut lines, mut ours) = (0, 0, 0);
        for (stack, &count) in profile.run.samples.stacks.iter().zip(&profile.counts) {
            let Some(&address) = stack.frames.first() else { continue };
            let frames = &profile.symbols.addresses[address as usize].frames;
            let Some(frame) = frames.last() else { continue };
            let function = &profile.symbols.functions[frame.function as usize];
            // A function without a name is `module+0x1000`, and code without a map is in brackets.
            named += if function.name.contains("+0x") || function.name.starts_with('[') {
                0
            } else {
                count
            };
            if !matches!(function.category, Category::Kernel | Category::Libc) {
                ours += count;
                lines += if frames.iter().any(|frame| frame.line > 0) { count } else { 0 };
            }
        }
        let doubts = profile.doubts();
        let percent = |part: u64, of: u64| 100.0 * part as f64 / of.max(1) as f64;
        let all = profile.total();
        SampleShares {
            named: percent(named, all),
            with_line: percent(lines, ours),
            whole: percent(all - doubts.cut - doubts.broken, all),
        }
    }
}

/// The function on whose share `perf record` and we differ most, in a run that both sample: its
/// name, and the difference in standard errors of two samplings. Shares of less than a percent are
/// left out. `None` if perf is not there.
fn beside_perf(words: &[OsString]) -> Result<Option<(String, f64)>, String> {
    if !Command::new("perf")
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .is_ok_and(|it| it.success())
    {
        return Ok(None);
    }
    let data = target().join("published/perf.data");
    let mut line: Vec<OsString> =
        ["perf", "record", "-q", "-e", "cpu-clock", "-F", "997", "-o"].map(Into::into).to_vec();
    line.extend([data.clone().into(), "--".into()]);
    line.extend(words.iter().cloned());
    let profile = run_sampled(&line)?;
    let script =
        Command::new("perf").args(["script", "-F", "comm,ip,sym", "-i"]).arg(&data).output();
    let script = script.map_err(|error| error.to_string())?;
    fs::remove_file(&data).map_err(|error| error.to_string())?;
    let program =
        Path::new(&words[0]).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut theirs: HashMap<String, f64> = HashMap::new();
    // A thread, an address and a name.
    for line in String::from_utf8_lossy(&script.stdout).lines() {
        let Some((address, name)) =
            line.trim().strip_prefix(&program).and_then(|rest| rest.trim().split_once(' '))
        else {
            continue;
        };
        if u64::from_str_radix(address, 16).is_ok() {
            *theirs.entry(last_segment(name.trim())).or_default() += 1.0;
        }
    }
    let samples = &profile.run.samples;
    let mut ours: HashMap<String, f64> = HashMap::new();
    for sample in samples
        .samples
        .iter()
        .filter(|sample| samples.threads[sample.thread as usize].name == program)
    {
        let Some(&address) = samples.stacks[sample.stack as usize].frames.first() else { continue };
        let Some(frame) = profile.symbols.addresses[address as usize].frames.last() else {
            continue;
        };
        let name = &profile.symbols.functions[frame.function as usize].name;
        *ours.entry(last_segment(name)).or_default() += 1.0;
    }
    let (one, other) = (ours.values().sum::<f64>(), theirs.values().sum::<f64>());
    if one == 0.0 || other == 0.0 {
        return Err(format!("{program}: {one} samples of ours, {other} of perf"));
    }
    let difference = |name: &String| {
        let of = |counts: &HashMap<String, f64>| counts.get(name).copied().unwrap_or(0.0);
        let all = (of(&ours) + of(&theirs)) / (one + other);
        let error = (all * (1.0 - all) * (1.0 / one + 1.0 / other)).sqrt();
        (all > 0.01).then(|| (name.clone(), (of(&ours) / one - of(&theirs) / other).abs() / error))
    };
    let differences = ours.keys().chain(theirs.keys()).filter_map(difference);
    Ok(differences.max_by(|one, other| one.1.total_cmp(&other.1)))
}

/// The last segment of a path, without generic arguments, hash and underscores: what every tool's
/// name of a function has.
fn last_segment(name: &str) -> String {
    let mut depth = 0;
    let mut plain = String::new();
    for letter in name.chars() {
        match letter {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ if depth <= 0 => plain.push(letter),
            _ => {}
        }
    }
    let is_hash = |segment: &&str| {
        segment.len() == 17
            && segment.starts_with('h')
            && u64::from_str_radix(&segment[1..], 16).is_ok()
    };
    let segment =
        plain.split("::").filter(|segment| !segment.is_empty() && !is_hash(segment)).last();
    segment.unwrap_or(name).split('@').next().unwrap_or(name).trim_start_matches('_').to_owned()
}
