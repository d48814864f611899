//! The hooks of a crate, and the smaller ones that replace those that the compiler refuses.
//!
//! Hooks that see returned values are around the body, only on request. If the compiler refuses
//! them, they are given up one function at a time. The text is not searched for such functions,
//! because only the compiler knows what a body borrows.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::Result;
use metaspy_probe::qualified;

use crate::plan::{Entries, Plan, Selection, Selectors, Target};
use crate::source::{
    Build, CrateSource, Edit, Facts, Function, Functions, Hook, HookKind, SelfKind, SourceFile,
    Spawn, Values, insertions, plain,
};
use crate::wrapper::diagnostics;
use crate::wrapper::listing::{Left, Listing, Method, Uncarried};

/// A function of a crate: its file and its place in it.
pub type CratePlace = (usize, usize);

/// The hooks of a crate.
pub struct ChosenHooks {
    hooks: BTreeMap<CratePlace, Chosen>,
    /// The calls that spawn work and carry their cause.
    spawns: BTreeMap<CratePlace, Uncarried>,
    values: Values,
    build: Build,
    /// The list of functions with and without hooks.
    pub listing: Listing,
    /// True if the program gets an allocator that counts its objects.
    pub counts_objects: bool,
}

/// A function's hook.
#[derive(Clone, Debug)]
struct Chosen {
    kind: HookKind,
    subject: Option<String>,
    with_args: bool,
    is_trusted: bool,
    /// The hook of a test that is not selected.
    is_alone: bool,
    /// The option that asks for this hook, if the user named the function or its subject.
    asked_by: Option<String>,
    /// The function, once for each module that its file is.
    methods: Vec<Method>,
}

impl Chosen {
    /// The function; file and lines are the same in all modules.
    fn method(&self) -> &Method {
        &self.methods[0]
    }

    /// The next smaller hook, and true if it sees arguments; `None` if there is none.
    fn below(&self, is_about_lifetimes: bool) -> Option<(HookKind, bool)> {
        let is_light = matches!(self.kind, HookKind::Hook | HookKind::Polled);
        if is_light && self.with_args {
            Some((self.kind, false))
        } else {
            Some((self.kind.below(is_about_lifetimes)?, self.with_args))
        }
    }
}

/// A hook that the compiler refuses.
struct Blame {
    place: CratePlace,
    is_about_lifetimes: bool,
    message: Option<String>,
}

impl ChosenHooks {
    /// The hooks that a plan selects. `shown` is the path of a file in diagnostics.
    pub fn new(
        plan: &Plan,
        target: &Target,
        source: &CrateSource,
        listing: Listing,
        shown: impl Fn(&SourceFile) -> PathBuf,
        build: Build,
    ) -> Result<ChosenHooks> {
        let selectors = plan.selection.parse()?;
        let Selection { returns, args, types, entries, .. } = plan.selection;
        let values = Values { returns, args, types };
        let mut choice = ChosenHooks {
            hooks: BTreeMap::new(),
            spawns: BTreeMap::new(),
            values,
            build,
            listing,
            counts_objects: false,
        };
        for (at, file) in source.files.iter().enumerate() {
            let shown = shown(file).display().to_string();
            let parsed = match &file.parsed {
                Ok(parsed) => parsed,
                Err(why) if target.is_woven => {
                    for path in file.module_paths(&target.krate) {
                        let method = Method {
                            path: path + "::*",
                            file: shown.clone(),
                            line: 1,
                            ..Method::default()
                        };
                        choice.listing.skipped.push(Left::new(method, &why.to_string()));
                    }
                    continue;
                }
                Err(_) => continue,
            };
            if target.is_woven && entries.is_none() {
                for spawn in choice.carried(&selectors, &parsed.functions) {
                    let Spawn { door, lines: (line, _), .. } = &parsed.functions.spawns[spawn];
                    let uncarried = Uncarried {
                        door: door.clone(),
                        file: shown.clone(),
                        line: *line,
                        message: None,
                    };
                    choice.spawns.insert((at, spawn), uncarried);
                }
            }
            let mut is_any_selected = false;
            for (place, function) in parsed.functions.all.iter().enumerate() {
                // A file that is several modules has one hook for all of them, and is listed for
                // the selected ones.
                let (selected, others): (Vec<_>, Vec<_>) = file
                    .paths_of(&target.krate, function)
                    .partition(|path| target.is_woven && selectors.means(path, function));
                let is_selected = !selected.is_empty();
                // Where calls are only counted, nothing depends on the test that runs.
                let is_alone = matches!(entries, None | Some(Entries::Covered))
                    && !is_selected
                    && choice.build.is_test()
                    && function.facts.is_test
                    && target.has_tests;
                let skipped = selectors.skipped(function);
                is_any_selected |= is_selected;
                if !is_selected && (!is_alone || skipped.is_some()) {
                    continue;
                }
                let (kind, less) = match entries {
                    Some(Entries::Counted) => (HookKind::Entry, None),
                    // A test runs until it ends.
                    Some(Entries::Covered) if !function.facts.is_test => (HookKind::Covered, None),
                    // The context of an async call is left and entered again, maybe by another
                    // thread.
                    Some(Entries::InContexts) if !function.facts.is_async => {
                        (HookKind::Context, None)
                    }
                    _ => HookKind::of(function, (returns || types) && is_selected),
                };
                let subject = selected.iter().find_map(|path| selectors.subject(path, function));
                let subject = subject.map(|subject| subject.path.clone());
                let asked_by =
                    selected.iter().find_map(|path| selectors.asking_for(path, function));
                let is_trusted = function.is_exported
                    || selected.iter().any(|path| selectors.trusts(path, function));
                let paths = if is_selected { selected } else { others };
                let methods: Vec<Method> =
                    paths.into_iter().map(|path| method(path, &shown, function)).collect();
                for method in methods.iter().filter(|_| is_selected) {
                    choice.listing.add(method, skipped.as_deref(), less);
                }
                if skipped.is_none() {
                    let has_receiver =
                        (args || types) && function.facts.self_kind != SelfKind::None;
                    let has_args = has_receiver || !function.signature.parameters.is_empty();
                    let with_args = (args || types) && is_selected && has_args;
                    let chosen = Chosen {
                        kind,
                        subject,
                        with_args,
                        is_trusted,
                        is_alone,
                        asked_by,
                        methods,
                    };
                    choice.hooks.insert((at, place), chosen);
                }
            }
            if is_any_selected {
                choice.listing.macros += parsed.functions.generated.macros;
                choice.listing.derives += parsed.functions.generated.derives;
            }
        }
        Ok(choice)
    }

    /// True if nothing is inserted.
    pub fn is_empty(&self) -> bool {
        self.hooks.is_empty() && self.spawns.is_empty()
    }

    /// The calls that can carry their cause, by their places among those of a file: not in
    /// functions that have no hook, because a macro reads them, say, or because they also run at
    /// compile time.
    fn carried<'c>(
        &self,
        selectors: &'c Selectors,
        functions: &'c Functions,
    ) -> impl Iterator<Item = usize> + use<'c> {
        let edition = self.build.edition();
        functions.spawns.iter().enumerate().filter_map(move |(at, spawn)| {
            let around =
                functions.all.iter().filter(|function| function.contains(spawn.argument.start));
            let is_woven = around.into_iter().all(|function| selectors.skipped(function).is_none());
            (is_woven && spawn.is_possible_in(edition)).then_some(at)
        })
    }

    /// The insertions of a file.
    pub fn edits(&self, file: usize, functions: &Functions) -> Vec<Edit> {
        let spawns = self.spawns.range((file, 0)..(file + 1, 0));
        let spawns = spawns.flat_map(|(&(_, place), _)| functions.spawns[place].edits());
        // A closure has its cause before it begins.
        spawns.chain(self.hooks(file, functions).into_iter().map(Edit::from)).collect()
    }

    /// The hooks of a file.
    pub fn hooks<'c>(&'c self, file: usize, functions: &'c Functions) -> Vec<Hook<'c>> {
        let chosen = self.hooks.range((file, 0)..(file + 1, 0));
        // The first hook has the declarations of the file.
        let is_first = |at: usize| at == 0 && self.values.types;
        chosen
            .enumerate()
            .map(|(at, (&(_, place), chosen))| Hook {
                function: &functions.all[place],
                kind: chosen.kind,
                subject: chosen.subject.as_deref(),
                with_args: chosen.with_args,
                values: self.values,
                type_words: if is_first(at) {
                    functions.type_words.of(&self.build)
                } else {
                    String::new()
                },
                is_trusted: chosen.is_trusted,
                is_alone: chosen.is_alone,
            })
            .collect()
    }

    /// Shrinks the hooks that the compiler points at. Returns false if it points at none.
    pub(crate) fn yield_at(
        &mut self,
        places: &[diagnostics::ErrorPlace],
        source: &CrateSource,
    ) -> bool {
        let spawns: BTreeSet<CratePlace> =
            places.iter().flat_map(|at| self.blamed_spawns(at, source)).collect();
        if !spawns.is_empty() {
            let message = places.first().map(|at| at.message.as_str());
            spawns.iter().for_each(|place| self.uncarry(*place, message));
            return true;
        }
        let mut blamed = Vec::new();
        for at in places {
            blamed.extend(self.blamed(at, source).into_iter().map(|place| Blame {
                place,
                is_about_lifetimes: at.is_about_lifetimes,
                message: Some(at.message.clone()),
            }));
        }
        self.yield_all(&blamed)
    }

    /// Shrinks the hooks that see most.
    pub(crate) fn yield_most(&mut self, message: Option<&str>) {
        if !self.spawns.is_empty() {
            return self.uncarry_all(message);
        }
        let deep = self.hooks.iter().any(|(_, chosen)| chosen.below(false).is_some());
        let most = self.hooks.iter().filter(|(_, chosen)| !deep || chosen.below(false).is_some());
        let blame = |place: &CratePlace| Blame {
            place: *place,
            is_about_lifetimes: false,
            message: message.map(str::to_owned),
        };
        let most: Vec<Blame> = most.map(|(place, _)| blame(place)).collect();
        self.yield_all(&most);
    }

    /// Removes all hooks.
    pub(crate) fn leave_all(&mut self, message: Option<&str>) {
        self.uncarry_all(message);
        for (_, chosen) in std::mem::take(&mut self.hooks) {
            self.leave(&chosen, message);
        }
    }

    /// The calls with a carried cause that may cause an error: those at its place, or else those of
    /// the functions around it.
    fn blamed_spawns(&self, at: &diagnostics::ErrorPlace, source: &CrateSource) -> Vec<CratePlace> {
        let path = plain(&at.file);
        let is_on_line = |(first, last): (u32, u32)| (first..=last).contains(&at.line);
        let mut on_line = Vec::new();
        let mut around = Vec::new();
        for (&(file, place), _) in
            self.spawns.iter().filter(|(_, spawn)| Path::new(&spawn.file) == path)
        {
            let Some(functions) = source.functions(file) else { continue };
            let Spawn { lines, argument, .. } = &functions.spawns[place];
            if is_on_line(*lines) {
                on_line.push((file, place));
            }
            let mut outer =
                functions.all.iter().filter(|function| function.contains(argument.start));
            if outer.any(|function| is_on_line(function.lines)) {
                around.push((file, place));
            }
        }
        if on_line.is_empty() { around } else { on_line }
    }

    fn uncarry(&mut self, place: CratePlace, message: Option<&str>) {
        if let Some(spawn) = self.spawns.remove(&place) {
            self.listing.uncarried.push(Uncarried { message: message.map(str::to_owned), ..spawn });
        }
    }

    fn uncarry_all(&mut self, message: Option<&str>) {
        while let Some((&place, _)) = self.spawns.first_key_value() {
            self.uncarry(place, message);
        }
    }

    /// The hooks that may cause an error: all deep hooks around its place, or else the innermost
    /// hook.
    fn blamed(&self, at: &diagnostics::ErrorPlace, source: &CrateSource) -> Vec<CratePlace> {
        let file = plain(&at.file);
        let is_around = |chosen: &Chosen| {
            let Method { line: first, lines, file: own, .. } = chosen.method();
            (*first..first + lines).contains(&at.line) && Path::new(own) == file
        };
        let on_line: Vec<(CratePlace, &Chosen)> = self
            .hooks
            .iter()
            .filter(|(_, chosen)| is_around(chosen))
            .map(|(place, chosen)| (*place, chosen))
            .collect();
        let body = |&(file, place): &CratePlace| {
            source.functions(file).map_or(0..0, |of| of.all[place].body.clone())
        };
        // Several functions may be on the line. An error in none of their bodies may be the fault
        // of each.
        let byte =
            on_line.get(1).and_then(|((file, _), _)| self.original_byte(*file, at.byte?, source));
        let is_in_body = |place: &CratePlace| {
            byte.is_some_and(|byte| (body(place).start..=body(place).end).contains(&byte))
        };
        let in_body: Vec<(CratePlace, &Chosen)> =
            on_line.iter().filter(|(place, _)| is_in_body(place)).copied().collect();
        let around = if in_body.is_empty() { on_line } else { in_body };
        let deep =
            around.iter().filter(|(_, chosen)| chosen.kind.is_deep()).map(|(place, _)| *place);
        let deep: Vec<CratePlace> = deep.collect();
        if !deep.is_empty() {
            return deep;
        }
        let least = around.iter().map(|(place, _)| body(place).len()).min();
        around
            .iter()
            .map(|(place, _)| *place)
            .filter(|place| Some(body(place).len()) == least)
            .collect()
    }

    /// The byte of the original text that a byte of the woven text comes from; of a hook, the byte
    /// that it stands before.
    fn original_byte(&self, file: usize, woven: usize, source: &CrateSource) -> Option<usize> {
        let mut inserted = 0;
        for (at, hook) in insertions(self.edits(file, source.functions(file)?)) {
            if woven < at + inserted {
                break;
            }
            if woven < at + inserted + hook.len() {
                return Some(at);
            }
            inserted += hook.len();
        }
        Some(woven - inserted)
    }

    fn yield_all(&mut self, blamed: &[Blame]) -> bool {
        let mut yielded = BTreeSet::new();
        for Blame { place, is_about_lifetimes, message } in
            blamed.iter().filter(|blame| yielded.insert(blame.place))
        {
            let Some(chosen) = self.hooks.get_mut(place) else { continue };
            let message = message.as_deref();
            match chosen.below(*is_about_lifetimes) {
                Some((kind, with_args)) => {
                    // A hook that only counts beginnings has no subject.
                    let is_lost = kind == HookKind::Began && chosen.subject.is_some();
                    let asked_by = chosen.asked_by.as_deref().filter(|_| is_lost);
                    for method in chosen
                        .methods
                        .iter()
                        .filter(|_| !chosen.is_alone && kind != HookKind::WholeLent)
                    {
                        self.listing.lighten(method, message, asked_by);
                    }
                    (chosen.kind, chosen.with_args) = (kind, with_args);
                }
                None => {
                    let chosen = self.hooks.remove(place).expect("it was just there");
                    self.leave(&chosen, message);
                }
            }
        }
        !yielded.is_empty()
    }

    fn leave(&mut self, chosen: &Chosen, message: Option<&str>) {
        // A function that is not selected is in no list.
        for method in chosen.methods.iter().filter(|_| !chosen.is_alone) {
            self.listing.leave(method, message, chosen.asked_by.as_deref());
        }
    }
}

fn method(path: String, file: &str, function: &Function) -> Method {
    let (line, last) = function.lines;
    let Facts {
        complexity,
        self_kind,
        of_type,
        of_trait,
        type_arguments,
        trait_arguments,
        supertraits,
        visibility,
        is_async,
        is_closure,
        is_test,
        is_test_only,
        ..
    } = function.facts.clone();
    let module = path
        .strip_suffix(&function.name)
        .and_then(|path| path.strip_suffix("::"))
        .unwrap_or_default()
        .to_owned();
    let path =
        if module.is_empty() { path } else { format!("{module}::{}", qualified(&function.name)) };
    Method {
        module,
        path,
        file: file.to_owned(),
        line,
        lines: last + 1 - line,
        complexity,
        is_async,
        ty: of_type,
        of_trait,
        type_arguments,
        trait_arguments,
        supertraits,
        receiver: self_kind,
        seen: visibility,
        is_closure,
        is_test,
        is_test_only,
    }
}

#[cfg(test)]
mod tests;
