//! Calling contexts, and objects on the heap by context.

use metaspy_reader::Store;

use super::{FlamePage, Lane, Measure, Sites, Stacks, Tree, Unit};
use crate::contexts::{self, Context, Contexts, Weight};

/// Adds the contexts of a recording.
pub fn add(page: &mut FlamePage, store: &Store) {
    let Some(read) = Contexts::read(store) else {
        page.lacks(
            "contexts",
            "not recorded: METASPY_PROFILE=contexts,calls, or `cargo metaspy run --contexts --timed`",
        );
        page.lacks("allocations", NO_OBJECTS);
        return;
    };
    let sites = Sites::of(store);
    let is_timed = read.all().iter().any(|context| context.values.total_ns > 0);
    let calls = |context: &Context| (context.values.calls, context.weight(Weight::Calls));
    let time = |context: &Context| (context.values.self_ns, context.values.total_ns);
    let mut measures: Vec<(Measure, &Cost)> = vec![(Measure::new("calls", Unit::Count), &calls)];
    if is_timed {
        measures.insert(0, (Measure::new("wall time", Unit::Ns), &time));
    }
    let about = "the calls of all threads by calling context: each frame is a method on a path of calls of methods with hooks";
    let mut stacks = stacks(page, &read, &sites, "contexts", measures);
    stacks.about = about.into();
    if !is_timed {
        stacks
            .notes
            .push("times are not recorded: METASPY_PROFILE=contexts,calls records them".into());
    }
    page.stacks.push(stacks);
    if !read.has_objects {
        page.lacks("allocations", NO_OBJECTS);
        return;
    }
    let bytes = |context: &Context| (context.values.bytes, context.inclusive.bytes);
    let objects = |context: &Context| (context.values.objects, context.inclusive.objects);
    let live = |context: &Context| (context.values.live_bytes(), context.inclusive.live_bytes());
    let measures: Vec<(Measure, &Cost)> = vec![
        (Measure::new("bytes", Unit::Bytes), &bytes),
        (Measure::new("objects", Unit::Count), &objects),
        (Measure::new("bytes alive at the end", Unit::Bytes), &live),
    ];
    let mut stacks = self::stacks(page, &read, &sites, "allocations", measures);
    stacks.about = "objects on the heap by the calling context that allocated them".into();
    page.stacks.push(stacks);
}

const NO_OBJECTS: &str =
    "not recorded: METASPY_PROFILE=allocations, or `cargo metaspy run --allocations`";

/// The cost of a context without and with its callees.
type Cost = dyn Fn(&Context) -> (u64, u64);

fn stacks(
    page: &mut FlamePage,
    contexts: &Contexts,
    sites: &Sites,
    name: &str,
    measures: Vec<(Measure, &Cost)>,
) -> Stacks {
    let mut tree = Tree::default();
    let mut places = vec![0; contexts.all().len()];
    for (at, context) in contexts.all().iter().enumerate() {
        if let Some(parent) = context.parent {
            places[at] = tree.child(places[parent], page.path(&context.name, sites));
        }
        let frame = &mut tree.frames[places[at]];
        for (measure, (_, cost)) in measures.iter().enumerate() {
            (frame.own[measure], frame.total[measure]) = cost(context);
        }
    }
    // The root has no time of its own.
    let (first, all) = tree.children();
    let below = all[first[0]..first[1]].iter().map(|&at| tree.frames[at].total);
    let below = below.fold([0; super::MEASURES], super::tree::sum);
    for (measure, (kind, _)) in measures.iter().enumerate() {
        if kind.unit == Unit::Ns {
            tree.frames[0].total[measure] = below[measure];
        }
    }
    let is_least = contexts.lost > 0;
    let measures =
        measures.into_iter().map(|(measure, _)| Measure { is_least, ..measure }).collect();
    let mut stacks = Stacks {
        name: name.into(),
        measures,
        lanes: vec![Lane { tree, ..Lane::default() }],
        notes: contexts::notes(contexts),
        ..Stacks::default()
    };
    stacks.add_up();
    stacks
}
