//! Programs are sampled from outside: where their time goes, and what they do to a sampler.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

mod beside_perf;
mod common;
mod files;

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use common::{assert_near, build, command, profile_of, samples_in, samples_of};
use metaspy_sampler::profile::Span;
use metaspy_sampler::symbols::Category;
use metaspy_sampler::{Options, Profile, SampleError, Stacks, Target};

/// The line of a target's source with this mark.
fn line_of(source: &str, mark: &str) -> u32 {
    source.lines().position(|line| line.contains(mark)).expect("the mark is there") as u32 + 1
}

#[test]
fn assembly_without_types_has_its_global_names() {
    let program = build("assembly", &[]);
    let Some(profile) = profile_of(&command(&program, &[]), &Options::default()) else { return };
    let samples = samples_of(&profile, "work_in_assembly");
    assert!(
        profile.total() > 50 && samples * 10 > profile.total() * 8,
        "{samples} of {}",
        profile.total()
    );
}

#[test]
fn the_shares_of_functions_are_those_that_the_program_measures_itself() {
    let Some((profile, printed)) =
        profile_and_output(&format!("'{}' 100", build("shares", &[]).display()))
    else {
        return;
    };
    let ns = |name: &str| {
        let line = printed
            .lines()
            .find_map(|line| line.strip_prefix(name))
            .expect("the program measured it");
        line.trim().parse::<f64>().expect("a number")
    };
    let (larger, smaller) = (samples_of(&profile, "larger"), samples_of(&profile, "smaller"));
    let (part, whole) = (larger as f64, larger + smaller);
    assert!(whole > 100, "{whole} samples");
    assert_near(
        "larger",
        part / whole as f64,
        ns("larger") / (ns("larger") + ns("smaller")),
        whole,
    );
    assert_eq!(profile.run.samples.counts.lost, 0);
    // The second thread has a name, and its samples are the larger ones.
    assert!(
        profile.run.samples.threads.iter().any(|thread| thread.name == "second"),
        "{:?}",
        profile.run.samples.threads
    );
}

#[test]
fn a_function_s_time_is_at_the_line_that_takes_it_and_at_what_was_inlined_there() {
    let Some(profile) = profile_of(&command(&build("shares", &[]), &["60"]), &Options::default())
    else {
        return;
    };
    let sections = profile.sections();
    let user = sections
        .iter()
        .find(|section| section.category == Category::User)
        .expect("most time is the program's");
    let name = |function: u32| &*profile.symbols.functions[function as usize].name;
    let row = user
        .functions
        .iter()
        .find(|row| name(row.function).ends_with("::larger"))
        .expect("it has most samples");
    let line = line_of(include_str!("../targets/shares.rs"), "the line of `larger`");
    let at_line: u64 = row
        .ranges
        .iter()
        .flat_map(|range| &range.lines)
        .filter(|of| of.0 == line)
        .map(|of| of.1)
        .sum();
    assert!(
        at_line * 10 > row.samples * 8,
        "{at_line} of {} at line {line}: {:?}",
        row.samples,
        row.ranges
    );
    let inlined = row.ranges.iter().flat_map(|range| &range.inlined);
    let step: u64 =
        inlined.filter(|row| name(row.function).ends_with("step")).map(|row| row.samples).sum();
    assert!(step * 10 > row.samples * 5, "{step} of {} in `step`", row.samples);
    assert!(row.ranges.iter().all(|range| range.span != Span::Positions(0, 0)));
    // Each stack leads to the beginning of its thread.
    let methods = profile.methods();
    let main = methods
        .iter()
        .find(|method| name(method.function).ends_with("::timed"))
        .expect("it calls both");
    assert!(
        main.total_samples * 100 > user.samples * 95,
        "{} of {}",
        main.total_samples,
        user.samples
    );
    assert!(
        profile.doubts().broken * 50 <= profile.total(),
        "{:?} of {}",
        profile.doubts(),
        profile.total()
    );
}

#[test]
fn inlined_functions_have_the_time_of_the_std_code_that_was_inlined_into_them() {
    let Some(profile) =
        profile_of(&command(&build("two", &["-Cdebuginfo=2"]), &[]), &Options::default())
    else {
        return;
    };
    let name = |function: u32| &*profile.symbols.functions[function as usize].name;
    let methods = profile.methods();
    let own = |of: &str| {
        methods.iter().find(|method| name(method.function) == of).map_or(0, |it| it.self_samples)
    };
    let sections = profile.sections();
    let ranges = sections.iter().flat_map(|section| &section.functions).flat_map(|row| &row.ranges);
    let rows: Vec<_> = ranges.flat_map(|range| &range.inlined).collect();
    let inlined = |of: &str| {
        rows.iter().filter(|row| name(row.function) == of).map(|row| row.samples).sum::<u64>()
    };
    for samples in [["two::hot", "two::cold"].map(own), ["two::hot", "two::cold"].map(inlined)] {
        let [hot, cold] = samples;
        assert!((hot + cold) * 10 > profile.total() * 8, "{samples:?} of {}", profile.total());
        assert_near("hot", hot as f64 / (hot + cold) as f64, 0.8, hot + cold);
    }
}

#[test]
fn programs_that_a_shell_starts_and_becomes_are_sampled() {
    let program = build("shares", &[]).display().to_string();
    let shell = format!("'{program}' 20 > /dev/null; exec '{program}' 20 > /dev/null");
    let Some(profile) = profile_of(&command("sh".as_ref(), &["-c", &shell]), &Options::default())
    else {
        return;
    };
    let threads = &profile.run.samples.threads;
    let pids: std::collections::HashSet<u32> = threads.iter().map(|thread| thread.pid).collect();
    assert!(pids.len() >= 2 && pids.contains(&profile.run.pid), "{threads:?}");
    assert!(samples_of(&profile, "larger") > 0 && samples_of(&profile, "smaller") > 0);
}

#[test]
fn a_process_that_runs_is_joined_with_all_its_threads() {
    let program = build("shares", &[]);
    let mut child =
        Command::new(program).arg("300").stdout(Stdio::piped()).spawn().expect("it starts");
    let profile = profile_of(&Target::Process(child.id()), &Options::default());
    let status = child.wait().expect("it ends");
    assert!(status.success(), "sampling does not harm a process: {status}");
    let Some(profile) = profile else { return };
    assert!(
        samples_of(&profile, "larger") > 0 && samples_of(&profile, "smaller") > 0,
        "{:?}",
        profile.sections()
    );
}

#[test]
fn a_run_that_is_watched_shows_its_latest_samples_and_ends_with_all_of_them() {
    let target = command(&build("shares", &[]), &["400"]);
    let mut shown = Vec::new();
    let watch = |profile: &Profile| {
        let mut screen = Vec::new();
        metaspy_sampler::text::write_live(&mut screen, profile, Default::default())
            .expect("memory has room");
        shown.push((
            profile.total(),
            samples_of(profile, "larger"),
            String::from_utf8_lossy(&screen).into_owned(),
        ));
    };
    let run = match metaspy_sampler::sample_live(
        &target,
        &Options::default(),
        &Default::default(),
        watch,
    ) {
        Err(error @ (SampleError::NotPermitted(_) | SampleError::NotSupported)) => {
            return println!("SKIPPED: sampling: {error}");
        }
        run => run.expect("it starts"),
    };
    let all = Profile::new(run).total();
    let (total, larger, screen) = shown.last().expect("the program runs for more than a second");
    assert!(0 < *larger && larger <= total && *total <= all, "{larger} of {total} of {all}");
    assert!(screen.contains("processors busy") && screen.contains("shares.rs"), "{screen}");
}

#[test]
fn a_thousand_threads_are_sampled_and_end_as_always() {
    let Some(profile) = profile_of(&command(&build("threads", &[]), &[]), &Options::default())
    else {
        return;
    };
    assert!(is_success(&profile));
    let threads = profile.run.samples.threads.len();
    assert!(threads > 300, "{threads} threads have samples, {:?}", profile.run.samples.counts);
    // What was not read in time is counted.
    let taken = profile.total() + profile.run.samples.counts.lost;
    assert!(taken > 0 && profile.total() > 0, "{:?}", profile.run.samples.counts);
}

#[test]
fn a_stripped_program_has_rows_by_address_and_a_note() {
    let program = build("shares", &["-Cstrip=symbols"]);
    let Some(profile) = profile_of(&command(&program, &["20"]), &Options::default()) else {
        return;
    };
    assert!(
        profile.symbols.notes.iter().any(|note| note.contains("is stripped")),
        "{:?}",
        profile.symbols.notes
    );
    assert!(samples_in(&profile, Category::User) > 0);
    let file = program.file_name().expect("it has one").to_string_lossy().into_owned();
    assert!(
        profile
            .symbols
            .functions
            .iter()
            .any(|function| function.name.starts_with(&format!("{file}+0x")))
    );
}

#[test]
fn a_program_that_ends_at_once_has_a_report_without_samples() {
    let Some(profile) = profile_of(&command("true".as_ref(), &[]), &Options::default()) else {
        return;
    };
    assert!(is_success(&profile));
    let mut text = Vec::new();
    let layout = metaspy_sampler::text::Layout { top: Default::default(), callers: false };
    metaspy_sampler::text::write(&mut text, &profile, layout).expect("memory has room");
    assert!(profile.total() > 0 || String::from_utf8_lossy(&text).contains("there are no samples"));
}

#[test]
fn what_cannot_be_sampled_is_an_error_that_names_it() {
    let sample =
        |target: &Target| metaspy_sampler::sample(target, &Options::default(), &Default::default());
    let error = sample(&command("/no/such/program".as_ref(), &[])).expect_err("there is none");
    if !matches!(error, SampleError::NotPermitted(_) | SampleError::NotSupported) {
        assert!(error.to_string().contains("/no/such/program"), "{error}");
    }
    let error = sample(&Target::Process(u32::MAX >> 1)).expect_err("there is none");
    assert!(matches!(error, SampleError::NoProcess(_)), "{error}");
}

#[test]
fn a_program_that_becomes_another_user_s_is_sampled_on() {
    let target = command(&build("strange", &[]), &["user"]);
    let Some(profile) = profile_of(&target, &Options::default()) else { return };
    if !is_success(&profile) {
        println!("SKIPPED: drop-privileges: only root can become another user");
        return;
    }
    assert!(samples_of(&profile, "spin") > 0, "{:?}", profile.sections());
}

#[test]
fn a_deep_stack_is_cut_and_marked_in_the_report() {
    let target = command(&build("strange", &[]), &["deep"]);
    let Some(profile) = profile_of(&target, &Options::default()) else { return };
    assert!(is_success(&profile) && samples_of(&profile, "spin") > 0);
    assert!(profile.doubts().cut > 0, "{:?}", profile.doubts());
    assert!(
        metaspy_sampler::text::notes(&profile).iter().any(|note| note.contains("--stack-size"))
    );
}

#[test]
fn a_handler_of_the_program_for_the_signal_of_profilers_is_left_alone() {
    let Some((profile, printed)) =
        profile_and_output(&format!("'{}' signal", build("strange", &[]).display()))
    else {
        return;
    };
    assert!(is_success(&profile));
    assert_eq!(printed, "handled 100\n", "no signal of ours arrived");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_stack_that_is_nonsense_harms_neither_the_program_nor_the_report() {
    let target = command(&build("strange", &[]), &["stack"]);
    let Some(profile) = profile_of(&target, &Options::default()) else { return };
    assert!(is_success(&profile));
    assert!(
        samples_of(&profile, "spin_without_stack") > 0 || samples_of(&profile, "main") > 0,
        "{:?}",
        profile.sections()
    );
    assert!(profile.doubts().broken > 0, "{:?}", profile.doubts());
}

#[cfg(target_arch = "x86_64")]
#[test]
fn generated_code_has_the_names_of_its_map() {
    let target = command(&build("strange", &[]), &["code"]);
    let Some(profile) = profile_of(&target, &Options::default()) else { return };
    let _ = std::fs::remove_file(format!("/tmp/perf-{}.map", profile.run.pid));
    assert!(is_success(&profile));
    assert!(samples_in(&profile, Category::Registered) > 0, "{:?}", profile.sections());
    assert_eq!(samples_of(&profile, "made::spin"), samples_in(&profile, Category::Registered));
}

#[test]
fn frame_pointers_lead_to_the_same_functions() {
    let program = build("shares", &["-Cforce-frame-pointers=yes"]);
    let options = Options { stacks: Stacks::FramePointers, ..Options::default() };
    let Some(profile) = profile_of(&command(&program, &["40"]), &options) else { return };
    let methods = profile.methods();
    let name = |function: u32| &*profile.symbols.functions[function as usize].name;
    let timed = methods
        .iter()
        .find(|method| name(method.function).ends_with("::timed"))
        .expect("it calls both");
    let both = samples_of(&profile, "larger") + samples_of(&profile, "smaller");
    assert!(
        timed.total_samples * 100 >= both * 95 && both > 0,
        "{} of {both}",
        timed.total_samples
    );
}

/// The profile of a program that a shell becomes, and what the program printed.
fn profile_and_output(line: &str) -> Option<(Profile, String)> {
    static FILES: AtomicU32 = AtomicU32::new(0);
    let name = format!("output-{}-{}", std::process::id(), FILES.fetch_add(1, Ordering::Relaxed));
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let shell = format!("exec {line} > '{}'", file.display());
    let profile = profile_of(&command("sh".as_ref(), &["-c", &shell]), &Options::default())?;
    let printed = std::fs::read_to_string(&file).expect("the program wrote");
    std::fs::remove_file(file).expect("the file is ours");
    Some((profile, printed))
}

fn is_success(profile: &Profile) -> bool {
    matches!(profile.run.ended, metaspy_sampler::run::Ended::Exited(status) if status.success())
}

#[test]
fn statistics_are_those_of_one_program_and_not_of_earlier_ones() {
    let program = build("shares", &[]);
    let Some(long) = profile_of(&command(&program, &["60"]), &Options::default()) else { return };
    let Some(short) = profile_of(&command(&program, &["5"]), &Options::default()) else { return };
    let (long, short) = (long.run.statistics, short.run.statistics);
    assert!(short.processor_ns() * 2 < long.processor_ns(), "{short:?} after {long:?}");
    assert!(short.minor_faults < long.minor_faults * 2, "{short:?} after {long:?}");
}
