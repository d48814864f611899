//! The benchmarks in WebAssembly, compiled by wasmtime. Its address map has the place in the module
//! that code was made from, and the module's debug information the line.

use std::cell::RefCell;

use metaspy_sampler::code_map::register_wasm;
use wasmtime::{Engine, Instance, Module, Store, TypedFunc};
use wat::{GenerateDwarf, Parser};

const TEXT: &str = include_str!("benchmarks.wat");
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/benchmarks.wat");

/// Registers a module that was made from a binary: the adapter for wasmtime.
fn register(module: &Module, binary: &[u8]) {
    let text = module.text().as_ptr_range();
    let functions = module.functions().map(|function| {
        let name = function.name.unwrap_or_else(|| format!("wasm[{}]", function.index.as_u32()));
        (name, function.offset..function.offset + function.len)
    });
    let map = module.address_map().into_iter().flatten();
    register_wasm(binary, text.start as u64..text.end as u64, functions, map);
}

/// Passes both benchmarks, of a module with or without debug information.
pub fn run(
    has_lines: bool,
    then: impl FnOnce(&mut dyn FnMut(i64) -> i64, &mut dyn FnMut(i64) -> i64),
) {
    let mut parser = Parser::new();
    if has_lines {
        parser.generate_dwarf(GenerateDwarf::Lines);
    }
    let binary = parser.parse_str(Some(FILE.as_ref()), TEXT).expect("the text is a module");
    let engine = Engine::default();
    let module = Module::new(&engine, &binary).expect("the binary is a module");
    register(&module, &binary);
    let mut store = Store::new(&engine, ());
    let instance = Instance::new(&mut store, &module, &[]).expect("it imports nothing");
    let exports = ["benchFib", "benchmark"].map(|name| instance.get_typed_func(&mut store, name));
    let [fib, sieve]: [TypedFunc<i64, i64>; 2] =
        exports.map(|export| export.expect("it is exported"));
    let store = RefCell::new(store);
    let call = |function: &TypedFunc<i64, i64>, argument| {
        function.call(&mut *store.borrow_mut(), argument).expect("it does not trap")
    };
    then(&mut |n| call(&fib, n), &mut |rounds| call(&sieve, rounds));
}
