//! Symbolization: from addresses to the executed function and the functions that were inlined into
//! it, with their lines.

mod category;
mod debug_file;
pub(crate) mod elf;
mod generics;
mod jit;
mod kernel;

use std::cell::OnceCell;
use std::collections::HashMap;

use crate::code_file::Missing;
use crate::code_map::PerfMap;
use crate::options::Instances;
use crate::run::Run;
use crate::samples::{CodeLocation, Module};
use elf::{Elf, Names};
use jit::Jit;
use kernel::Kernel;

pub use category::Category;

/// Index of a function in [`Symbols::functions`].
pub type FunctionId = u32;

/// Named function of the source or of a code file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Function {
    /// Path of the function, or its address if it has no name.
    pub name: String,
    /// Source file, if it is known.
    pub file: Option<String>,
    /// Owner of the code.
    pub category: Category,
    /// Code file that contains the function: a path, or a name in brackets.
    pub module: String,
}

/// Function and line of an address, on a single level of inlining.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// Number of the function.
    pub function: FunctionId,
    /// Source line; 0 if it is not known, or if the compiler made the code.
    pub line: u32,
}

/// Symbolized address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// Frames of the address, innermost first: inlined functions, then the executed function.
    pub frames: Vec<Frame>,
    /// Range of positions in a code map, in place of lines.
    pub range: Option<(u64, u64)>,
}

/// Symbolized addresses of a run.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    /// Distinct functions of all addresses.
    pub functions: Vec<Function>,
    /// Symbolized form of each address, in the order of the run's addresses.
    pub addresses: Vec<Resolved>,
    /// Sentences about addresses without names, each with the remedy.
    pub notes: Vec<String>,
    numbers: HashMap<Function, FunctionId>,
    instances: Instances,
}

impl Symbols {
    /// Resolves all addresses of a run.
    pub fn read(run: &Run) -> Symbols {
        let mut symbols = Symbols { instances: run.options.instances, ..Symbols::default() };
        let files: Vec<OnceCell<Elf>> =
            run.samples.modules.iter().map(|_| OnceCell::new()).collect();
        let mut names: Vec<Names> = run.samples.modules.iter().map(|_| Names::default()).collect();
        let mut kernel = None;
        let mut jits: HashMap<u32, Jit> = HashMap::new();
        // The addresses are sorted, because neighbours share a part of the debug information.
        let places = &run.samples.addresses;
        let mut order: Vec<usize> = (0..places.len()).collect();
        order.sort_by_key(|&at| {
            if let CodeLocation::Module { module, address } = places[at] {
                (module, address)
            } else {
                (u32::MAX, 0)
            }
        });
        symbols.addresses.resize(places.len(), Resolved { frames: Vec::new(), range: None });
        for at in order {
            symbols.addresses[at] = match places[at] {
                CodeLocation::Module { module, address } => {
                    let of = &run.samples.modules[module as usize];
                    let elf = files[module as usize].get_or_init(|| Elf::read(of));
                    elf.resolve(&mut names[module as usize], &mut symbols, of, address)
                }
                CodeLocation::Kernel(address) => {
                    let name = kernel.get_or_insert_with(Kernel::read).name(address);
                    symbols.simple(name, Category::Kernel, "[kernel]")
                }
                CodeLocation::Anonymous { pid, address } => jits
                    .entry(pid)
                    .or_insert_with(|| {
                        Jit::read(run.samples.perf_maps.get(&pid).unwrap_or(&PerfMap::of(pid)))
                    })
                    .resolve(&mut symbols, address),
                CodeLocation::Made { function, address } => {
                    jit::made(&mut symbols, &run.samples.made[function as usize], address)
                }
                CodeLocation::Nowhere => symbols.simple(
                    "[no code is mapped here]".into(),
                    Category::Unknown,
                    "[unmapped]",
                ),
            };
        }
        symbols.note(run, &files, kernel.as_ref());
        let mut unnamed: Vec<u32> =
            jits.iter().filter(|(_, jit)| jit.is_empty()).map(|(&pid, _)| pid).collect();
        unnamed.sort_unstable();
        for pid in unnamed {
            let name = run
                .samples
                .perf_maps
                .get(&pid)
                .map_or_else(|| PerfMap::of(pid).name(), PerfMap::name);
            symbols.notes.push(format!(
                "process {pid} made code and left no map of it for this user, /tmp/{name}, so it has no names: start it with \
                 one (Node.js: `--perf-basic-prof`, Java: `-XX:+DumpPerfMapAtExit`, .NET: `DOTNET_PerfMapEnabled=1`)"
            ));
        }
        symbols
    }

    /// Returns the number of a function, and adds a new function.
    fn function(&mut self, mut function: Function) -> FunctionId {
        if self.instances == Instances::Merged {
            function.name = generics::without_arguments(&function.name);
        }
        if let Some(&number) = self.numbers.get(&function) {
            return number;
        }
        let number = self.functions.len() as FunctionId;
        self.functions.push(function.clone());
        self.numbers.insert(function, number);
        number
    }

    /// Makes the result for an address with a name, but without a file or a line.
    fn simple(&mut self, name: String, category: Category, module: &str) -> Resolved {
        let function =
            self.function(Function { name, file: None, category, module: module.to_owned() });
        Resolved { frames: vec![Frame { function, line: 0 }], range: None }
    }

    fn note(&mut self, run: &Run, files: &[OnceCell<Elf>], kernel: Option<&Kernel>) {
        for (module, elf) in run.samples.modules.iter().zip(files) {
            let Some(elf) = elf.get() else { continue };
            let path = module.path.display();
            if let Some(missing) = elf.missing() {
                self.notes.push(match missing {
                    Missing::Replaced => format!(
                        "{path} was replaced while it ran, so its functions have no names: sample again, without replacing it"
                    ),
                    Missing::Removed => format!(
                        "{path} was removed before it was opened, or its process and its container had ended, so its functions \
                         have no names: sample while the file is there, or as root"
                    ),
                    Missing::Refused => format!(
                        "{path} cannot be read by this user, so its functions have no names: sample as its user or as root"
                    ),
                });
            } else if elf.is_stripped() {
                self.notes.push(format!(
                    "{path} is stripped, so its functions have no names: build it without `strip`"
                ));
            } else if module.is_program && !elf.has_lines() {
                self.notes.push(format!(
                    "{path} has no debug information, so there are no lines and no inlined functions: build it with some \
                     (in Rust: `CARGO_PROFILE_RELEASE_DEBUG=limited`)"
                ));
            }
        }
        if kernel.is_some_and(Kernel::is_hidden) {
            self.notes.push(
                "the kernel hides its symbols: `sudo sysctl kernel.kptr_restrict=0` shows them to you".to_owned(),
            );
        }
    }
}

/// Returns the name of a file without its directories.
fn file_name(module: &Module) -> String {
    module.path.file_name().map_or_else(
        || module.path.display().to_string(),
        |name| name.to_string_lossy().into_owned(),
    )
}
