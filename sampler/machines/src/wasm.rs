//! The benchmarks in WebAssembly, compiled by wasmtime. Its address map has the place in the module that code was made from.

use std::collections::HashSet;

use metaspy_sampler::code_map::{CodeMap, Kind};
use wasmtime::{Engine, Instance, Module, Store, TypedFunc};

const TEXT: &str = include_str!("benchmarks.wat");

/// Registers the functions of a module by offsets in it: the adapter for wasmtime.
fn register(module: &Module) {
    let start = module.text().as_ptr() as u64;
    let map: Vec<(usize, Option<u32>)> = module.address_map().into_iter().flatten().collect();
    for function in module.functions() {
        let code = function.offset..function.offset + function.len;
        let within = map.iter().filter(|(at, _)| code.contains(at));
        let positions: Vec<(u64, u64)> =
            within.filter_map(|&(at, position)| Some((start + at as u64, position?.into()))).collect();
        let name = function.name.unwrap_or_else(|| format!("wasm[{}]", function.index.as_u32()));
        CodeMap::register(&name, Kind::Function, start + code.start as u64..start + code.end as u64, &positions);
    }
}

/// Runs both.
pub fn run(n: i64, rounds: i64) -> (i64, i64) {
    let engine = Engine::default();
    let module = Module::new(&engine, TEXT).expect("the text is a module");
    register(&module);
    let mut store = Store::new(&engine, ());
    let instance = Instance::new(&mut store, &module, &[]).expect("it imports nothing");
    let names: HashSet<&str> = module.exports().map(|export| export.name()).collect();
    assert!(names.contains("benchFib") && names.contains("benchmark"));
    let mut call = |name: &str, argument: i64| {
        let function: TypedFunc<i64, i64> = instance.get_typed_func(&mut store, name).expect("it is exported");
        function.call(&mut store, argument).expect("it does not trap")
    };
    (call("benchFib", n), call("benchmark", rounds))
}
