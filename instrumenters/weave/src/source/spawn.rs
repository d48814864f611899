//! Calls that spawn work: a task, a thread, a job of a pool. Their argument is rewritten to carry
//! the cause.
//!
//! The tokens show the name of a call, and not the types. A closure and an async block are known by
//! their form. Any other argument is wrapped by a macro that inspects its type, and leaves it alone
//! if it is neither a future nor a function.

use std::ops::Range;

use metaspy_syntax::spawning::{is_given_anything, is_parallel, is_spawning};
use syn::spanned::Spanned;
use syn::{Expr, ExprCall, ExprClosure, ExprMethodCall};

use crate::source::closures;
use crate::source::hook::{EXTERN_CRATE, Edit};

/// A call that spawns work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spawn {
    /// Its name, as it is written: `tokio::spawn`, `.spawn`.
    pub door: String,
    /// The bytes of its argument.
    pub argument: Range<usize>,
    /// Its first and last line.
    pub lines: (u32, u32),
    form: Form,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Form {
    /// The bytes of its body, and two properties of it.
    Closure {
        body: Range<usize>,
        is_expression: bool,
        is_move: bool,
    },
    Async,
    Other,
}

impl Spawn {
    /// The insertions. A closure captures the cause without `move` as well since the edition of
    /// 2021.
    pub fn edits(&self) -> Vec<Edit> {
        let Range { start, end } = self.argument;
        let edit = |bytes: Range<usize>, before: &str, behind: &'static str| Edit {
            bytes,
            before: before.to_owned(),
            behind,
        };
        match &self.form {
            Form::Async => vec![edit(start..end, &format!("{EXTERN_CRATE}::Because::of("), ")")],
            Form::Other => vec![edit(start..end, &format!("{EXTERN_CRATE}::spawned!("), ")")],
            Form::Closure { body, is_expression, .. } => {
                let because = "let __metaspy_because=__metaspy_cause.because();";
                let inner = if *is_expression {
                    edit(body.clone(), &format!("{{{because}"), "}")
                } else {
                    edit(body.clone(), because, "")
                };
                let outer = format!("{{let __metaspy_cause={EXTERN_CRATE}::Cause::carried();");
                vec![edit(start..end, &outer, "}"), inner]
            }
        }
    }

    /// Returns true if a macro reads the argument of the call.
    pub fn is_given_to_a_macro(&self) -> bool {
        self.form == Form::Other
    }

    /// The same call in a text in which the source begins at this byte.
    pub(super) fn moved(mut self, by: usize) -> Self {
        let moved = |bytes: &Range<usize>| bytes.start + by..bytes.end + by;
        self.argument = moved(&self.argument);
        if let Form::Closure { body, .. } = &mut self.form {
            *body = moved(body);
        }
        self
    }

    /// True if it can be rewritten in this edition.
    pub(crate) fn is_possible_in(&self, edition: u32) -> bool {
        edition >= 2021 || !matches!(self.form, Form::Closure { is_move: false, .. })
    }

    /// The arguments of a call of a function. `body` are the bytes of the body of a closure.
    pub(super) fn of_call(
        call: &ExprCall,
        body: &dyn Fn(&ExprClosure) -> Range<usize>,
    ) -> Vec<Spawn> {
        let Expr::Path(path) = &*call.func else { return Vec::new() };
        let segments: Vec<String> =
            path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let Some(name) = segments.last() else { return Vec::new() };
        if !is_spawning(name) || (name == "join" && call.args.len() != 2) {
            return Vec::new();
        }
        of_arguments(name, &segments.join("::"), call.args.iter(), body)
    }

    /// The arguments of a call of a method.
    pub(super) fn of_method_call(
        call: &ExprMethodCall,
        body: &dyn Fn(&ExprClosure) -> Range<usize>,
    ) -> Vec<Spawn> {
        let name = call.method.to_string();
        let door = format!(".{name}");
        if name != "join" && is_spawning(&name) {
            return of_arguments(&name, &door, call.args.iter(), body);
        }
        if is_parallel(&call.receiver) {
            let closures = call.args.iter().filter(|argument| matches!(argument, Expr::Closure(_)));
            return of_arguments("", &door, closures, body);
        }
        Vec::new()
    }
}

fn of_arguments<'a>(
    name: &str,
    door: &str,
    arguments: impl Iterator<Item = &'a Expr>,
    body: &dyn Fn(&ExprClosure) -> Range<usize>,
) -> Vec<Spawn> {
    let mut found = Vec::new();
    for (at, argument) in arguments.enumerate() {
        let is_work = if name == "spawn_scoped" { at == 1 } else { at == 0 };
        let form = match argument {
            Expr::Closure(closure)
                if closure.attrs.is_empty() && closures::reason(closure).is_none() =>
            {
                Form::Closure {
                    body: body(closure),
                    is_expression: !matches!(&*closure.body, Expr::Block(block) if block.label.is_none()),
                    is_move: closure.capture.is_some(),
                }
            }
            Expr::Async(block) if block.attrs.is_empty() => Form::Async,
            Expr::Call(_) | Expr::MethodCall(_) | Expr::Path(_) | Expr::Field(_)
                if is_work && is_given_anything(name) =>
            {
                Form::Other
            }
            _ => continue,
        };
        let span = argument.span();
        found.push(Spawn {
            door: door.to_owned(),
            argument: span.byte_range(),
            lines: (span.start().line as u32, span.end().line as u32),
            form,
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::source::hook::Edit;
    use crate::source::{insertions, parse};

    /// Rewrites all calls that spawn.
    fn check(text: &str, expected: &str) {
        let parsed = parse(text).expect("it is Rust");
        let edits: Vec<Edit> =
            parsed.functions.spawns.iter().flat_map(|spawn| spawn.edits()).collect();
        let mut woven = String::new();
        let mut done = 0;
        for (at, inserted) in insertions(edits) {
            woven += &text[done..at];
            woven += &inserted.replace("__metaspy", "_").replace("_::Cause::carried()", "CAUSE");
            done = at;
        }
        woven += &text[done..];
        assert_eq!(woven, expected);
    }

    #[test]
    fn closures_name_the_cause_where_their_bodies_begin() {
        check(
            "fn f() { std::thread::spawn(move || { g() }); s.spawn(|_| g()); }",
            "fn f() { std::thread::spawn({let __cause=CAUSE;move || {let __because=__cause.because(); g() }}); \
             s.spawn({let __cause=CAUSE;|_| {let __because=__cause.because();g()}}); }",
        );
    }

    #[test]
    fn what_is_parallel_names_the_cause_until_it_is_collected() {
        check(
            "fn f() { a.par_iter().map(|x| x).filter(p).collect().iter().map(|x| x); }",
            "fn f() { a.par_iter().map({let __cause=CAUSE;|x| {let __because=__cause.because();x}})\
             .filter(p).collect().iter().map(|x| x); }",
        );
    }

    #[test]
    fn futures_and_what_may_be_one_are_wrapped() {
        check(
            "async fn f() { tokio::spawn(async { spawn(g(|| 1)) }); set.spawn_on(g, &handle); }",
            "async fn f() { tokio::spawn(_::Because::of(async { spawn(_::spawned!(g(|| 1))) })); \
             set.spawn_on(_::spawned!(g), &handle); }",
        );
    }

    #[test]
    fn calls_that_spawn_no_work_are_left_alone() {
        for text in [
            "fn f() { Command::new(a).spawn(); parts.join(sep); path.join(|x| x); spawn(&world); spawn((1, 2)); }",
            "const X: () = spawn(f());",
            "fn f() { spawn(#[inline] || 1); spawn(|| { 1 } + 1); spawn(async || 1); s.iter().map(|x| x); }",
        ] {
            check(text, text);
        }
    }
}
