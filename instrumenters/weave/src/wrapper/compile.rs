//! Compiles a woven copy: with fewer hooks if the compiler refuses some, and without any if it
//! refuses all.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{fs, io};

use anyhow::{Context, Result, bail};
use metaspy_reader::text::print_message;
use serde_json::Value;

use crate::plan::{Plan, Target, read_whole_text, write_whole};
use crate::runtime::Hooks;
use crate::source::{self, CrateSource, EXTERN_CRATE, SourceFile};
use crate::wrapper::arguments::Arguments;
use crate::wrapper::diagnostics::{self, CompilerOutput};
use crate::wrapper::fallback::ChosenHooks;
use crate::wrapper::listing::{Listing, SharedLibrary};
use crate::wrapper::overlay::{self, Overlay};
use crate::wrapper::{command, exit_code, link_core, plain, prefixed, unnamed};

/// Attempts with smaller or fewer hooks before all are left out.
const TRIES: usize = 10;
/// The environment variable that prints the compiler's messages about the hooks that it refuses.
const DIAGNOSTICS: &str = "METASPY_WEAVE_DIAGNOSTICS";
/// The name of the core in a program that gets one.
const CORE: &str = "__metaspy_core";
/// The warning about a program whose objects are not counted.
const OWN_ALLOCATOR: &str = "has a global allocator of its own, so its objects are not counted: depend on metaspy-core, and put \
    the allocator into a `metaspy_core::hook::Counting`";
/// The same, about a program that only the linker can give a core.
const NO_CORE: &str =
    "cannot name metaspy's core without becoming ambiguous, so its objects are not counted";
/// The same, about a shared library that is a dependency of other crates, too.
const LINKED_CORE: &str =
    "is an `rlib` as well, and gets metaspy's core from the linker, so its objects are not counted";
/// About a static library: no symbol refers to its core.
const WHOLE_ARCHIVE: &str =
    "has a core, which a linker takes with `-Wl,--whole-archive`: otherwise nothing is recorded";
/// About a static library without a core.
const STATIC_WITHOUT_CORE: &str = "has no core, so programs in other languages that are linked with it are not recorded: \
    make it a `cdylib`, or on Linux a `staticlib` that is no `rlib`";
/// The allocator that counts objects, at the end of a program's root.
const ALLOCATOR: &str = "
#[doc(hidden)]
mod __metaspy_allocator {
    extern crate __metaspy_core as core_of_metaspy;
    extern crate std;
    #[global_allocator]
    static ALLOCATOR: core_of_metaspy::hook::Counting<std::alloc::System> =
        core_of_metaspy::hook::Counting::new(std::alloc::System);
}
";
/// The name of a profiler, before its number.
const PROFILER: &str = "__metaspy_profiler";

/// A crate to compile.
pub struct Crate<'a> {
    /// The compiler, behind its wrapper.
    pub compiler: &'a [OsString],
    pub arguments: &'a Arguments,
    pub plan: &'a Plan,
    pub target: &'a Target,
    /// The original.
    pub root: &'a Path,
    pub hooks: &'a Hooks,
}

/// Compiles a crate with as many hooks as the compiler accepts.
pub fn compile(of: &Crate<'_>) -> Result<ExitCode> {
    let source = source::read(of.root).context("its source cannot be read")?;
    let mut choice = of.choose(&source)?;
    choice.counts_objects = of.plan.selection.allocations && of.core().is_some();
    let mut why = None::<String>;
    // Crates that are compiled against a library do not know its core: the linker alone adds it.
    let mut is_linked =
        of.core().is_some() && !of.arguments.is_program() && of.arguments.is_dependency();
    if is_linked && std::mem::take(&mut choice.counts_objects) {
        print_message(&format!(
            "warning: metaspy: the shared library {} {LINKED_CORE}",
            of.target.krate
        ));
    }
    if of.target.needs_core && of.arguments.is_static_library() && !choice.is_empty() {
        let what =
            if of.core().is_some() && !is_linked { WHOLE_ARCHIVE } else { STATIC_WITHOUT_CORE };
        print_message(&format!("warning: metaspy: the static library {} {what}", of.target.krate));
    }
    for attempt in 0..=TRIES + 1 {
        if attempt > TRIES {
            choice.leave_all(why.as_deref());
        }
        let mirror = of.mirror(&source, &choice, is_linked)?;
        let output = diagnostics::run(of.command(&mirror, !choice.is_empty(), is_linked)?, true)?;
        if output.status.success() {
            return of.finish(&source, &mut choice, &mirror, &output);
        }
        if choice.counts_objects && diagnostics::is_second_allocator(&output.held) {
            choice.counts_objects = false;
            print_message(&format!("warning: metaspy: {} {OWN_ALLOCATOR}", of.target.krate));
            continue;
        }
        if !is_refusal(&output) {
            // The compiler was killed, or the linker failed: no hook is the cause.
            let why =
                diagnostics::first_error(&output.held).unwrap_or_else(|| output.status.to_string());
            bail!("the compiler failed: {why}");
        }
        if why.is_none()
            && let Some(code) = of.own_errors()?
        {
            return Ok(code);
        }
        why = diagnostics::first_error(&output.held);
        if std::env::var_os(DIAGNOSTICS).is_some() {
            diagnostics::print(&output.held);
        }
        if !is_linked && of.core().is_some() && diagnostics::is_ambiguous(&output.held) {
            is_linked = true;
            if std::mem::take(&mut choice.counts_objects) {
                print_message(&format!("warning: metaspy: {} {NO_CORE}", of.target.krate));
            }
            continue;
        }
        // If the compiler points at no hook, larger hooks shrink before light ones are removed.
        if !choice.yield_at(&diagnostics::places(&output.held), &source) {
            if choice.is_empty() {
                break;
            }
            choice.yield_most(why.as_deref());
        }
    }
    // The copy fails even without hooks: compile the original.
    let why = why.unwrap_or_else(|| "the compiler gives no reason".to_owned());
    print_message(&format!(
        "warning: metaspy: {} is compiled without hooks: {why}",
        of.target.krate
    ));
    choice.listing.write(of.plan, &of.arguments.unit())?;
    Ok(plain(of.compiler, of.arguments))
}

/// True if the compiler refuses the code: then an error has a code or a place.
fn is_refusal(output: &CompilerOutput) -> bool {
    let mut lines = output.held.iter().filter_map(|line| serde_json::from_str(line).ok());
    output.status.code().is_some()
        && (!diagnostics::places(&output.held).is_empty()
            || lines
                .any(|message: Value| message["level"] == "error" && !message["code"].is_null()))
}

impl Crate<'_> {
    /// Ends a successful compilation. Diagnostics come from the original, because columns behind
    /// hooks moved in the copy, and because a hook that uses an argument hides that it is unused.
    fn finish(
        &self,
        source: &CrateSource,
        choice: &mut ChosenHooks,
        mirror: &Overlay,
        output: &CompilerOutput,
    ) -> Result<ExitCode> {
        let dep_info = name_originals(self.arguments, &mirror.dir)?;
        if self.target.is_woven {
            let results = self.plan.dir.parent().unwrap_or(&self.plan.dir);
            choice.listing.skipped.extend(unnamed::files(&dep_info, self.target, results, source));
        }
        let selection = &self.plan.selection;
        let hides = (selection.args || selection.types)
            && !choice.is_empty()
            && !self.arguments.caps_lints();
        if hides || !diagnostics::is_quiet(&output.held) {
            let original = self.check()?;
            diagnostics::print(&original.held);
            if !original.status.success() {
                // A denied warning is an error.
                return Ok(exit_code(original.status));
            }
        }
        choice.listing.write(self.plan, &self.arguments.unit())?;
        Ok(exit_code(output.status))
    }

    /// Prints the errors of the original, if it has any.
    fn own_errors(&self) -> Result<Option<ExitCode>> {
        let original = self.check()?;
        if original.status.success() {
            return Ok(None);
        }
        diagnostics::print(&original.held);
        Ok(Some(exit_code(original.status)))
    }

    fn choose(&self, source: &CrateSource) -> Result<ChosenHooks> {
        let listing = Listing::of(self.target, self.root, self.shared_library()).with_files(source);
        let shown = |file: &SourceFile| self.shown(file);
        ChosenHooks::new(self.plan, self.target, source, listing, shown, self.arguments.build())
    }

    fn shown(&self, file: &SourceFile) -> PathBuf {
        overlay::shown(&file.path, self.is_relative())
    }

    fn is_relative(&self) -> bool {
        self.arguments.root().is_some_and(Path::is_relative)
    }

    /// Makes the copy. A program that needs a core gets an `extern crate` at the end of its root.
    fn mirror(
        &self,
        source: &CrateSource,
        choice: &ChosenHooks,
        is_linked: bool,
    ) -> Result<Overlay> {
        let mut woven = BTreeMap::new();
        for (at, file) in source.files.iter().enumerate() {
            let Ok(parsed) = &file.parsed else { continue };
            let edits = choice.edits(at, &parsed.functions);
            if at == 0 || !edits.is_empty() {
                woven.insert(file.path.clone(), source::weave(&file.text, edits));
            }
        }
        let root = &source.files[0];
        let text = woven.entry(root.path.clone()).or_insert_with(|| root.text.clone());
        for (name, _) in self.given().into_iter().filter(|_| !is_linked) {
            write!(text, "\nextern crate {name} as _;\n")?;
        }
        if choice.counts_objects {
            text.push_str(ALLOCATOR);
        }
        let dir = self.plan.dir.join("overlays").join(self.arguments.unit());
        Overlay::build(&dir, &self.target.root, source, &woven)
            .context("its source cannot be copied")
    }

    fn core(&self) -> Option<&crate::plan::Core> {
        self.plan.core.as_ref().filter(|_| self.target.needs_core && self.arguments.takes_core())
    }

    /// Tells whether a core counts the calls of the shared library that this compilation makes, as
    /// far as this build decides it.
    fn shared_library(&self) -> SharedLibrary {
        match self.core() {
            _ if !self.target.needs_core || !self.arguments.is_system_library() => {
                SharedLibrary::None
            }
            Some(_) => SharedLibrary::Counting,
            None => SharedLibrary::WithoutCore,
        }
    }

    /// The crates that are added to a program, with their libraries: the core and profilers.
    fn given(&self) -> Vec<(String, &Path)> {
        let Some(core) = self.core() else { return Vec::new() };
        let profilers = core.profilers.iter().enumerate();
        let profilers =
            profilers.map(|(at, library)| (format!("{PROFILER}_{at}"), library.as_path()));
        [(CORE.to_owned(), core.library.as_path())].into_iter().chain(profilers).collect()
    }

    fn command(&self, mirror: &Overlay, has_hooks: bool, is_linked: bool) -> Result<Command> {
        let mut command = command(self.compiler);
        command.args(self.arguments.with_root(&mirror.of(self.root)));
        command.args(mirror.remap(self.is_relative())?);
        if has_hooks {
            command.arg("--extern").arg(prefixed(
                &format!("{EXTERN_CRATE}="),
                &self.hooks.library(self.arguments.is_optimized()),
            ));
        }
        match self.core() {
            Some(core) if is_linked => {
                command.args(link_core::arguments(core));
            }
            Some(core) => {
                for (name, library) in self.given() {
                    command.arg("--extern").arg(prefixed(&format!("{name}="), library));
                }
                for dir in &core.dependencies {
                    command.arg("-L").arg(prefixed("dependency=", dir));
                }
            }
            None => {}
        }
        Ok(command)
    }

    /// Checks the original.
    fn check(&self) -> Result<CompilerOutput> {
        let dir = self.plan.dir.join("checks").join(self.arguments.unit());
        fs::create_dir_all(&dir)?;
        let mut command = command(self.compiler);
        // The compiler's incremental state stays for the next edit.
        let incremental = self.plan.dir.join("incremental").join(self.arguments.unit());
        command.args(self.arguments.checking(&dir, &incremental));
        let output = diagnostics::run(command, false);
        let _ = fs::remove_dir_all(dir);
        let output = output?;
        match output.status.code() {
            Some(_) => Ok(output),
            None => bail!("the compiler failed: {}", output.status),
        }
    }
}

/// Names the originals in the dep-info file, where the compiler named their copies. Then an edit of
/// an original makes cargo compile the crate again. Returns the new content of the file.
fn name_originals(arguments: &Arguments, mirror: &Path) -> io::Result<String> {
    let Some(dir) = arguments.out_dir() else { return Ok(String::new()) };
    let path = dir.join(format!("{}.d", arguments.results()));
    let text = match read_whole_text(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
        text => text?,
    };
    // The path of a copy is the overlay's path and the original's path.
    let mirror = mirror.display().to_string();
    let text = text.replace(&mirror.replace(' ', "\\ "), "").replace(&mirror, "");
    write_whole(&path, text.as_bytes())?;
    Ok(text)
}
