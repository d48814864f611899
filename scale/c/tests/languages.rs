//! A program in C, and a package of Python, with the library as it was built beside this test.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const PACKAGE: &str = env!("CARGO_MANIFEST_DIR");

/// The directory of the library.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("a test is a file");
    test.parent().expect("it is in a directory").to_owned()
}

/// A directory of a test.
fn directory(name: &str) -> PathBuf {
    let path =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    fs::create_dir_all(&path).expect("the target directory is writable");
    path
}

/// Standard output of a command that must succeed.
fn printed(command: &mut Command) -> String {
    let Output { status, stdout, stderr } =
        command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(status.success(), "{command:?}: {status}\n{}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).expect("it prints UTF-8")
}

#[test]
fn a_program_in_c_emits_and_reads() {
    let directory = directory("c");
    let (program, spy) = (directory.join("shop"), directory.join("shop.spy"));
    let mut compiler = Command::new("cc");
    compiler.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-pthread", "-o"]).arg(&program);
    compiler.arg(format!("{PACKAGE}/tests/shop.c")).arg(format!("-I{PACKAGE}/include"));
    compiler.arg(format!("-L{}", library().display())).arg("-lmetaspy_c");
    printed(compiler.arg(format!("-Wl,-rpath,{}", library().display())));
    printed(Command::new(&program).env("METASPY_RECORD", &spy));
    let read = printed(Command::new(&program).arg(&spy));
    assert_eq!(read, "1004 events, 100 failed, 1 shipped, 1000 paid\n");
    let missing =
        Command::new(&program).arg(directory.join("none.spy")).output().expect("it starts");
    assert_eq!(missing.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("none.spy"), "{missing:?}");
    fs::remove_dir_all(directory).expect("it is ours");
}

#[test]
fn a_package_of_python_emits_and_reads() {
    let Some(python) = std::env::var_os("METASPY_PYTHON") else {
        println!("SKIPPED: python: set METASPY_PYTHON to one with pip, wheel and pyarrow");
        return;
    };
    let directory = directory("python");
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "--target"])
        .arg(&directory);
    pip.env("METASPY_LIBRARY", library().join("libmetaspy_c.so"));
    printed(pip.arg(format!("{PACKAGE}/../python")));
    let mut test = Command::new(&python);
    test.arg(format!("{PACKAGE}/../python/tests/test_metaspy.py")).env("PYTHONPATH", &directory);
    println!("{}", printed(test.env("METASPY_TEST_DIRECTORY", &directory)));
    fs::remove_dir_all(directory).expect("it is ours");
}
