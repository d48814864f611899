//! Detection of functions that wait, as far as their source shows it: for a time, a message, a
//! thread, a connection.

use syn::visit::{self, Visit};
use syn::{Block, Expr, ExprCall, ExprMethodCall, Item};

/// Word of the facts of such a function.
pub const WORD: &str = "waits";

/// Functions of std that wait, by the last two segments of their paths.
const FUNCTIONS: [[&str; 2]; 6] = [
    ["TcpStream", "connect"],
    ["TcpStream", "connect_timeout"],
    ["UnixStream", "connect"],
    ["thread", "park"],
    ["thread", "park_timeout"],
    ["thread", "sleep"],
];
/// Methods of std that wait, with their numbers of arguments.
const METHODS: [(&str, usize); 7] = [
    ("accept", 0),
    ("join", 0),
    ("read_exact", 1),
    ("read_line", 1),
    ("recv", 0),
    ("recv_timeout", 1),
    ("wait_timeout", 2),
];

/// Returns the facts' further word about a body, with a space before it: empty if it calls nothing
/// of std that waits. Closures count with their function; nested functions do not count.
pub fn word_of(block: &Block) -> String {
    let mut visitor = WaitingVisitor(false);
    visitor.visit_block(block);
    if visitor.0 { format!(" {WORD}") } else { String::new() }
}

struct WaitingVisitor(bool);

impl<'ast> Visit<'ast> for WaitingVisitor {
    fn visit_item(&mut self, _: &'ast Item) {}

    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        if let Expr::Path(path) = &*call.func {
            let mut segments = path.path.segments.iter().rev();
            let function = segments.next();
            let owner = segments.next();
            self.0 |= FUNCTIONS.into_iter().any(|[of, name]| {
                function.is_some_and(|it| it.ident == name)
                    && owner.is_some_and(|it| it.ident == of)
            });
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        self.0 |= METHODS
            .iter()
            .any(|(name, arguments)| call.method == name && call.args.len() == *arguments);
        visit::visit_expr_method_call(self, call);
    }
}

#[cfg(test)]
mod tests {
    fn check(body: &str, expected: &str) {
        let block = syn::parse_str(&format!("{{ {body} }}")).expect("a body");
        assert_eq!(super::word_of(&block), expected, "{body}");
    }

    #[test]
    fn waiting_for_a_time_a_message_or_a_thread_is_a_fact() {
        check("std::thread::sleep(Duration::from_millis(1))", " waits");
        check("let answer = self.answers.recv().unwrap(); answer.len()", " waits");
        check("threads.into_iter().for_each(|thread| thread.join().unwrap())", " waits");
        check("let stream = net::TcpStream::connect(address)?; Ok(stream)", " waits");
    }

    #[test]
    fn other_calls_of_these_names_are_none() {
        check("path.join(name)", "");
        check("words.join(\", \")", "");
        check("sleep(1)", "");
        check("fn inner() { thread::sleep(TIME) } inner", "");
    }
}
