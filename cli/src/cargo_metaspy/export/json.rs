//! The results as JSON. `docs/weaving.md` says what stands where.

use metaspy_weave::wrapper::Left;
use serde_json::{Map, Value, json};

use crate::cargo_metaspy::results::{
    Constants, Edge, Package, Pattern, Ran, Ratio, Report, Results, Type, constants, packages, patterns,
};

/// All of them.
pub fn of(results: &Results) -> Value {
    let woven =
        results.packages.iter().map(|(package, functions)| json!({ "package": package, "functions": functions }));
    let crates = packages(&results.methods);
    let types: Vec<&Type<'_>> = crates.iter().flat_map(Package::all_types).collect();
    let told = Told { was_run: results.processes.is_some(), is_exact: results.is_exact() };
    json!({
        "format": 1,
        "woven": woven.collect::<Vec<_>>(),
        "skipped": results.skipped.iter().map(left).collect::<Vec<_>>(),
        "light": results.light.iter().map(left).collect::<Vec<_>>(),
        "macros": results.invisible.0,
        "derives": results.invisible.1,
        "processes": results.processes,
        "exact": results.is_exact(),
        "doubts": results.doubts,
        "ratio": told.was_run.then(|| ratio(Ratio::of(types.iter().copied()))),
        "patterns": results.looked.coverage.then(|| found(&types)),
        "constant": results.looked.coverage.then(|| constant(&crates)),
        "reports": results.reports.iter().map(report).collect::<Vec<_>>(),
        "packages": crates.iter().map(|package| told.package(package)).collect::<Vec<_>>(),
        "methods": results.methods.iter().map(|ran| told.method(ran)).collect::<Vec<_>>(),
    })
}

/// What was told of the run as a whole.
struct Told {
    was_run: bool,
    is_exact: bool,
}

impl Told {
    fn package(&self, package: &Package<'_>) -> Value {
        json!({
            "path": package.path,
            "ratio": self.was_run.then(|| ratio(package.ratio())),
            "packages": package.packages.iter().map(|package| self.package(package)).collect::<Vec<_>>(),
            "types": package.types.iter().map(|ty| self.ty(ty)).collect::<Vec<_>>(),
        })
    }

    fn ty(&self, ty: &Type<'_>) -> Value {
        json!({
            "name": ty.name,
            "is_trait": ty.is_trait,
            "traits": ty.traits,
            "ratio": self.was_run.then(|| ratio(ty.ratio())),
            "methods": ty.methods.iter().map(|ran| self.method(ran)).collect::<Vec<_>>(),
        })
    }

    fn method(&self, ran: &Ran) -> Value {
        let Ran { method, count, told, callers, callees } = ran;
        json!({
            "path": method.path,
            "file": method.file,
            "line": method.line,
            "lines": method.lines,
            "complexity": method.complexity,
            "visibility": method.seen.word(),
            "receiver": method.receiver.word(),
            "async": method.is_async,
            "closure": method.is_closure,
            "test": method.is_test,
            "executions": self.was_run.then_some(count),
            "receivers": told.receivers,
            "exact": self.is_exact && !told.has_more_receivers,
            "returns": told.returns.map(|returned| returned.word()),
            "tests": told.tests,
            "total_ns": told.total_ns,
            "self_ns": told.self_ns,
            "callers": callers.iter().map(|(path, calls)| edge(path.as_deref(), calls)).collect::<Vec<_>>(),
            "callees": callees.iter().map(|(path, calls)| edge(Some(path), calls)).collect::<Vec<_>>(),
            "profiles": told.others,
        })
    }
}

fn left(left: &Left) -> Value {
    let Left { method, reason, said } = left;
    json!({ "path": method.path, "file": method.file, "line": method.line, "reason": reason, "said": said })
}

fn edge(path: Option<&str>, edge: &Edge) -> Value {
    json!({ "path": path, "count": edge.count, "total_ns": edge.total_ns })
}

fn report(report: &Report) -> Value {
    let Report { profile, program, pid, text } = report;
    json!({ "profile": profile, "program": program, "pid": pid, "text": text })
}

fn ratio(of: Ratio) -> Value {
    let Ratio { methods, covered, types, covered_types } = of;
    json!({ "methods": methods, "covered": covered, "ratio": of.rate(), "types": types, "covered_types": covered_types })
}

fn constant(crates: &[Package<'_>]) -> Value {
    let of = |Constants { package, constant, not_comparable, asked }: &Constants<'_>| {
        let methods: Vec<&str> = constant.iter().map(|ran| ran.method.path.as_str()).collect();
        json!({ "package": package, "methods": methods, "not_comparable": not_comparable, "of": asked })
    };
    constants(crates).iter().map(of).collect()
}

fn found(types: &[&Type<'_>]) -> Value {
    let mut by_pattern: Map<String, Value> = Pattern::ALL.iter().map(|of| (of.word().to_owned(), json!([]))).collect();
    for found in patterns(types) {
        let examples = found.examples.iter().map(|example| {
            let methods: Vec<&str> = example.methods.iter().map(|ran| ran.method.path.as_str()).collect();
            json!({ "type": example.ty.path(), "methods": methods })
        });
        by_pattern.insert(found.pattern.word().to_owned(), examples.collect());
    }
    Value::Object(by_pattern)
}
