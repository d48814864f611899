use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use prost::Message;

use super::*;
use crate::export::pprof::{self, Document};

fn read(bytes: &[u8]) -> Result<Imported> {
    Imported::read(bytes.to_vec(), None)
}

fn refused(bytes: &[u8]) -> String {
    read(bytes).expect_err("it is refused").to_string()
}

/// Functions with their own and total samples, by name.
fn counts(imported: &Imported) -> Vec<(String, u64, u64)> {
    let Content::Samples(samples) = &imported.content else { panic!("it has samples") };
    let counts = samples.functions.iter().zip(samples.counts());
    let mut counts: Vec<_> =
        counts.map(|(function, (own, total))| (function.name.clone(), own, total)).collect();
    counts.sort();
    counts
}

fn counted(name: &str, own: u64, total: u64) -> (String, u64, u64) {
    (name.to_owned(), own, total)
}

#[test]
fn collapsed_stacks_need_the_time_of_a_sample_and_count_a_function_once() {
    let text = b"main;f;f 3\nmain;g 2\r\n\nmain;operator new(unsigned long) 1\n";
    let imported = Imported::read(text.to_vec(), Some(1_000_000)).expect("they are stacks");
    let expected = [
        counted("f", 3, 3),
        counted("g", 2, 2),
        counted("main", 0, 6),
        counted("operator new(unsigned long)", 1, 1),
    ];
    assert_eq!(counts(&imported), expected);
    assert!(refused(text).contains("--period 1ms"), "{}", refused(text));
}

#[test]
fn the_text_of_perf_has_the_time_of_a_sample_or_needs_it() {
    let text = "# captured on a machine\n\
        my app 4711 [001] 12.345678:    1000000 cpu-clock:ppp: \n\
        \t 13d7d app::parse+0x16d (/bin/app)\n  main.rs:7\n\
        \t 13d70 app::inner+0x0 (inlined)\n\
        \t 13dcd <app::Shop as core::fmt::Debug>::fmt+0xd (/bin/app)\n\n\
        my app 4711 12.346678:    3000000 cpu-clock:ppp: \n\
        \t ffff [unknown] ([kernel.kallsyms])\n\n\
        my app 4711 12.346678:    2000000 cpu-clock:ppp: \n\n";
    let imported = read(text.as_bytes()).expect("it is read");
    let fmt = "<app::Shop as core::fmt::Debug>::fmt";
    let expected = [
        counted(fmt, 0, 1),
        counted("[unknown]", 1, 1),
        counted("app::inner", 0, 1),
        counted("app::parse", 1, 1),
    ];
    assert_eq!((imported.format, imported.program.as_str()), (Format::Perf, "my app"));
    assert_eq!(counts(&imported), expected);
    let Content::Samples(samples) = &imported.content else { panic!("it has samples") };
    assert_eq!((samples.period_ns, samples.without_stack), (2_000_000, 1));
    assert!(
        samples
            .functions
            .iter()
            .all(|function| function.name == "[unknown]" || function.module == "/bin/app")
    );
    let cycles = text.replace("cpu-clock:ppp", "cycles:P");
    assert!(refused(cycles.as_bytes()).contains("--period 1ms"));
    Imported::read(cycles.clone().into_bytes(), Some(1)).expect("the time is stated");
    let mixed = cycles.clone() + text;
    assert!(refused(mixed.as_bytes()).contains("cycles:P and of cpu-clock:ppp"));
    assert!(
        refused(format!("{cycles}hello\n").as_bytes())
            .starts_with("line 13 is none of `perf script`: hello")
    );
    let alone = "app 4711/4712 1.5: 10 task-clock: 13d7d main+0x1 (/bin/app)\n";
    assert_eq!(counts(&read(alone.as_bytes()).expect("it is read")), [counted("main", 1, 1)]);
}

#[test]
fn a_line_of_no_stack_is_named() {
    let period = Some(1);
    let wrong =
        |text: &[u8]| Imported::read(text.to_vec(), period).expect_err("it is refused").to_string();
    assert!(wrong(b"main 1\nhello world\n").starts_with("line 2 is no collapsed stack"));
    assert!(wrong(b"main 1\nmain -4\n").starts_with("line 2 is no collapsed stack"));
    assert_eq!(wrong(b"main 1\nma\xffin 2\n"), "line 2 is not UTF-8");
    assert!(wrong(b"a 18446744073709551615\na 1\n").contains("too large"));
    assert_eq!(wrong(b" \n\n"), "the file is empty");
}

/// A profile of two samples, as pprof-rs writes it.
fn document() -> Document {
    let texts =
        ["", "samples", "count", "cpu", "nanoseconds", "main", "work", "src/main.rs", "/bin/app"];
    let line = |function_id, line| pprof::Line { function_id, line };
    let function = |id, name| pprof::Function { id, name, system_name: name, filename: 7 };
    Document {
        string_table: texts.map(str::to_owned).to_vec(),
        sample_type: vec![
            pprof::ValueType { kind: 1, unit: 2 },
            pprof::ValueType { kind: 3, unit: 4 },
        ],
        sample: vec![
            pprof::Sample {
                location_id: vec![2, 1],
                value: vec![3, 30_000_000],
                label: Vec::new(),
            },
            pprof::Sample { location_id: vec![1], value: vec![1, 10_000_000], label: Vec::new() },
        ],
        mapping: vec![pprof::Mapping { id: 1, filename: 8 }],
        location: vec![
            pprof::Location { id: 1, mapping_id: 1, address: 16, line: vec![line(1, 4)] },
            pprof::Location {
                id: 2,
                mapping_id: 1,
                address: 32,
                line: vec![line(2, 9), line(1, 5)],
            },
        ],
        function: vec![function(1, 5), function(2, 6)],
        period_type: Some(pprof::ValueType { kind: 3, unit: 4 }),
        period: 10_000_000,
        ..Document::default()
    }
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("memory has room")
}

#[test]
fn pprof_is_read_compressed_or_not_with_inlined_functions() {
    let bytes = document().encode_to_vec();
    for bytes in [compressed(&bytes), bytes] {
        let imported = read(&bytes).expect("it is a profile");
        assert_eq!(counts(&imported), [counted("main", 1, 4), counted("work", 3, 3)]);
        let Content::Samples(samples) = &imported.content else { panic!("it has samples") };
        assert_eq!((samples.period_ns, imported.program.as_str()), (10_000_000, "app"));
        assert_eq!(imported.notes, ["of its values, samples is imported"]);
    }
}

#[test]
fn damaged_and_other_profiles_of_pprof_are_refused() {
    let whole = document().encode_to_vec();
    let cut = &whole[..whole.len() - 3];
    assert!(refused(cut).contains("cut, damaged"), "{}", refused(cut));
    assert!(refused(&compressed(&whole)[..60]).starts_with("it is cut or damaged: gzip"));
    let mut heap = document();
    heap.sample_type = vec![pprof::ValueType { kind: 5, unit: 6 }];
    assert!(
        refused(&heap.encode_to_vec())
            .starts_with("its values are main in work: metaspy imports samples")
    );
    let mut lacking = document();
    lacking.location.pop();
    assert_eq!(
        refused(&lacking.encode_to_vec()),
        "it is damaged: a stack has location 2, which it lacks"
    );
    let mut difference = document();
    difference.sample[0].value[0] = -3;
    assert!(refused(&difference.encode_to_vec()).contains("difference of two profiles"));
}

#[test]
fn what_becomes_too_large_is_refused() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let blank = vec![b'\n'; MIB as usize];
    (0..=LINES_MAX).for_each(|_| encoder.write_all(&blank).expect("memory has room"));
    let bomb = encoder.finish().expect("memory has room");
    assert!(bomb.len() < 8 * MIB as usize);
    assert!(refused(&bomb).starts_with("decompressed it has more than 1024 MiB"));
}

/// A profile as profiler.firefox.com saves it, with tables in the thread or shared.
fn firefox(is_shared: bool) -> String {
    let tables = r#""stringArray": ["main", "work", "src/main.rs", "app"],
        "stackTable": { "length": 2, "prefix": [null, 0], "frame": [0, 1] },
        "frameTable": { "func": [0, 1], "line": [3, null] },
        "funcTable": { "name": [0, 1], "fileName": [2, null], "resource": [0, -1] },
        "resourceTable": { "name": [3] }"#;
    let (own, shared) = if is_shared { ("", tables) } else { (tables, "") };
    let own = if own.is_empty() { String::new() } else { format!(", {own}") };
    format!(
        r#"{{ "meta": {{ "interval": 2.0, "product": "app", "preprocessedProfileVersion": 55 }}, "libs": [],
        "shared": {{ {shared} }},
        "threads": [{{ "name": "main", "samples": {{ "stack": [1, 1, 0, null], "weight": null, "weightType": "samples" }}{own} }}] }}"#
    )
}

#[test]
fn a_profile_of_firefox_is_read_with_tables_of_a_thread_or_of_all() {
    for is_shared in [false, true] {
        let imported = read(firefox(is_shared).as_bytes()).expect("it is a profile");
        assert_eq!(counts(&imported), [counted("main", 1, 3), counted("work", 2, 2)]);
        let Content::Samples(samples) = &imported.content else { panic!("it has samples") };
        assert_eq!((samples.period_ns, samples.without_stack), (2_000_000, 1));
        assert_eq!((samples.functions[0].owner.as_str(), samples.frames[0].line), ("app", 3));
    }
}

#[test]
fn damaged_profiles_of_firefox_are_refused() {
    let whole = firefox(false);
    assert!(
        refused(&whole.as_bytes()[..whole.len() - 9])
            .starts_with("it is cut, damaged, or no profile")
    );
    assert!(refused(b"{ \"meta\": {} }").contains("it has no threads"));
    assert!(
        refused(whole.replace("[null, 0]", "[1, 0]").as_bytes()).contains("around in a circle")
    );
    assert!(
        refused(whole.replace("\"frame\": [0, 1]", "\"frame\": [0, 7]").as_bytes())
            .contains("a place that it lacks")
    );
    assert!(
        refused(whole.replace("\"samples\" }", "\"bytes\" }").as_bytes())
            .starts_with("its weights are bytes")
    );
    assert!(
        refused(whole.replace("\"preprocessedProfileVersion\"", "\"version\"").as_bytes())
            .contains("a raw profile")
    );
}

/// As `valgrind --tool=callgrind` writes it, with numbers for names and relative lines.
const CALLGRIND: &str = "# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\ncmd:  /bin/app --fast\npositions: line\nevents: Ir\n\n\
    fl=(1) src/main.rs\nfn=(1) main\n10 5\n+2 7\ncfn=(2) work\ncalls=3 30\n* 60\nfn=(2)\n30 40\n\
    cfi=(2) src/lib.rs\ncfn=(3) leaf\ncalls=6 1\n+1 20\nfn=(3)\n1 20\ncfn=(3)\ncalls=2 1\n1 8\n\ntotals: 72\n";

#[test]
fn callgrind_has_calls_and_instructions_by_caller() {
    let imported = read(CALLGRIND.as_bytes()).expect("it is callgrind's");
    let Content::Calls(calls) = &imported.content else { panic!("it has calls") };
    let own: Vec<_> =
        calls.functions.iter().map(|of| (of.name.as_str(), of.line, of.own)).collect();
    assert_eq!(own, [("main", 10, 12), ("work", 30, 40), ("leaf", 1, 20)]);
    let mut edges: Vec<_> =
        calls.edges.iter().map(|(&pair, cost)| (pair, cost.calls, cost.instructions)).collect();
    edges.sort_unstable();
    assert_eq!(edges, [((0, 1), 3, 60), ((1, 2), 6, 20), ((2, 2), 2, 0)]);
    assert_eq!(imported.program, "app");
    assert!(
        imported.notes[0]
            .starts_with("the instructions of 1 pair of caller and callee in recursions"),
        "{:?}",
        imported.notes
    );
}

#[test]
fn damaged_output_of_callgrind_is_refused() {
    assert_eq!(
        refused(CALLGRIND.replace("totals: 72\n", "").as_bytes()),
        "it is cut: it ends without `totals:`"
    );
    assert!(
        refused(CALLGRIND.replace("+2 7", "what").as_bytes())
            .starts_with("line 11 is none of callgrind's output: what")
    );
    assert!(
        refused(CALLGRIND.replace("events: Ir", "events: Dr").as_bytes())
            .starts_with("its first event is Dr")
    );
}

/// Profiles whose few bytes stand for much: long names in many functions, long stacks in many
/// samples, and empty messages.
#[test]
fn a_profile_takes_time_and_memory_by_its_size() {
    let name = "n".repeat(MIB as usize);
    let list = |of: &dyn Fn(usize) -> String| (0..3000).map(of).collect::<Vec<_>>().join(",");
    let tables = |name: &str, strings: &str, file: &dyn Fn(usize) -> String| {
        format!(
            r#"{{ "meta": {{ "interval": 1.0, "preprocessedProfileVersion": 55 }}, "threads": [{{
            "samples": {{ "stack": [2999] }}, "stringArray": ["{name}" {strings}],
            "stackTable": {{ "prefix": [null, {}], "frame": [{}] }}, "frameTable": {{ "func": [{}] }},
            "funcTable": {{ "name": [{}], "fileName": [{}] }} }}] }}"#,
            (0..2999).map(|at| at.to_string()).collect::<Vec<_>>().join(","),
            list(&|at| at.to_string()),
            list(&|at| at.to_string()),
            list(&|_| "0".into()),
            list(file)
        )
    };
    let files: String = (0..3000).map(|at| format!(", \"f{at}\"")).collect();
    assert!(
        refused(tables(&name[..1 << 17], "", &|_| "null".into()).as_bytes())
            .starts_with("it repeats long names")
    );
    let refused_names = refused(tables(&name, &files, &|at| (at + 1).to_string()).as_bytes());
    assert!(
        refused_names.starts_with("the names of its functions have more than 256 MiB"),
        "{refused_names}"
    );
    let threads = format!("{{ \"meta\": {{}}, \"threads\": [{}{{}}] }}", "{},".repeat(70_000));
    assert!(refused(threads.as_bytes()).contains("more than 65536 threads"));

    let mut long = document();
    long.location[1].line = vec![pprof::Line { function_id: 1, line: 4 }; 8_000];
    long.sample = vec![long.sample[0].clone(); 500];
    assert!(refused(&long.encode_to_vec()).starts_with("it repeats long names or stacks"));
    long.location[1].line.resize(9_000, pprof::Line { function_id: 1, line: 4 });
    assert!(refused(&long.encode_to_vec()).starts_with("it has a stack of more than 8192 frames"));
    for (message, expected) in
        [(b"\x22\x00", "more than 4194304 rows"), (b"\x0a\x00", "too many values")]
    {
        let empty = compressed(&message.repeat(4_200_000));
        assert!(
            empty.len() < MIB as usize && refused(&empty).contains(expected),
            "{}",
            refused(&empty)
        );
    }

    let callgrind = |body: String| {
        refused(format!("# callgrind format\nevents: Ir\n{body}totals: 1\n").as_bytes())
    };
    let functions: String = (0..300).map(|at| format!("fn=f{at}\n1 1\n")).collect();
    assert!(
        callgrind(format!("fl=(1) {name}\n{functions}")).starts_with("the names of its functions")
    );
    let repeated = "fn=(1)\n1 1\n".repeat(3000);
    assert!(
        callgrind(format!("fn=(1) {}\n{repeated}", &name[..1 << 17]))
            .starts_with("it repeats long names")
    );
    let chain = "a;".repeat(9_000);
    let deep =
        Imported::read(format!("{chain}b 1\n").into_bytes(), Some(1)).expect_err("it is refused");
    assert!(deep.to_string().starts_with("it has a stack of more than 8192 frames"));
}

#[test]
fn totals_of_a_long_chain_count_each_function_once() {
    let chain = |depth: usize| format!("{}f 1\n", "f;g;".repeat(depth));
    let text: String = (0..2000).map(chain).collect();
    let imported = Imported::read(text.into_bytes(), Some(1)).expect("they are stacks");
    assert_eq!(counts(&imported), [counted("f", 2000, 2000), counted("g", 0, 1999)]);
}
