//! evalexpr: an expression is read and evaluated.

use ::evalexpr::{ContextWithMutableVariables, DefaultNumericTypes, HashMapContext, Value, build_operator_tree};

pub fn main() {
    let mut context = HashMapContext::<DefaultNumericTypes>::new();
    crate::measure::measure(|at| {
        context.set_value("x".into(), Value::Int(at as i64 % 100)).unwrap();
        let text = "y = (x + 3) * 2 - 1; z = if(y > 10, math::sqrt(16.0), 2.5); y > 20 && z < 5.0 || len(\"abc\") == 3";
        let tree = build_operator_tree::<DefaultNumericTypes>(text).unwrap();
        u64::from(tree.eval_with_context_mut(&mut context).unwrap() == Value::Boolean(true))
    });
}
