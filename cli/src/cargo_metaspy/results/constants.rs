//! Methods that always return the same value for each receiver: what a cache would be for (*Execution profiling
//! blueprints*, section 5.3).

use crate::cargo_metaspy::results::{Package, Ran, Returned};

/// The methods of a crate, as far as it is worth asking.
#[derive(Debug)]
pub struct Constants<'r> {
    /// The crate.
    pub package: String,
    /// Those that always return the same, and that not their receiver.
    pub constant: Vec<&'r Ran>,
    /// Those of which nobody can say.
    pub not_comparable: usize,
    /// All that ran twice and made two calls at least.
    pub asked: usize,
}

/// As often a method must have run, and as many calls it must have made.
pub const LEAST: u64 = 2;

/// Crate by crate.
pub fn constants<'r>(packages: &[Package<'r>]) -> Vec<Constants<'r>> {
    let of = |package: &Package<'r>| {
        let methods = package.all_types().into_iter().flat_map(|ty| ty.methods.iter().copied());
        let asked: Vec<&'r Ran> =
            methods.filter(|ran| !ran.method.is_test && ran.count >= LEAST && ran.told.calls >= LEAST).collect();
        let returns = |ran: &Ran, returned| ran.told.returns == Some(returned);
        Constants {
            package: package.path.clone(),
            not_comparable: asked.iter().filter(|ran| returns(ran, Returned::NotComparable)).count(),
            constant: asked.iter().filter(|ran| returns(ran, Returned::Constant)).copied().collect(),
            asked: asked.len(),
        }
    };
    packages.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cargo_metaspy::results::packages;
    use crate::cargo_metaspy::results::tests::ran;

    #[test]
    fn what_ran_once_or_called_little_is_not_asked() {
        let method = |name: &str, count, calls, returns| {
            let mut ran = ran("a", "", name, count);
            (ran.told.calls, ran.told.returns) = (calls, Some(returns));
            ran
        };
        let all = [
            method("constant", 2, 2, Returned::Constant),
            method("once", 1, 2, Returned::Constant),
            method("leaf", 9, 1, Returned::Constant),
            method("itself", 2, 2, Returned::Itself),
            method("hidden", 2, 2, Returned::NotComparable),
        ];
        let found = constants(&packages(&all));
        let [a] = &found[..] else { panic!("there is one crate") };
        assert_eq!((a.constant.len(), a.not_comparable, a.asked), (1, 1, 3));
        assert_eq!(a.constant[0].method.path, "a::constant");
    }
}
