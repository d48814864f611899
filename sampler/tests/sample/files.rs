//! The file that ran has the names, whatever became of its path.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use metaspy_sampler::{Options, Profile, SampleError, Target, sample_live};

use crate::common::{build, command, profile_of, samples_of};

/// A directory for one test, without what an earlier run left.
fn directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir(&path).expect("the directory is cargo's");
    path
}

/// A copy of the program `shares`.
fn copy(directory: &Path) -> PathBuf {
    let program = directory.join("app");
    fs::copy(build("shares", &[]), &program).expect("it can be copied");
    program
}

/// Lets another program take the path of one.
fn replace(program: &Path) {
    let other = program.with_extension("new");
    fs::copy(build("strange", &[]), &other).expect("it can be copied");
    fs::rename(other, program).expect("it can be renamed");
}

fn started(program: &Path) -> Child {
    Command::new(program).arg("100000").stdout(Stdio::null()).spawn().expect("it starts")
}

/// The profile of a process that is ended then.
fn profile_of_running(mut child: Child) -> Option<Profile> {
    let options = Options { limit: Some(Duration::from_millis(500)), ..Options::default() };
    let profile = profile_of(&Target::Process(child.id()), &options);
    child.kill().and_then(|()| child.wait()).expect("it still ran");
    profile
}

fn assert_named(profile: &Profile) {
    let named = samples_of(profile, "larger") + samples_of(profile, "smaller");
    assert!(named * 10 > profile.total() * 8 && named > 0, "{named} of {}", profile.total());
    assert!(
        profile.symbols.notes.iter().all(|note| !note.contains("app")),
        "{:?}",
        profile.symbols.notes
    );
    assert!(
        profile.symbols.functions.iter().all(|of| !of.module.contains("deleted")),
        "a path is a path"
    );
}

#[test]
fn a_program_that_was_removed_or_replaced_before_has_its_own_names() {
    let changes: [fn(&Path); 2] =
        [|program| fs::remove_file(program).expect("it is ours"), replace];
    for change in changes {
        let program = copy(&directory("changed-before"));
        let child = started(&program);
        change(&program);
        let Some(profile) = profile_of_running(child) else { return };
        assert_named(&profile);
    }
}

#[test]
fn a_program_that_is_replaced_while_it_is_sampled_has_its_own_names() {
    let program = copy(&directory("changed-while"));
    let mut is_replaced = false;
    let watch = |_: &Profile| {
        if !std::mem::replace(&mut is_replaced, true) {
            replace(&program);
        }
    };
    let run = match sample_live(
        &command(&program, &["400"]),
        &Options::default(),
        &Default::default(),
        watch,
    ) {
        Err(error @ (SampleError::NotPermitted(_) | SampleError::NotSupported)) => {
            return println!("SKIPPED: sampling: {error}");
        }
        run => run.expect("it starts"),
    };
    assert!(is_replaced, "the program runs for more than a second");
    assert_named(&Profile::new(run));
}

#[test]
fn a_program_in_a_mount_namespace_has_its_own_names() {
    let directory = directory("mounted");
    let program = build("shares", &[]);
    // Only the process sees the file below the mount.
    let script = format!(
        "mount -t tmpfs none '{0}' && cp '{1}' '{0}/app' && exec '{0}/app' 60 > /dev/null",
        directory.display(),
        program.display()
    );
    let is_permitted = Command::new("unshare")
        .args(["--mount", "true"])
        .status()
        .is_ok_and(|status| status.success());
    if !is_permitted {
        return println!("SKIPPED: namespaces: unshare is not permitted");
    }
    let target = command("unshare".as_ref(), &["--mount", "sh", "-c", &script]);
    let Some(profile) = profile_of(&target, &Options::default()) else { return };
    assert!(!directory.join("app").exists(), "the mount is of the process");
    assert_named(&profile);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn generated_code_in_a_pid_namespace_has_the_names_of_its_map() {
    let flags = ["--mount", "--pid", "--fork", "--mount-proc"];
    let is_permitted = Command::new("unshare")
        .args(flags)
        .arg("true")
        .status()
        .is_ok_and(|status| status.success());
    if !is_permitted {
        return println!("SKIPPED: namespaces: unshare is not permitted");
    }
    // Only the processes there see this directory as /tmp.
    let directory = directory("private-tmp");
    fs::copy(build("strange", &[]), directory.join("app")).expect("it can be copied");
    let script = format!("mount --bind '{}' /tmp && exec /tmp/app code", directory.display());
    let words = [&flags[..], &["sh", "-c", &script]].concat();
    let Some(profile) = profile_of(&command("unshare".as_ref(), &words), &Options::default())
    else {
        return;
    };
    assert!(directory.join("perf-1.map").exists(), "the program has the number 1 there");
    assert!(
        samples_of(&profile, "made::spin") > 0,
        "{:?} {:?}",
        profile.sections(),
        profile.symbols.notes
    );
}

#[test]
fn a_program_in_a_file_without_a_path_has_its_own_names() {
    use std::os::fd::{AsRawFd, FromRawFd};
    // SAFETY: the name is a C string; the result is a new descriptor or an error.
    let memory = unsafe { libc::memfd_create(c"app".as_ptr(), libc::MFD_CLOEXEC) };
    assert!(memory >= 0, "{}", std::io::Error::last_os_error());
    // SAFETY: the descriptor is new, and nothing else closes it.
    let written = unsafe { fs::File::from_raw_fd(memory) };
    let path = |file: &fs::File| {
        PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()))
    };
    fs::write(path(&written), fs::read(build("shares", &[])).expect("it was built"))
        .expect("memory has room");
    // What is open for writing cannot be executed.
    let program = fs::File::open(path(&written)).expect("it is open");
    drop(written);
    let Some(profile) = profile_of(&command(&path(&program), &["60"]), &Options::default()) else {
        return;
    };
    assert_named(&profile);
}

#[test]
fn debug_information_beside_the_program_is_found_by_its_link() {
    let directory = directory("apart");
    let (program, apart) = (copy(&directory), directory.join("app.debug"));
    let objcopy = |arguments: &[&str]| {
        Command::new("objcopy")
            .args(arguments)
            .current_dir(&directory)
            .status()
            .is_ok_and(|status| status.success())
    };
    if !objcopy(&["--only-keep-debug", "app", "app.debug"]) {
        return println!("SKIPPED: objcopy: there is none");
    }
    // Neither a build id nor a symbol leads to a name.
    let strip = [
        "--strip-all",
        "--remove-section=.note.gnu.build-id",
        "--add-gnu-debuglink=app.debug",
        "app",
    ];
    assert!(objcopy(&strip));
    let profile = || profile_of(&command(&program, &["60"]), &Options::default());
    let Some(beside) = profile() else { return };
    assert_named(&beside);
    fs::create_dir(directory.join(".debug")).expect("the directory is ours");
    fs::rename(&apart, directory.join(".debug/app.debug")).expect("it can be moved");
    assert_named(&profile().expect("it was permitted before"));
    in_mount(&directory);
    // Debug information of another build says nothing about this one.
    fs::copy(build("strange", &[]), directory.join(".debug/app.debug")).expect("it can be copied");
    let other = profile().expect("it was permitted before");
    assert!(
        other.symbols.notes.iter().any(|note| note.contains("is stripped")),
        "{:?}",
        other.symbols.notes
    );
}

/// Only the process sees both files, and nobody does when it has ended.
fn in_mount(directory: &Path) {
    if !Command::new("unshare")
        .args(["--mount", "true"])
        .status()
        .is_ok_and(|status| status.success())
    {
        return println!("SKIPPED: namespaces: unshare is not permitted");
    }
    let mount = directory.join("mount");
    fs::create_dir(&mount).expect("the directory is ours");
    let script = "mount -t tmpfs none mount && cp -r app .debug mount && exec mount/app 60";
    let script = format!("cd '{}' && {script} > /dev/null", directory.display());
    let target = command("unshare".as_ref(), &["--mount", "sh", "-c", &script]);
    assert_named(&profile_of(&target, &Options::default()).expect("it was permitted before"));
}

#[test]
fn code_in_the_first_segment_of_a_file_has_callers() {
    let program =
        build("shares", &["-Clink-arg=-fuse-ld=bfd", "-Clink-arg=-Wl,-z,noseparate-code"]);
    let Some(profile) = profile_of(&command(&program, &["60"]), &Options::default()) else {
        return;
    };
    let broken = profile.doubts().broken;
    assert!(
        profile.total() > 50 && broken * 20 <= profile.total(),
        "{broken} of {}",
        profile.total()
    );
}
