//! Functions of a code file, from its symbol table and its debug information.
//!
//! A symbol needs a size, and names an address only if it covers the address. In a stripped
//! library, the nearest symbol before it would be the name of some exported function far away.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::path::Path;

use addr2line::gimli::{Reader, ReaderOffset};
use addr2line::{FunctionName, Loader, demangle_auto};
use foldhash::fast::RandomState;
use metaspy_reader::files;
use object::read::ReadCache;
use object::{Object, ObjectSection, ObjectSymbol, ReadRef, SectionKind, SymbolKind};

use crate::code_file::Missing;
use crate::samples::Module;
use crate::symbols::{
    Category, Frame, Function, FunctionId, Resolved, Symbols, debug_file, file_name,
};

/// Maximum number of inlined functions at an address. Damaged debug information may have any
/// number.
const INLINED_MAX: usize = 64;

/// Symbols and debug information of a code file.
#[derive(Default)]
pub struct Elf {
    /// Functions by their start address.
    functions: Vec<Symbol>,
    debug: Option<Loader>,
    has_lines: bool,
    missing: Option<Missing>,
}

/// Function of the symbol table.
#[derive(PartialEq, Eq)]
pub struct Symbol {
    start: u64,
    end: u64,
    name: String,
}

/// Two functions of the same file with the same start are equal, so the hash needs nothing else.
impl Hash for Symbol {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.start.hash(state);
    }
}

impl Elf {
    /// Reads a file. An unreadable file has no names.
    pub fn read(module: &Module) -> Elf {
        if module.path == Path::new(crate::vdso::NAME) {
            let bytes = crate::vdso::bytes().unwrap_or_default();
            let functions =
                object::File::parse(&*bytes).map_or_else(|_| Vec::new(), |file| symbols(&file));
            return Elf { functions, ..Elf::default() };
        }
        match module.file.readable(&module.path) {
            Ok(path) => Elf::read_file(module, &path).unwrap_or_default(),
            Err(missing) => Elf { missing: Some(missing), ..Elf::default() },
        }
    }

    fn read_file(module: &Module, path: &Path) -> Option<Elf> {
        let cache = ReadCache::new(files::open(path).ok()?);
        let file = object::File::parse(&cache).ok()?;
        let mut functions = symbols(&file);
        let mut has_lines = file.section_by_name(".debug_info").is_some();
        let mut debug = path.to_owned();
        if !has_lines && let Some(apart) = debug_file::find(&file, module) {
            functions.extend(apart.functions);
            functions.sort_by_key(|symbol| symbol.start);
            has_lines = apart.has_lines;
            debug = apart.path;
        }
        let debug = if has_lines { Loader::new(debug).ok() } else { None };
        Some(Elf { functions, has_lines: debug.is_some(), debug, missing: None })
    }

    /// Returns the reason for which the file that ran could not be read.
    pub fn missing(&self) -> Option<Missing> {
        self.missing
    }

    /// Returns true if no function has a name.
    pub(crate) fn is_stripped(&self) -> bool {
        self.functions.is_empty() && !self.has_lines
    }

    /// Returns true if there are lines and inlined functions.
    pub fn has_lines(&self) -> bool {
        self.has_lines
    }

    /// Resolves an address to its frames.
    pub fn resolve<'a>(
        &'a self,
        names: &mut Names<'a>,
        symbols: &mut Symbols,
        module: &Module,
        address: u64,
    ) -> Resolved {
        let symbol = self.symbol(address);
        let found = self.frames(address);
        let count = found.len();
        let mut frames = Vec::with_capacity(count.max(1));
        for (depth, frame) in found.iter().enumerate() {
            // The symbol has the whole path, even where debug information has only its last
            // segment.
            let symbol = symbol.filter(|_| depth + 1 == count);
            let key = Key { symbol, debug: frame.name.as_ref().map(position), file: frame.file };
            let function = match names.get(&key) {
                Some(&function) => function,
                None => {
                    let name = symbol
                        .map(|symbol| symbol.name.clone())
                        .or_else(|| demangled(frame.name.as_ref()?));
                    // The name of nameless code depends on the address.
                    let is_of_address = name.is_none();
                    let name = name.unwrap_or_else(|| unnamed(module, address));
                    let function = named(symbols, module, name, key.file);
                    if !is_of_address {
                        names.insert(key, function);
                    }
                    function
                }
            };
            frames.push(Frame { function, line: frame.line });
        }
        if frames.is_empty() {
            return self.without_lines(names, symbols, module, address);
        }
        Resolved { frames, range: None }
    }

    /// Resolves an address that no debug information describes.
    fn without_lines<'a>(
        &'a self,
        names: &mut Names<'a>,
        symbols: &mut Symbols,
        module: &Module,
        address: u64,
    ) -> Resolved {
        let function = match self.symbol(address) {
            Some(symbol) => *names
                .entry(Key { symbol: Some(symbol), ..Key::default() })
                .or_insert_with(|| named(symbols, module, symbol.name.clone(), None)),
            None if module.is_program || self.is_stripped() => {
                named(symbols, module, unnamed(module, address), None)
            }
            None => {
                return symbols.simple(
                    unnamed(module, address),
                    Category::Unknown,
                    &module.path.display().to_string(),
                );
            }
        };
        Resolved { frames: vec![Frame { function, line: 0 }], range: None }
    }

    fn symbol(&self, address: u64) -> Option<&Symbol> {
        let after = self.functions.partition_point(|symbol| symbol.start <= address);
        // Symbols may be nested, and among symbols with equal starts some may be empty.
        self.functions[..after].iter().rev().take(8).find(|symbol| address < symbol.end)
    }

    /// Returns name, file and line of each frame, innermost first.
    fn frames(&self, address: u64) -> Vec<DebugFrame<'_, impl Reader>> {
        let Some(loader) = &self.debug else { return Vec::new() };
        let Ok(mut frames) = loader.find_frames(address) else { return Vec::new() };
        let mut found = Vec::new();
        while let Ok(Some(frame)) = frames.next() {
            if found.len() == INLINED_MAX {
                break;
            }
            let (file, line) =
                frame.location.map_or((None, 0), |at| (at.file, at.line.unwrap_or(0)));
            found.push(DebugFrame { name: frame.function, file, line });
        }
        // For lines without any function, the symbol table has the better name.
        found.retain(|frame| frame.name.is_some() || frame.line > 0);
        found
    }
}

/// Frame in debug information.
struct DebugFrame<'a, R: Reader> {
    name: Option<FunctionName<R>>,
    file: Option<&'a str>,
    line: u32,
}

/// Functions by the key of their names. A name is read once, however many addresses have it.
pub type Names<'a> = HashMap<Key<'a>, FunctionId, RandomState>;

/// Data that determine the name, the file and the category of a frame.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Key<'a> {
    symbol: Option<&'a Symbol>,
    /// Position and length of the name in the debug information.
    debug: Option<(u64, u64)>,
    file: Option<&'a str>,
}

fn position<R: Reader>(name: &FunctionName<R>) -> (u64, u64) {
    (name.name.offset_id().0, name.name.len().into_u64())
}

fn demangled<R: Reader>(name: &FunctionName<R>) -> Option<String> {
    Some(name.demangle().ok()?.into_owned())
}

/// Returns the number of a named function of a code file.
fn named(symbols: &mut Symbols, module: &Module, name: String, file: Option<&str>) -> FunctionId {
    let path = module.path.display().to_string();
    let category = Category::of(&name, file, &path, module.is_program);
    symbols.function(Function { name, file: file.map(str::to_owned), category, module: path })
}

/// Makes a name for nameless code: the file and the address, rounded to the page, so that rows of a
/// stripped program add up.
fn unnamed(module: &Module, address: u64) -> String {
    format!("{}+{:#x}", file_name(module), address & !0xFFF)
}

/// Returns the functions of a symbol table, by their start.
///
/// A function without a size ends where the next function begins. Assembly often declares no type:
/// its global names count as functions where no function is.
pub fn symbols<'a, R: ReadRef<'a>>(file: &object::File<'a, R>) -> Vec<Symbol> {
    let of_kind = |kind: SymbolKind| {
        let all = file.symbols().chain(file.dynamic_symbols());
        let all = all.filter(move |symbol| symbol.kind() == kind && symbol.is_definition());
        all.filter_map(symbol).collect::<Vec<Symbol>>()
    };
    let mut labels = of_kind(SymbolKind::Unknown);
    let code: Vec<Range<u64>> =
        file.sections().filter(|it| it.kind() == SectionKind::Text).map(range).collect();
    labels.retain(|label| code.iter().any(|section| section.contains(&label.start)));
    // Among several names, the name with the fewest leading underscores comes last, and counts.
    labels.sort_by(|one, other| one.name.cmp(&other.name));
    let functions = of_kind(SymbolKind::Text);
    let mut all: Vec<(bool, Symbol)> = labels.into_iter().map(|label| (true, label)).collect();
    all.extend(functions.into_iter().map(|function| (false, function)));
    all.sort_by_key(|(_, symbol)| symbol.start);
    let mut covered = 0;
    all.retain(|(is_label, symbol)| {
        let is_kept = !is_label || symbol.start >= covered;
        covered = covered.max(symbol.end);
        is_kept
    });
    let mut functions: Vec<Symbol> = all.into_iter().map(|(_, symbol)| symbol).collect();
    for at in 0..functions.len().saturating_sub(1) {
        if functions[at].end == functions[at].start {
            functions[at].end = functions[at + 1].start;
        }
    }
    functions
}

fn symbol<'a, R: ReadRef<'a>>(symbol: object::Symbol<'a, '_, R>) -> Option<Symbol> {
    // Local names without a type are labels within code.
    if symbol.kind() == SymbolKind::Unknown && !symbol.is_global() {
        return None;
    }
    let name = String::from_utf8_lossy(symbol.name_bytes().ok()?).into_owned();
    let start = symbol.address();
    let name = demangle_auto(name.into(), None).into_owned();
    Some(Symbol { start, end: start.saturating_add(symbol.size()), name })
}

fn range<'a, R: ReadRef<'a>>(section: object::Section<'a, '_, R>) -> Range<u64> {
    section.address()..section.address().saturating_add(section.size())
}
