//! Programs that sample themselves: in part, as a whole, and where the system refuses perf events.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

mod made;

use std::hint::black_box;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use metaspy_sampler::options::{Choice, Clock};
use metaspy_sampler::{Options, Profile, SampleError, Sampler, Target, sample};

/// Signals and timers belong to the whole process.
static ALONE: Mutex<()> = Mutex::new(());

#[inline(never)]
fn spin_own(rounds: u64) -> u64 {
    let mut value = black_box(1_u64);
    for _ in 0..rounds {
        value = value.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ value >> 29;
    }
    value
}

/// Uses this much processor time.
fn work(time: Duration) {
    let cpu = || {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the call fills the structure.
        unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    };
    let until = cpu() + time;
    while cpu() < until {
        black_box(spin_own(50_000));
    }
}

fn timer(clock: Clock) -> Options {
    Options { back_end: Choice::Timer, clock, ..Options::default() }
}

/// Samples on whose stack a function is.
fn samples_with(profile: &Profile, name: &str) -> u64 {
    let is = |function: u32| profile.symbols.functions[function as usize].name.ends_with(name);
    let stacks =
        (0..profile.counts.len()).filter(|&stack| profile.methods_of(stack as u32).any(is));
    stacks.map(|stack| profile.counts[stack]).sum()
}

#[test]
fn a_program_samples_a_part_of_itself_with_signals() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for round in 0..3 {
        let sampler =
            Sampler::with_options(timer(Clock::Processor)).expect("timers need no permission");
        let error =
            Sampler::with_options(timer(Clock::Processor)).expect_err("there is one set of timers");
        assert!(matches!(error, SampleError::System(_)), "{error}");
        std::thread::scope(|scope| _ = scope.spawn(|| work(Duration::from_millis(400))));
        let profile = sampler.stop().expect("it was sampled");
        let (own, all) = (samples_with(&profile, "::work"), profile.total());
        assert!(
            own >= 20 && own * 10 > all * 9,
            "round {round}: {own} of {all}, {:?}",
            profile.run.samples.counts
        );
        assert!(profile.run.back_end.contains("timer signals"));
        // Each sample has the processor time since the one before.
        let covered: u64 = profile.cpu_ns.iter().sum();
        assert!(covered > 200_000_000 && covered < 2_000_000_000, "{covered}");
    }
}

#[test]
fn a_thread_that_works_has_samples_and_its_waits_are_interrupted_at_their_beginning_only() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let sampler =
        Sampler::with_options(timer(Clock::Processor)).expect("timers need no permission");
    let waits = std::thread::spawn(|| {
        // Long enough that the sampler has found the thread for most of it, also on a busy machine.
        work(Duration::from_millis(1000));
        let until = Instant::now() + Duration::from_millis(300);
        let mut interrupted = 0;
        while let Some(left) = until.checked_duration_since(Instant::now()) {
            // SAFETY: there are no descriptors to look at.
            let done =
                unsafe { libc::poll(std::ptr::null_mut(), 0, left.as_millis() as libc::c_int + 1) };
            interrupted += u32::from(done < 0);
        }
        interrupted
    });
    let interrupted = waits.join().expect("it returns");
    let profile = sampler.stop().expect("it was sampled");
    // A tick of the wall clock in each millisecond would interrupt 300.
    assert!(interrupted <= 5, "{interrupted}");
    // Timers of the processor clock alone take a few of the 1,000 on some systems.
    let own = samples_with(&profile, "::work");
    assert!(own >= 300, "{own}");
}

#[test]
fn a_thread_that_ran_before_has_its_own_name() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (begin, begun) = std::sync::mpsc::channel();
    let thread = std::thread::Builder::new().name("early".into());
    let early = thread.spawn(move || begun.recv().map(|()| work(Duration::from_millis(300))));
    let sampler = Sampler::start().expect("it contains the sampler");
    begin.send(()).expect("the thread waits");
    early.expect("a thread starts").join().expect("it ends").expect("it was begun");
    let profile = sampler.stop().expect("it was sampled");
    let threads = &profile.run.samples.threads;
    assert!(threads.iter().any(|thread| thread.name == "early"), "{threads:?}");
}

#[test]
fn the_wall_clock_has_samples_of_waits() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let sampler = Sampler::with_options(timer(Clock::Wall)).expect("timers need no permission");
    let began = Instant::now();
    std::thread::scope(|scope| _ = scope.spawn(|| std::thread::sleep(Duration::from_millis(300))));
    let slept = began.elapsed();
    let profile = sampler.stop().expect("it was sampled");
    assert!(slept >= Duration::from_millis(300), "a sleep is not shortened: {slept:?}");
    let waits =
        samples_with(&profile, "thread::sleep") + samples_with(&profile, "nanosleep@@GLIBC_2.17");
    assert!(waits > 10, "{waits} of {}", profile.total());
    let (cpu_ns, wall_ns) = (profile.cpu_ns.iter().sum::<u64>(), profile.ns(profile.total()));
    assert!(cpu_ns * 2 < wall_ns, "{cpu_ns} of {wall_ns}");
}

static HANDLED: AtomicU64 = AtomicU64::new(0);

extern "C" fn handle(_: i32) {
    HANDLED.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn signals_with_a_handler_of_the_program_are_left_alone() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    // The program uses all real-time signals but two.
    let (first, last) = (libc::SIGRTMIN(), libc::SIGRTMAX());
    let handler = handle as extern "C" fn(i32) as *const () as usize;
    let taken: Vec<i32> =
        (first..=last).filter(|signal| ![first + 3, last - 4].contains(signal)).collect();
    // SAFETY: the handler has the signature of one.
    let before: Vec<usize> =
        taken.iter().map(|&signal| unsafe { libc::signal(signal, handler) }).collect();
    let sampler = Sampler::with_options(timer(Clock::Processor)).expect("two signals are free");
    for _ in 0..100 {
        // SAFETY: the signal has a handler.
        unsafe { libc::raise(taken[taken.len() / 2]) };
        work(Duration::from_millis(1));
    }
    drop(sampler);
    assert_eq!(HANDLED.load(Ordering::Relaxed), 100);
    for (&signal, before) in taken.iter().zip(before) {
        // SAFETY: the handlers are those from before.
        unsafe { libc::signal(signal, before) };
    }
}

/// A program of the tests below: it contains the sampler, and works.
#[test]
#[ignore = "a program for other tests"]
fn program() {
    metaspy_sampler::environment::start();
    work(Duration::from_millis(500));
}

/// Refuses perf events to this process and its children, as containers do.
fn refuse_perf() {
    let step = |code: u32, yes: u8, no: u8, k: u32| libc::sock_filter {
        code: code as u16,
        jt: yes,
        jf: no,
        k,
    };
    let mut filter = [
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, libc::SYS_perf_event_open as u32),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the filter lives during both calls, which concern this process alone.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, 2, &program, 0, 0), 0);
    }
}

/// A sampler that may not use perf events, of a program that contains metaspy, and of one that does
/// not.
#[test]
#[ignore = "a program for other tests"]
fn refused() {
    // A filter of the calling thread is that of the threads and processes that it starts.
    refuse_perf();
    let own = std::env::current_exe().expect("a program has a path");
    let words = [own.as_os_str(), "--exact".as_ref(), "program".as_ref(), "--ignored".as_ref()];
    let target = Target::Command(words.map(Into::into).to_vec());
    let profile = Profile::new(
        sample(&target, &Options::default(), &AtomicBool::new(false)).expect("it contains us"),
    );
    metaspy_sampler::text::notes(&profile).iter().for_each(|note| println!("note: {note}"));
    println!(
        "work: {} of {} by {}",
        samples_with(&profile, "::work"),
        profile.total(),
        profile.run.back_end
    );
    let other = Target::Command(vec!["true".into()]);
    let error = sample(&other, &Options::default(), &AtomicBool::new(false))
        .expect_err("it contains nothing");
    println!("error: {error}");
}

/// Runs a program of this file with an environment; returns what it printed to both streams.
fn run(program: &str, environment: &[(&str, &str)]) -> (String, String) {
    let own = std::env::current_exe().expect("a program has a path");
    let mut command = Command::new(own);
    command
        .args(["--exact", program, "--ignored", "--nocapture"])
        .envs(environment.iter().copied());
    let output = command.output().expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn where_perf_is_refused_signals_take_the_samples_and_a_note_has_the_remedy() {
    let (out, _) = run("refused", &[]);
    let line = out.lines().find_map(|line| line.strip_prefix("work: ")).expect("it was sampled");
    let numbers: Vec<u64> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
    assert!(numbers[0] >= 20 && numbers[0] * 10 > numbers[1] * 8, "{out}");
    assert!(line.ends_with("by timer signals on the processor clock"), "{out}");
    assert!(
        out.contains("note: timer signals took the samples: the kernel refuses to sample"),
        "{out}"
    );
    let error = out
        .lines()
        .find_map(|line| line.strip_prefix("error: "))
        .expect("`true` contains nothing of ours");
    assert!(error.contains("--cap-add PERFMON") && error.contains("feature `sample`"), "{error}");
}

#[test]
fn the_environment_selects_the_sampling_of_a_whole_program() {
    for (value, expected) in
        [("1kHz,timer", "timer signals on the processor clock"), ("500,wall", "wall clock")]
    {
        let (_, report) = run("program", &[("METASPY_SAMPLE", value)]);
        assert!(report.contains(expected) && report.contains("spin_own"), "{report}");
    }
    let (_, report) = run("program", &[("METASPY_SAMPLE", "often")]);
    assert!(report.contains("METASPY_SAMPLE=often: write a number from 1 to 10000"), "{report}");
}
