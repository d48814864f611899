//! The benchmarks as a JIT makes them with Cranelift, which has the position that code was made
//! from.

use cranelift_codegen::Context;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Linkage, Module, default_libcall_names};
use metaspy_sampler::code_map::{CodeMap, Kind};

const TEXT: &str = include_str!("benchmarks.clif");

/// Positions of a compiled function, as offsets in its code: the adapter for Cranelift.
fn positions(context: &Context) -> (usize, Vec<(usize, u64)>) {
    let code = context.compiled_code().expect("it is compiled");
    let locations = code.buffer.get_srclocs_sorted().iter().filter(|it| !it.loc.is_default());
    let positions = locations.map(|it| (it.start as usize, it.loc.bits().into())).collect();
    (code.buffer.total_size() as usize, positions)
}

/// Passes both benchmarks, which are registered meanwhile.
pub fn run(then: impl FnOnce(&mut dyn FnMut(i64) -> i64, &mut dyn FnMut(i64) -> i64)) {
    let mut flags = settings::builder();
    flags.set("opt_level", "speed").expect("it is a setting");
    // Stacks have frame pointers.
    flags.set("preserve_frame_pointers", "true").expect("it is a setting");
    let machine = cranelift_native::builder().expect("this machine is supported");
    let machine = machine.finish(settings::Flags::new(flags)).expect("the settings fit");
    let mut module = JITModule::new(JITBuilder::with_isa(machine, default_libcall_names()));
    let names = ["Integer>>benchFib", "Integer>>benchmark"];
    let functions = cranelift_reader::parse_functions(TEXT).expect("the text has functions");
    let compile = |(function, name): (cranelift_codegen::ir::Function, &'static str)| {
        let id = module
            .declare_function(name, Linkage::Export, &function.signature)
            .expect("the name is new");
        let mut context = Context::for_function(function);
        module.define_function(id, &mut context).expect("it compiles");
        let (size, positions) = positions(&context);
        (id, name, size, positions)
    };
    let compiled: Vec<_> = functions.into_iter().zip(names).map(compile).collect();
    module.finalize_definitions().expect("every name has a definition");
    let mut codes = Vec::new();
    for (id, name, size, positions) in &compiled {
        let start = module.get_finalized_function(*id) as u64;
        let positions: Vec<(u64, u64)> =
            positions.iter().map(|&(at, position)| (start + at as u64, position)).collect();
        codes.push(start..start + *size as u64);
        CodeMap::register(name, Kind::Function, start..start + *size as u64, &positions);
    }
    // SAFETY: the functions have this signature, and live as long as the module.
    let function = |at: usize| unsafe {
        std::mem::transmute::<*const u8, extern "C" fn(i64) -> i64>(
            module.get_finalized_function(compiled[at].0),
        )
    };
    let fib = function(0);
    let sieve = function(1);
    then(&mut |n| fib(n), &mut |rounds| sieve(rounds));
    codes.into_iter().for_each(CodeMap::unregister);
    // SAFETY: nothing calls its functions any more.
    unsafe { module.free_memory() };
}
