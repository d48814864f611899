//! Programs to sample, and what every test asks of a profile.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

use metaspy_sampler::symbols::Category;
use metaspy_sampler::{Options, Profile, SampleError, Target, sample};

/// A program of `targets/`, optimised, with debug information and these flags. It is built if its
/// source has changed.
pub fn build(name: &str, flags: &[&str]) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let program = directory.join(format!("{name}{}", flags.concat().replace(['-', '=', ','], "_")));
    // Tests build side by side, and a program that runs must not be replaced.
    let lock = File::create(directory.join("building")).expect("the directory is cargo's");
    lock.lock().expect("files can be locked");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/targets/{name}.rs"));
    let changed = |path: &Path| path.metadata().and_then(|of| of.modified()).ok();
    if changed(&program) < changed(&source) {
        let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()));
        rustc
            .args(["--edition=2021", "-O", "-Cdebuginfo=1", "-Aunused"])
            .args(flags)
            .arg(source)
            .arg("-o")
            .arg(&program);
        let built = rustc.output().expect("rustc runs");
        assert!(built.status.success(), "{name}: {}", String::from_utf8_lossy(&built.stderr));
    }
    program
}

/// A command line.
pub fn command(program: &Path, arguments: &[&str]) -> Target {
    let arguments = arguments.iter().map(OsString::from);
    Target::Command(std::iter::once(program.into()).chain(arguments).collect())
}

/// Samples to the end. `None`, said aloud, where the system does not permit it.
pub fn profile_of(target: &Target, options: &Options) -> Option<Profile> {
    match sample(target, options, &AtomicBool::new(false)) {
        Ok(run) => Some(Profile::new(run)),
        Err(error @ (SampleError::NotPermitted(_) | SampleError::NotSupported)) => {
            println!("SKIPPED: sampling: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Samples of a function as it is executed.
pub fn samples_of(profile: &Profile, name: &str) -> u64 {
    let sections = profile.sections();
    let rows = sections.iter().flat_map(|section| &section.functions);
    let is = |name_of: &str| name_of == name || name_of.ends_with(&format!("::{name}"));
    rows.filter(|row| is(&profile.symbols.functions[row.function as usize].name))
        .map(|row| row.samples)
        .sum()
}

/// Samples in code of an owner.
pub fn samples_in(profile: &Profile, category: Category) -> u64 {
    profile
        .sections()
        .iter()
        .filter(|section| section.category == category)
        .map(|section| section.samples)
        .sum()
}

/// Fails unless two shares of so many samples agree within four standard deviations, and a
/// hundredth for what both leave out at their edges.
pub fn assert_near(what: &str, one: f64, other: f64, samples: u64) {
    let spread = 4.0 * (other * (1.0 - other) / samples as f64).sqrt() + 0.01;
    assert!(
        (one - other).abs() <= spread,
        "{what}: {one:.3} and {other:.3} differ by more than {spread:.3}"
    );
}
