//! Sampling that environment variables start, in a program that contains metaspy with the feature
//! `sample`.
//!
//! `METASPY_SAMPLE=1kHz` samples the program from its start to its exit, and then writes the report
//! to standard error; `METASPY_SAMPLE=1kHz,wall` samples the wall clock. A program that
//! `metaspy sample` starts where perf events are not permitted finds the ring for its samples in
//! `METASPY_SAMPLE_RING`.

use std::ffi::OsString;
use std::sync::{Mutex, PoisonError};

use metaspy_report::text::{parse_number, print_message};

use crate::RING_VARIABLE;
use crate::linux::{Sampler, attach};
use crate::options::{Choice, Clock, Options, RATE_MAX_HZ};
use crate::text;

/// Sampler that the environment has started, until the program exits.
static WHOLE: Mutex<Option<Sampler>> = Mutex::new(None);

/// Pointer in the section whose functions the loader calls before `main`.
#[cfg(all(feature = "in-program", target_os = "linux"))]
#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = {
    extern "C" fn before_main() {
        // A panic must not leave a function called from C.
        let _ = std::panic::catch_unwind(start);
    }
    before_main
};

/// Starts the sampling that the environment selects. The loader calls it before `main`. A program
/// that runs with the rights of another user is not sampled.
pub fn start() {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if is_privileged() {
        return;
    }
    if let Some(path) = variable(RING_VARIABLE) {
        // Without a ring, this is the child of a sampled program, and its sampler has ended.
        let _ = attach(&path);
    } else if let Some(value) = variable("METASPY_SAMPLE") {
        start_whole(&value);
    }
}

fn start_whole(value: &OsString) {
    let options = match parse(&value.to_string_lossy()) {
        Ok(options) => options,
        Err(error) => {
            return print_message(&format!("metaspy: METASPY_SAMPLE={}: {error}", value.display()));
        }
    };
    match Sampler::with_options(options) {
        Ok(sampler) => {
            *WHOLE.lock().unwrap_or_else(PoisonError::into_inner) = Some(sampler);
            at_exit();
        }
        Err(error) => print_message(&format!("metaspy: METASPY_SAMPLE: {error}")),
    }
}

/// Parses the value of `METASPY_SAMPLE`: a rate, and the words `wall` and `timer`, separated by
/// commas.
pub fn parse(value: &str) -> Result<Options, String> {
    let mut options = Options::default();
    for word in value.split(',').map(str::trim) {
        match word {
            "wall" => options.clock = Clock::Wall,
            "cpu" => options.clock = Clock::Processor,
            "timer" => options.back_end = Choice::Timer,
            rate => options.rate_hz = parse_rate(rate)?,
        }
    }
    Ok(options)
}

/// Parses a rate in samples per second: `1000`, `1k` or `1kHz`.
pub fn parse_rate(text: &str) -> Result<u32, String> {
    let number = parse_number(text.trim_end_matches("Hz").trim_end());
    match number.ok().and_then(|rate| rate.try_into().ok()) {
        Some(rate @ 1..=RATE_MAX_HZ) => Ok(rate),
        _ => Err(format!("write a number from 1 to {RATE_MAX_HZ}, such as 1000 or 1kHz")),
    }
}

/// Ends the sampling at the exit of the program, and writes the report to standard error.
extern "C" fn finish() {
    let _ = std::panic::catch_unwind(|| {
        let Some(sampler) = WHOLE.lock().unwrap_or_else(PoisonError::into_inner).take() else {
            return;
        };
        match sampler.stop() {
            Ok(profile) => {
                let mut report = Vec::new();
                let layout = text::Layout { top: Default::default(), callers: false };
                let _ = text::write(&mut report, &profile, layout);
                let _ = std::io::Write::write_all(&mut std::io::stderr().lock(), &report);
            }
            Err(error) => print_message(&format!("metaspy: METASPY_SAMPLE: {error}")),
        }
    });
}

#[cfg(target_os = "linux")]
fn at_exit() {
    // SAFETY: the function lives as long as the program, and catches its panics.
    unsafe { libc::atexit(finish) };
}

#[cfg(not(target_os = "linux"))]
fn at_exit() {
    let _ = finish;
}

/// Returns true if the program has more rights than the user who chose its environment.
#[cfg(target_os = "linux")]
fn is_privileged() -> bool {
    // SAFETY: the call reads a number that the kernel left for the program.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

#[cfg(not(target_os = "linux"))]
fn is_privileged() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_and_words_select_the_options() {
        let options = parse("2kHz, wall").expect("both are words");
        assert_eq!(
            (options.rate_hz, options.clock, options.back_end),
            (2000, Clock::Wall, Choice::Best)
        );
        assert_eq!(parse("100,timer").expect("both are words").back_end, Choice::Timer);
        assert!(
            parse("fast").is_err()
                && parse("0").is_err()
                && parse("1MHz").is_err()
                && parse("").is_err()
        );
    }
}
