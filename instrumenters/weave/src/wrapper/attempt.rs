//! A woven copy is compiled; with fewer hooks if the compiler refuses some, and as the original if it refuses all.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::plan::{Plan, Target};
use crate::runtime::Hooks;
use crate::source::{self, CrateSource, EXTERN_CRATE, Function, SourceFile};
use crate::wrapper::arguments::Arguments;
use crate::wrapper::diagnostics::{self, Said};
use crate::wrapper::listing::{Left, Listing, Method};
use crate::wrapper::mirror::{self, Mirror};
use crate::wrapper::{code, command, dep_info, prefixed};

/// How often hooks are left out that the compiler refuses, before all are.
const TRIES: usize = 4;
/// What a program calls the core that it is given.
const CORE: &str = "__metaspy_core";
/// Why a function has no hook that could have had one.
const REFUSED: &str = "the compiler refuses the hook";

/// A crate to be compiled.
pub struct Crate<'a> {
    /// The compiler, and what is before it.
    pub compiler: &'a [OsString],
    pub arguments: &'a Arguments,
    pub plan: &'a Plan,
    pub target: &'a Target,
    /// The original.
    pub root: &'a Path,
    pub hooks: &'a Hooks,
}

/// A function of a crate: its file and its place in it.
type Place = (usize, usize);

/// Compiles a crate, woven as far as it goes.
pub fn compile(of: &Crate<'_>) -> Result<ExitCode> {
    let source = source::read(of.root).context("its source cannot be read")?;
    let (mut chosen, mut listing) = of.choose(&source)?;
    let (mut checked, mut why) = (false, None);
    for attempt in 0..=TRIES + 1 {
        if attempt > TRIES {
            refuse(of, &source, &mut listing, &mut chosen, |_| true);
        }
        let mirror = of.mirror(&source, &chosen)?;
        let said = diagnostics::hear(of.command(&mirror, !chosen.is_empty())?, true)?;
        if said.status.success() {
            dep_info::name_originals(of.arguments, &mirror.dir)?;
            // What the compiler warns of is about the original's columns, not about those behind hooks.
            if !diagnostics::is_quiet(&said.held) {
                diagnostics::say(&of.check()?.held);
            }
            listing.write(of.plan, &of.arguments.unit())?;
            return Ok(code(said.status));
        }
        if !checked {
            let original = of.check()?;
            if !original.status.success() {
                // These are the user's own errors.
                diagnostics::say(&original.held);
                return Ok(code(original.status));
            }
            checked = true;
        }
        why = diagnostics::first_error(&said.held);
        let places = diagnostics::places(&said.held);
        let before = chosen.len();
        refuse(of, &source, &mut listing, &mut chosen, |place| of.is_blamed(&source, place, &places));
        if chosen.len() == before {
            refuse(of, &source, &mut listing, &mut chosen, |_| true);
            if before == 0 {
                break;
            }
        }
    }
    // Not even without hooks: then it is not woven at all.
    let why = why.unwrap_or_else(|| "the compiler does not say why".to_owned());
    eprintln!("warning: metaspy: {} is compiled as it is: {why}", of.target.krate);
    listing.write(of.plan, &of.arguments.unit())?;
    let mut command = command(of.compiler);
    command.args(of.arguments.all()).arg("-L").arg(prefixed("dependency=", &of.hooks.dir));
    Ok(code(command.status()?))
}

impl Crate<'_> {
    /// The functions that get a hook, and the list of those that do not.
    fn choose(&self, source: &CrateSource) -> Result<(BTreeSet<Place>, Listing)> {
        let mut chosen = BTreeSet::new();
        let mut listing = Listing::of(self.target, self.root);
        if !self.target.is_woven {
            return Ok((chosen, listing));
        }
        let selectors = self.plan.selection.parse()?;
        for (at, file) in source.files.iter().enumerate() {
            let parsed = match &file.parsed {
                Ok(parsed) => parsed,
                Err(why) => {
                    let file = self.shown(file).display().to_string();
                    let method = Method {
                        path: format!("{}::*", self.target.krate),
                        file,
                        line: 1,
                        lines: 0,
                        complexity: 0,
                        is_async: false,
                    };
                    listing.skipped.push(Left { method, reason: why.to_string() });
                    continue;
                }
            };
            let functions = parsed.functions.all.iter().enumerate();
            let meant: Vec<(usize, &Function)> = functions
                .filter(|(_, function)| selectors.means(&file.path_of(&self.target.krate, function)))
                .collect();
            if !meant.is_empty() {
                listing.macros += parsed.functions.invisible.macros;
                listing.derives += parsed.functions.invisible.derives;
            }
            for (place, function) in meant {
                match function.skipped {
                    Some(reason) => {
                        listing.skipped.push(Left { method: self.method(file, function), reason: reason.to_owned() });
                    }
                    None => {
                        chosen.insert((at, place));
                        listing.woven.push(self.method(file, function));
                    }
                }
            }
        }
        Ok((chosen, listing))
    }

    fn method(&self, file: &SourceFile, function: &Function) -> Method {
        let (line, last) = function.lines;
        Method {
            path: file.path_of(&self.target.krate, function),
            file: self.shown(file).display().to_string(),
            line,
            lines: last + 1 - line,
            complexity: function.complexity,
            is_async: function.is_async,
        }
    }

    fn shown(&self, file: &SourceFile) -> PathBuf {
        mirror::shown(&file.path, self.is_relative())
    }

    fn is_relative(&self) -> bool {
        self.arguments.root().is_some_and(Path::is_relative)
    }

    /// Whether one of these places is in the function, and in no chosen one within it.
    fn is_blamed(&self, source: &CrateSource, (file, place): Place, places: &[(PathBuf, u32)]) -> bool {
        let SourceFile { parsed: Ok(parsed), .. } = &source.files[file] else { return false };
        let shown = self.shown(&source.files[file]);
        let (first, last) = parsed.functions.all[place].lines;
        places.iter().any(|(at, line)| *at == shown && (first..=last).contains(line))
    }

    /// Makes the copy. A program that needs a core names it behind all that its author wrote.
    fn mirror(&self, source: &CrateSource, chosen: &BTreeSet<Place>) -> Result<Mirror> {
        let mut woven = BTreeMap::new();
        for (at, file) in source.files.iter().enumerate() {
            let Ok(parsed) = &file.parsed else { continue };
            let functions = parsed.functions.all.iter().enumerate();
            let functions: Vec<&Function> =
                functions.filter(|(place, _)| chosen.contains(&(at, *place))).map(|(_, function)| function).collect();
            if at == 0 || !functions.is_empty() {
                woven.insert(file.path.clone(), source::weave(&file.text, functions));
            }
        }
        let root = &source.files[0];
        let text = woven.entry(root.path.clone()).or_insert_with(|| root.text.clone());
        if self.core().is_some() {
            write!(text, "\nextern crate {CORE} as _;\n")?;
        }
        let dir = self.plan.dir.join("mirrors").join(self.arguments.unit());
        Mirror::build(&dir, &self.target.root, source, &woven).context("its source cannot be copied")
    }

    fn core(&self) -> Option<&crate::plan::Core> {
        self.plan.core.as_ref().filter(|_| self.target.needs_core && self.arguments.is_program())
    }

    fn command(&self, mirror: &Mirror, has_hooks: bool) -> Result<Command> {
        let mut command = command(self.compiler);
        command.args(self.arguments.with_root(&mirror.of(self.root)));
        command.args(mirror.remap(self.is_relative())?);
        command.arg("-L").arg(prefixed("dependency=", &self.hooks.dir));
        if has_hooks {
            command.arg("--extern").arg(prefixed(&format!("{EXTERN_CRATE}="), &self.hooks.library));
        }
        if let Some(core) = self.core() {
            command.arg("--extern").arg(prefixed(&format!("{CORE}="), &core.library));
            for dir in &core.dependencies {
                command.arg("-L").arg(prefixed("dependency=", dir));
            }
        }
        Ok(command)
    }

    /// What the compiler says of the original.
    fn check(&self) -> Result<Said> {
        let dir = self.plan.dir.join("checks").join(self.arguments.unit());
        fs::create_dir_all(&dir)?;
        let mut command = command(self.compiler);
        command.args(self.arguments.checking(&dir)).arg("-L").arg(prefixed("dependency=", &self.hooks.dir));
        let said = diagnostics::hear(command, false);
        let _ = fs::remove_dir_all(dir);
        said
    }
}

/// Leaves hooks out.
fn refuse(
    of: &Crate<'_>,
    source: &CrateSource,
    listing: &mut Listing,
    chosen: &mut BTreeSet<Place>,
    is_refused: impl Fn(Place) -> bool,
) {
    let refused: Vec<Place> = chosen.iter().copied().filter(|place| is_refused(*place)).collect();
    for (file, place) in refused {
        chosen.remove(&(file, place));
        let Ok(parsed) = &source.files[file].parsed else { continue };
        let method = of.method(&source.files[file], &parsed.functions.all[place]);
        listing.woven.retain(|woven| *woven != method);
        listing.skipped.push(Left { method, reason: REFUSED.to_owned() });
    }
}
