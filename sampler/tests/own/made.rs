//! Programs that make code, and register it: samples are at the positions of what they run.

use std::hint::black_box;
#[cfg(target_arch = "x86_64")]
use std::os::fd::IntoRawFd;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::PoisonError;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
#[cfg(target_arch = "x86_64")]
use std::time::Instant;

use metaspy_sampler::code_map::{Bytecode, CodeMap, Kind};
use metaspy_sampler::run::{Ended, Run};
use metaspy_sampler::samples::CodeLocation;
use metaspy_sampler::{Options, Profile, SampleError, Target, sample};

use crate::{ALONE, samples_with, work};

/// Samples a program of these tests. Prints why and returns `None` where the system does not permit
/// it.
fn sampled(program: &str) -> Option<Run> {
    // Unwinding takes processor time of this process.
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let own = std::env::current_exe().expect("a program has a path");
    let words = [own.as_os_str(), "--exact".as_ref(), program.as_ref(), "--ignored".as_ref()];
    let target = Target::Command(words.map(Into::into).to_vec());
    match sample(&target, &Options::default(), &AtomicBool::new(false)) {
        Err(error @ (SampleError::NotPermitted(_) | SampleError::NotSupported)) => {
            println!("SKIPPED: sampling: {error}");
            None
        }
        run => Some(run.expect("it starts")),
    }
}

/// An interpreter of two functions, each with an instruction that takes long and one that does not.
/// The second function is where the first one was.
#[test]
#[ignore = "a program for other tests"]
fn interpreter() {
    let mut code = [60_u64, 1];
    for name in ["first", "second"] {
        let range = code.as_ptr_range();
        let (start, end) = (range.start as u64, range.end as u64);
        CodeMap::register(name, Kind::Bytecode, start..end, &[(start, 1), (start + 8, 2)]);
        interpret(&mut code);
        CodeMap::unregister(start..end);
    }
    // Nothing is registered there now.
    interpret(&mut code);
}

/// A program that registers false code, forks children that work in code of its own and in code of
/// their own, and executes the interpreter.
#[test]
#[ignore = "a program for other tests"]
fn liar() {
    let code = [1_u64, 2];
    let start = code.as_ptr() as u64;
    CodeMap::register("of the parent", Kind::Bytecode, start..start + 8, &[(start, 1)]);
    CodeMap::register(
        "everything",
        Kind::Function,
        0..u64::MAX / 2,
        &[(u64::MAX, u64::MAX), (0, 0), (0, 7)],
    );
    CodeMap::register("nothing", Kind::Stub, 9..9, &[]);
    CodeMap::register(
        "backwards",
        Kind::InlineCache,
        std::ops::Range { start: 90, end: 10 },
        &[(50, 1)],
    );
    CodeMap::register("the rest", Kind::Function, 1..u64::MAX, &[]);
    CodeMap::register("of\0the parent", Kind::Bytecode, start..start + 8, &[(start, 1)]);
    for _ in 0..3 {
        // SAFETY: the child works on its own memory, and ends without the parent's handlers.
        let child = unsafe { libc::fork() };
        if child == 0 {
            interpret_for(&code[0], 60);
            let start = std::ptr::from_ref(&code[1]) as u64;
            CodeMap::register("of the child", Kind::Bytecode, start..start + 8, &[(start, 1)]);
            interpret_for(&code[1], 60);
            // SAFETY: as above.
            unsafe { libc::_exit(0) };
        }
        let mut status = -1;
        // SAFETY: the call fills the status.
        unsafe { libc::waitpid(child, &mut status, 0) };
        assert_eq!(status, 0);
    }
    // Nothing of the children is registered here.
    interpret_for(&code[1], 60);
    // Another program in the same process has code of its own.
    let own = std::env::current_exe().expect("a program has a path");
    let error = Command::new(own).args(["--exact", "made::interpreter", "--ignored"]).exec();
    panic!("{error}");
}

#[inline(never)]
fn interpret_for(instruction: &u64, ms: u64) {
    let current = Bytecode::new();
    current.at(black_box(instruction));
    work(Duration::from_millis(ms));
}

#[test]
fn false_code_does_no_harm_and_children_have_the_code_of_their_parent_and_their_own() {
    let Some(run) = sampled("made::liar") else { return };
    assert!(matches!(run.ended, Ended::Exited(status) if status.success()), "{:?}", run.ended);
    let profile = Profile::new(run);
    let [parent, child, work] = ["of?the parent (bytecode)", "of the child (bytecode)", "spin_own"]
        .map(|name| samples_with(&profile, name));
    // Real code keeps its names, whatever is registered at its addresses.
    assert!(work * 10 > profile.total() * 8, "{work} of {}", profile.total());
    assert!(parent > 100 && child > 100, "{parent} and {child} of {work}");
    let [first, second] =
        ["first", "second"].map(|name| samples_with(&profile, &format!("{name} (bytecode)")));
    assert!(first > 60 && second > 60, "{first} and {second} of the program that replaced it");
    assert!(
        parent + child < work,
        "the parent's own turn is in neither: {parent} and {child} of {work}"
    );
}

/// A program that keeps its dump in a buffer until it ends, as V8 does: it counts down in code that
/// it made.
#[cfg(target_arch = "x86_64")]
#[test]
#[ignore = "a program for other tests"]
fn late() {
    // `dec rdi`, `jne` to it, `ret`.
    const CODE: [u8; 6] = [0x48, 0xFF, 0xCF, 0x75, 0xFB, 0xC3];
    let path = std::env::temp_dir().join(format!("jit-{}.dump", std::process::id()));
    let file = std::fs::File::create_new(&path).expect("the name is new");
    file.set_len(40).expect("it can grow");
    let map = |protection, flags, file| {
        // SAFETY: a new mapping, which nothing else uses.
        let at = unsafe { libc::mmap(std::ptr::null_mut(), 40, protection, flags, file, 0) };
        assert_ne!(at, libc::MAP_FAILED);
        at
    };
    let file = std::fs::File::options()
        .read(true)
        .write(true)
        .open(&path)
        .expect("it is there")
        .into_raw_fd();
    map(libc::PROT_READ, libc::MAP_PRIVATE, file);
    let all = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
    let code = map(all, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1).cast::<u8>();
    let now = || {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the call fills the structure.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    };
    let made = now();
    // SAFETY: the memory has room for the code, which counts down and returns.
    let count: extern "C" fn(u64) = unsafe {
        code.copy_from_nonoverlapping(CODE.as_ptr(), CODE.len());
        std::mem::transmute(code)
    };
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_millis(700) {
        count(100_000_000);
    }
    let words =
        |words: &[u32]| words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>();
    let longs =
        |words: &[u64]| words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>();
    let pid = std::process::id();
    let name = b"counted late\0";
    let dump = [
        words(&[0x4A69_5444, 1, 40, 62, 0, pid]),
        longs(&[made, 0]),
        words(&[0, 16 + 40 + name.len() as u32]),
        longs(&[made]),
        words(&[pid, pid]),
        longs(&[code as u64, code as u64, CODE.len() as u64, 1]),
        name.to_vec(),
    ];
    std::fs::write(&path, dump.concat()).expect("it can be written");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_dump_that_is_written_at_the_end_names_the_samples_from_before() {
    let Some(run) = sampled("made::late") else { return };
    std::fs::remove_file(std::env::temp_dir().join(format!("jit-{}.dump", run.pid)))
        .expect("it was written");
    let profile = Profile::new(run);
    let named = samples_with(&profile, "counted late");
    assert!(named > 100 && named * 10 > profile.total() * 9, "{named} of {}", profile.total());
    let rows = profile.sections();
    assert!(
        rows.iter().flat_map(|section| &section.functions).all(|row| row.samples > 0),
        "no row is empty"
    );
}

#[inline(never)]
fn interpret(code: &mut [u64; 2]) {
    let current = Bytecode::new();
    for instruction in black_box(code).iter() {
        current.at(instruction);
        work(Duration::from_millis(3 * instruction));
    }
}

#[test]
fn samples_of_an_interpreter_are_at_its_bytecodes_also_after_these_are_gone() {
    let Some(run) = sampled("made::interpreter") else { return };
    let made: Vec<&str> = run.samples.made.iter().map(|of| &*of.name).collect();
    assert_eq!(made.len(), 2, "{made:?}");
    let profile = Profile::new(run);
    let (first, second) =
        (samples_with(&profile, "first (bytecode)"), samples_with(&profile, "second (bytecode)"));
    let all = samples_with(&profile, "interpret");
    assert!(first > 60 && second > 60 && first + second < all, "{first} and {second} of {all}");
    // Both work for the same time; what is registered at the beginning is known as early as what
    // follows.
    assert!(first * 5 > second * 4, "{first} and {second}");
    // The frame of the loop is its caller, so the bytecode is what the loop called.
    let methods = profile.methods_and_calls();
    let name = |function: u32| &*profile.symbols.functions[function as usize].name;
    let method = methods
        .iter()
        .find(|method| name(method.function) == "first (bytecode)")
        .expect("it has samples");
    assert!(
        name(method.callers[0].function).ends_with("interpret"),
        "{}",
        name(method.callers[0].function)
    );
    let at = |place: &CodeLocation| match *place {
        CodeLocation::Made { function, address } => {
            profile.run.samples.made[function as usize].range(address)
        }
        _ => None,
    };
    let places = profile.run.samples.addresses.iter().filter_map(at);
    assert!(places.into_iter().all(|range| [(1, 2), (2, u64::MAX)].contains(&range)));
}
