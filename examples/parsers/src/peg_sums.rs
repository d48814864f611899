//! The language in peg. One rule, `spied`, makes an activation of the rule that it is given.
//!
//! peg reads a rejected input twice, the second time to find the expected tokens. Both count.

use metaspy::{Site, production};

use crate::spy::Spy;

/// The value of a sum.
pub fn parse(text: &str) -> Option<f64> {
    sums::sum(text, &Spy::default()).ok()
}

peg::parser! {
    grammar sums(spy: &Spy) for str {
        rule spied<T>(production: &'static Site, inner: rule<T>) -> T
            = (at:position!() { spy.begin(production, at) }) value:inner()? end:position!() {?
                spy.end(production, value, end).ok_or("a value")
            }

        rule _() = " "*

        pub rule sum() -> f64 = _ value:terms() _ { value }

        rule terms() -> f64 = spied(production!("sum"), <values:(product() ++ (_ "+" _)) { values.iter().sum() }>)

        rule product() -> f64
            = spied(production!("product"), <values:(factor() ++ (_ "*" _)) { values.iter().product() }>)

        rule factor() -> f64 = integer() / decimal() / group()

        rule group() -> f64 = spied(production!("group"), <"(" _ value:terms() _ ")" { value }>)

        rule integer() -> f64
            = spied(production!("integer"), <text:$(['0'..='9']+) {? text.parse().or(Err("a number")) }>)

        rule decimal() -> f64
            = spied(production!("decimal"), <text:$(['0'..='9']+ "." ['0'..='9']+) {? text.parse().or(Err("a number")) }>)
    }
}
