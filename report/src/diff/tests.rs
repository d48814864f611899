use super::*;

fn side(program: &str, counts: &[(&str, u64)]) -> Side {
    let thing = |(path, count): &(&str, u64)| {
        let numbers = vec![Numbers { count: *count, ..Numbers::default() }];
        let thing =
            Thing { label: (*path).into(), kind: "method".into(), numbers, ..Thing::default() };
        (Identity::Path((*path).into()), thing)
    };
    let things = counts.iter().map(thing).collect();
    Side { programs: vec![program.into()], recordings: 1, things, ..Side::default() }
}

#[test]
fn what_is_only_in_one_version_is_gone_or_new() {
    let (before, after) =
        (side("a", &[("same", 2), ("old", 5)]), side("a", &[("same", 2), ("young", 9)]));
    let diff = Diff::new(By::Site, &before, &after).expect("they have a site in common");
    let rows: Vec<_> =
        diff.rows.iter().map(|row| (row.label.as_str(), row.presence, row.is_change())).collect();
    let expected = [
        ("young", Presence::After, true),
        ("old", Presence::Before, true),
        ("same", Presence::Both, false),
    ];
    assert_eq!(rows, expected);
    assert_eq!((diff.count.before.median(), diff.count.after.median()), (7, 11));
    assert_eq!(diff.of_path("young").expect("it is a row").count.ratio(), None);
}

#[test]
fn a_module_counts_in_its_crate_alone() {
    let side = |calls| {
        let mut side = side("a", &[("a", calls), ("a::inner", calls - 1)]);
        side.things
            .get_mut(&Identity::Path("a::inner".into()))
            .expect("it is there")
            .is_contained = true;
        side
    };
    let diff = Diff::new(By::Package, &side(10), &side(12)).expect("they have packages in common");
    assert_eq!(
        (diff.count.before.median(), diff.count.after.median(), diff.rows.len()),
        (10, 12, 2)
    );
    let gate: Gate = "count +2".parse().expect("it is a gate");
    assert!(!gate.judge(&diff).is_failure(), "the sum of both is 4 larger");
}

#[test]
fn a_renamed_function_is_one_row_with_both_names() {
    let (mut before, mut after) =
        (side("a", &[("same", 2), ("old", 5)]), side("a", &[("same", 2), ("young", 5)]));
    let source = renamed::Source::new("app::old", 7, 3);
    for (side, name) in [(&mut before, "old"), (&mut after, "young")] {
        side.things
            .get_mut(&Identity::Path(name.into()))
            .expect("it is there")
            .sources
            .extend(source.clone());
    }
    let diff = Diff::new(By::Site, &before, &after).expect("they have a site in common");
    let row = diff.of_path("young").expect("it is a row");
    assert_eq!(
        (diff.rows.len(), row.presence, row.was.as_deref()),
        (2, Presence::Both, Some("old"))
    );
    assert_eq!(
        (row.label.as_str(), row.count.before.median(), row.is_change()),
        ("young", 5, true)
    );
}

#[test]
fn a_function_that_lost_its_hook_is_not_gone_and_has_no_count_to_judge() {
    let (before, mut after) =
        (side("a", &[("same", 2), ("now_const", 5)]), side("a", &[("same", 2)]));
    after.unobserved.insert(Identity::Path("now_const".into()));
    let diff = Diff::new(By::Site, &before, &after).expect("they have a site in common");
    let text = text(&diff, crate::table::Top::All, &[]).join("\n");
    assert!(text.contains("no hook") && !text.contains("gone"), "{text}");
    assert_eq!("count -50%".parse::<Gate>().expect("it is a gate").judge(&diff).compared, 2);
}

#[test]
fn times_of_a_part_of_the_calls_are_no_change_and_not_judged() {
    let timed = |self_ns, is_partly_timed| {
        let mut side = side("a", &[("site", 2)]);
        side.is_timed = true;
        let numbers = &mut side.things.values_mut().next().expect("a site").numbers[0];
        *numbers = Numbers { self_ns: Some(self_ns), is_partly_timed, ..numbers.clone() };
        side
    };
    let gate: Gate = "self +10%".parse().expect("it is a gate");
    let diff = |is_partly_timed| {
        Diff::new(By::Site, &timed(10, false), &timed(90, is_partly_timed))
            .expect("they have a site in common")
    };
    let mut gone = timed(90, false);
    let numbers = &mut gone.things.values_mut().next().expect("a site").numbers[0];
    (numbers.total_ns, numbers.self_ns) = (Some(90), None);
    let gone = Diff::new(By::Site, &timed(10, false), &gone).expect("they have a site in common");
    assert!(gone.self_ns.is_none(), "an unknown time is not 0");
    let whole = diff(false);
    let partly = diff(true);
    assert_eq!((whole.changed().count(), gate.judge(&whole).failures.len()), (1, 2));
    assert_eq!((partly.changed().count(), gate.judge(&partly).compared), (0, 0));
    assert!(gate.judge(&partly).is_undecided() && gate.judge(&gone).is_undecided());
    assert!(
        partly.notes.iter().any(|note| note.starts_with("1 row with `~`")),
        "{:?}",
        partly.notes
    );
    let text = text(&partly, crate::table::Top::All, &[]).join("\n");
    assert!(text.contains("~+800.0 %"), "{text}");
}

#[test]
fn rows_are_sorted_by_a_difference_or_by_a_ratio() {
    let before = side("a", &[("half", 10), ("much", 1_000), ("same", 5), ("zero", 0)]);
    let after = side("a", &[("half", 5), ("much", 1_100), ("same", 5), ("zero", 1)]);
    let mut diff = Diff::new(By::Site, &before, &after).expect("they have sites in common");
    let mut sorted = |by: &str, size: Size| -> Result<String, String> {
        diff.sort(&by.parse().expect("every word is one"), size)?;
        Ok(diff.rows.iter().map(|row| row.label.as_str()).collect::<Vec<_>>().join(" "))
    };
    assert_eq!(sorted("count", Size::Difference).as_deref(), Ok("much half zero same"));
    assert_eq!(sorted("count", Size::Percent).as_deref(), Ok("zero half much same"));
    assert_eq!(sorted("name", Size::Percent).as_deref(), Ok("half much same zero"));
    // What is not there is refused, with what there is.
    assert_eq!(
        sorted("self", Size::Percent),
        Err("both versions have no `self`; sort by count, name".into())
    );
    assert_eq!(
        sorted("calls.x", Size::Percent),
        Err("both versions have no `calls.x`; sort by count, name".into())
    );
}

#[test]
fn recordings_of_different_programs_are_refused_by_name() {
    let error = Diff::new(By::Site, &side("a", &[("x", 1)]), &side("b", &[("y", 1)]))
        .expect_err("no site is in both");
    assert!(
        error.to_string().starts_with("`a` and `b` have nothing in common: compare two recordings"),
        "{error}"
    );
    // Programs of two names with a common site are compared, with a note.
    let diff = Diff::new(By::Site, &side("a", &[("x", 1)]), &side("b", &[("x", 1)]))
        .expect("`x` is in both");
    assert!(diff.notes.iter().any(|note| note.contains("different names")), "{:?}", diff.notes);
}

#[test]
fn a_total_that_is_an_upper_bound_is_marked_and_no_change() {
    let timed = |ns, at_most| {
        let mut side = side("a", &[("site", 100)]);
        side.is_timed = true;
        let numbers =
            &mut side.things.get_mut(&Identity::Path("site".into())).expect("it is there").numbers
                [0];
        (numbers.total_ns, numbers.total_at_most) = (Some(ns), at_most);
        side
    };
    for at_most in [false, true] {
        let diff = Diff::new(By::Site, &timed(3_000_000, false), &timed(9_000_000, at_most))
            .expect("they have a site");
        assert_eq!((diff.rows[0].total_at_most, diff.rows[0].is_change()), (at_most, !at_most));
        let text = text(&diff, crate::table::Top::All, &[]).join("\n");
        assert!(text.contains("9.00 ms") && text.contains("≤9.00 ms") == at_most, "{text}");
        assert_eq!(json(&diff, 9, &[])["rows"][0]["total_at_most"], at_most);
    }
}

#[test]
fn a_gate_is_not_decided_by_numbers_that_are_not_exact() {
    let exact = || side("a", &[("site", 100), ("other", 5)]);
    let of = |change: &dyn Fn(&mut Side)| {
        let mut side = exact();
        change(&mut side);
        side
    };
    let first = |side: &mut Side, change: &dyn Fn(&mut Numbers)| {
        change(
            &mut side.things.get_mut(&Identity::Path("site".into())).expect("it is there").numbers
                [0],
        );
    };
    let at_least = of(&|side| first(side, &|numbers| numbers.at_least = true));
    let incomplete = of(&|side| side.incomplete.push("a.spy".into()));
    let empty = of(&|side| {
        side.things.values_mut().for_each(|thing| thing.numbers[0] = Numbers::default());
        side.empty.push("a.spy".into());
    });
    let column = |bound: bool| {
        of(&|side| {
            first(side, &|numbers| {
                numbers.columns.insert("cache.misses".into(), 3);
                numbers.lower_bounds.extend(bound.then(|| "cache.misses".to_owned()));
            });
        })
    };
    let partly = of(&|side| {
        side.is_timed = true;
        first(side, &|numbers| (numbers.total_ns, numbers.is_partly_timed) = (Some(9), true));
    });
    for (gate, after, expected) in [
        ("count +10%", exact(), "passed: "),
        (
            "count +10%",
            at_least,
            "UNDECIDED: count +10%: not known exactly: site; record with a larger METASPY_BUDGET",
        ),
        (
            "count +10%",
            incomplete,
            "UNDECIDED: count +10%: not known exactly: every row; calls may lack in a.spy",
        ),
        (
            "count +10%",
            empty,
            "FAILED: count +10%: there was nothing to compare: a.spy has no calls",
        ),
        ("cache.misses +1", column(false), "passed: "),
        ("cache.misses +1", column(true), "UNDECIDED: "),
        ("time +10%", partly, "UNDECIDED: time +10%: not known exactly: site"),
    ] {
        let before = if gate.starts_with("cache") { column(false) } else { exact() };
        let diff = Diff::new(By::Site, &before, &after).expect("they have sites in common");
        let judgement = gate.parse::<Gate>().expect("it is a gate").judge(&diff);
        assert!(judgement.to_string().starts_with(expected), "{judgement}");
        let ends_well = !judgement.is_failure() && !judgement.is_undecided();
        assert_eq!(ends_well, expected.starts_with("passed"), "{judgement}");
    }
}

#[test]
fn a_function_that_was_not_called_before_took_no_time() {
    let timed = |count, total_ns| {
        let mut side = side("a", &[("site", count)]);
        side.is_timed = true;
        side.things.values_mut().for_each(|thing| thing.numbers[0].total_ns = total_ns);
        side
    };
    let diff = Diff::new(By::Site, &timed(0, None), &timed(1, Some(90)))
        .expect("they have a site in common");
    assert_eq!("time +10%".parse::<Gate>().expect("it is a gate").judge(&diff).failures.len(), 1);
}
