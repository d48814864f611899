//! The functions of a file with code, from its symbol table and its debug information.

use std::fs::File;
use std::path::{Path, PathBuf};

use addr2line::Loader;
use addr2line::fallible_iterator::FallibleIterator;
use object::read::ReadCache;
use object::{Object, ObjectSymbol, ReadRef, SymbolKind};

use crate::samples::Module;
use crate::symbols::{Category, Frame, Function, Resolved, Symbols, file_name};

/// Inlined functions at one address at most. Debug information that is damaged may have any number.
const INLINED_MAX: usize = 64;
/// The directory of debug information that is apart from its code.
const DEBUG_DIR: &str = "/usr/lib/debug/.build-id";

/// The names in a file with code.
#[derive(Default)]
pub struct Elf {
    /// Functions by their beginning.
    functions: Vec<Symbol>,
    debug: Option<Loader>,
    has_lines: bool,
}

struct Symbol {
    start: u64,
    end: u64,
    name: String,
}

impl Elf {
    /// Reads a file. A file that cannot be read has no names.
    pub fn read(module: &Module) -> Elf {
        if module.is_replaced {
            return Elf::default();
        }
        if module.path == Path::new(crate::vdso::NAME) {
            let bytes = crate::vdso::bytes().unwrap_or_default();
            let functions = object::File::parse(&*bytes).map_or_else(|_| Vec::new(), |file| symbols(&file));
            return Elf { functions, ..Elf::default() };
        }
        Elf::read_file(&module.path).unwrap_or_default()
    }

    fn read_file(path: &Path) -> Option<Elf> {
        let cache = ReadCache::new(File::open(path).ok()?);
        let file = object::File::parse(&cache).ok()?;
        let mut functions = symbols(&file);
        let mut has_lines = file.section_by_name(".debug_info").is_some();
        let mut debug = path.to_owned();
        if let Some(apart) = debug_file(&file).filter(|_| !has_lines) {
            let cache = ReadCache::new(File::open(&apart).ok()?);
            let file = object::File::parse(&cache).ok()?;
            has_lines = file.section_by_name(".debug_info").is_some();
            functions.extend(symbols(&file));
            functions.sort_by_key(|symbol| symbol.start);
            debug = apart;
        }
        let debug = if has_lines { Loader::new(debug).ok() } else { None };
        Some(Elf { functions, has_lines: debug.is_some(), debug })
    }

    /// True if no function has a name.
    pub fn is_stripped(&self) -> bool {
        self.functions.is_empty() && !self.has_lines
    }

    /// True if there are lines and inlined functions.
    pub fn has_lines(&self) -> bool {
        self.has_lines
    }

    /// What an address means.
    pub fn resolve(&self, symbols: &mut Symbols, module: &Module, address: u64) -> Resolved {
        let path = module.path.display().to_string();
        let symbol = self.symbol(address);
        let found = self.frames(address);
        let count = found.len();
        let mut frames = Vec::with_capacity(count.max(1));
        for (depth, (name, file, line)) in found.into_iter().enumerate() {
            // The symbol has the whole path also where debug information has only the last segment of it.
            let of_symbol = symbol.filter(|_| depth + 1 == count).map(|symbol| symbol.name.clone());
            let name = of_symbol.or(name).unwrap_or_else(|| unnamed(module, address));
            let category = Category::of(&name, file.as_deref(), &path, module.is_program);
            let function = symbols.function(Function { name, file, category, module: path.clone() });
            frames.push(Frame { function, line });
        }
        if frames.is_empty() {
            let name = symbol.map_or_else(|| unnamed(module, address), |symbol| symbol.name.clone());
            let category = match symbol {
                None if !module.is_program && !self.is_stripped() => Category::Unknown,
                _ => Category::of(&name, None, &path, module.is_program),
            };
            return symbols.simple(name, category, &path);
        }
        Resolved { frames, range: None }
    }

    fn symbol(&self, address: u64) -> Option<&Symbol> {
        let after = self.functions.partition_point(|symbol| symbol.start <= address);
        // Symbols may be in others, and of equal ones one may be empty.
        self.functions[..after].iter().rev().take(8).find(|symbol| address < symbol.end)
    }

    /// Name, file and line of each frame, innermost first.
    fn frames(&self, address: u64) -> Vec<(Option<String>, Option<String>, u32)> {
        let Some(loader) = &self.debug else { return Vec::new() };
        let Ok(frames) = loader.find_frames(address) else { return Vec::new() };
        let frame = |frame: addr2line::Frame<'_, _>| {
            let name = frame.function.as_ref().and_then(|name| Some(name.demangle().ok()?.into_owned()));
            let (file, line) =
                frame.location.map_or((None, 0), |at| (at.file.map(str::to_owned), at.line.unwrap_or(0)));
            Ok((name, file, line))
        };
        let mut found = Vec::new();
        let mut frames = frames.map(frame);
        while let Ok(Some(frame)) = frames.next() {
            if found.len() == INLINED_MAX {
                break;
            }
            found.push(frame);
        }
        // Lines without any function: the symbol table has the better name.
        found.retain(|(name, _, line)| name.is_some() || *line > 0);
        found
    }
}

/// The name of code without one: the file and the address, by the page, so that rows of a stripped program add up.
fn unnamed(module: &Module, address: u64) -> String {
    format!("{}+{:#x}", file_name(module), address & !0xFFF)
}

/// The functions of a symbol table, by their beginning. One without a size ends where the next one begins.
fn symbols<'a, R: ReadRef<'a>>(file: &object::File<'a, R>) -> Vec<Symbol> {
    let all = file.symbols().chain(file.dynamic_symbols());
    let all = all.filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition());
    let symbol = |symbol: object::Symbol<'a, '_, R>| {
        let name = String::from_utf8_lossy(symbol.name_bytes().ok()?).into_owned();
        let start = symbol.address();
        let name = addr2line::demangle_auto(name.into(), None).into_owned();
        Some(Symbol { start, end: start.saturating_add(symbol.size()), name })
    };
    let mut functions: Vec<Symbol> = all.filter_map(symbol).collect();
    functions.sort_by_key(|symbol| symbol.start);
    for at in 0..functions.len().saturating_sub(1) {
        if functions[at].end == functions[at].start {
            functions[at].end = functions[at + 1].start;
        }
    }
    functions
}

/// The file with debug information of a file whose own was removed, by its build id.
fn debug_file<'a, R: ReadRef<'a>>(file: &object::File<'a, R>) -> Option<PathBuf> {
    let id = file.build_id().ok()??;
    let (first, rest) = id.split_first()?;
    let rest: String = rest.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(PathBuf::from(format!("{DEBUG_DIR}/{first:02x}/{rest}.debug"))).filter(|path| path.exists())
}
