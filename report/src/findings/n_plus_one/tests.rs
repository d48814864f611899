use metaspy_reader::Outcome;

use super::super::testing::Run;
use super::*;

/// Runs ten pages of a shop. `orders` asks for the orders of a page.
fn check(orders: impl Fn(&mut Run, u64), expected: &[&str]) {
    let mut run = Run::new();
    for site in ["shop::page", "shop::orders", "shop::customer", "shop::other"] {
        run.site(site, SiteKind::Async);
    }
    for page in 0..10 {
        run.call("shop::page", None, |run| orders(run, page));
    }
    assert_eq!(run.found(NPlusOne::default()), expected);
}

fn wait(run: &mut Run, path: &str, node: impl Into<Option<u64>>) {
    run.polled(path, node, Outcome::Returned, 2, 1_000, |run| run.work(1_000_000));
}

#[test]
fn a_query_for_each_order_is_found() {
    let title = "page waits for customer once for each subject, one after another";
    let asks = |run: &mut Run, page| {
        wait(run, "shop::orders", None);
        (0..8).for_each(|order| wait(run, "shop::customer", page * 8 + order));
    };
    check(asks, &[&format!("{title}: calls=10 effects=80")]);
}

#[test]
fn one_query_for_all_is_silent() {
    let asks = |run: &mut Run, page| {
        wait(run, "shop::orders", None);
        wait(run, "shop::customer", page);
    };
    check(asks, &[]);
}

#[test]
fn paging_by_a_cursor_is_silent() {
    check(
        |run, page| (0..8).for_each(|cursor| wait(run, "shop::customer", page * 8 + cursor)),
        &[],
    );
}

#[test]
fn a_worker_that_does_one_job_after_another_is_silent() {
    let works = |run: &mut Run, worker: u64| {
        for job in 0..8 {
            wait(run, "shop::other", worker * 8 + job);
            wait(run, "shop::customer", worker * 8 + job);
            wait(run, "shop::other", worker * 8 + job);
        }
    };
    check(works, &[]);
}

#[test]
fn carts_whose_items_are_in_any_order_are_found_and_what_each_answer_leads_to_is_silent() {
    // Each item stands in carts with other items before and after it.
    let shuffled = |run: &mut Run, cart: u64| {
        (0..8).for_each(|at| wait(run, "shop::customer", (at * (cart + 1) * 7 + cart) % 23));
    };
    let title = "page waits for customer once for each subject, one after another";
    check(shuffled, &[&format!("{title}: calls=10 effects=80")]);
    // A list whose parts each name the next part, and a tree whose nodes each have one parent.
    check(|run, page| (0..8).for_each(|at| wait(run, "shop::customer", page % 3 + at)), &[]);
    check(
        |run, page| (0..8).for_each(|at| wait(run, "shop::customer", (1 << at) + page % (1 << at))),
        &[],
    );
}

#[test]
fn polling_one_subject_and_work_without_waiting_are_silent() {
    let polls = |run: &mut Run, page| {
        wait(run, "shop::orders", None);
        (0..8).for_each(|_| wait(run, "shop::customer", page));
    };
    check(polls, &[]);
    let works = |run: &mut Run, page| {
        wait(run, "shop::orders", None);
        for order in 0..8 {
            let work = |run: &mut Run| run.work(1_000_000);
            run.polled("shop::customer", page * 8 + order, Outcome::Returned, 1, 1_000_000, work);
        }
    };
    check(works, &[]);
}

#[test]
fn queries_side_by_side_are_silent() {
    let asks = |run: &mut Run, page| {
        wait(run, "shop::orders", None);
        let began = run.now;
        for order in 0..8 {
            run.now = began;
            wait(run, "shop::customer", page * 8 + order);
        }
    };
    check(asks, &[]);
}

/// Shows ten pages. Each asks for 8 customers on one database, by calls that are no async calls.
/// `facts` are the facts of the asking function, and `customer` is the recorded argument.
fn check_threads(facts: &str, asks_before: bool, customer: impl Fn(u64) -> u64, expected: &[&str]) {
    let mut run = Run::new();
    run.function("shop", "shop::Db::ask", facts);
    for page in 0..10 {
        run.call("shop::page", None, |run| {
            if asks_before {
                run.call("shop::Db::orders", 1, |run| _ = run.leaf("shop::Db::ask", 1, 900_000));
            }
            for order in 0..8 {
                let call = run
                    .call("shop::Db::customer", 1, |run| _ = run.leaf("shop::Db::ask", 1, 900_000));
                run.argument(call, "id", &customer(page * 8 + order).to_string());
            }
        });
    }
    assert_eq!(run.found(NPlusOne::default()), expected);
}

#[test]
fn calls_whose_source_waits_for_one_argument_after_another_are_found() {
    let found = "page waits for Db::customer once for each argument, one after another: calls=10 effects=80";
    check_threads("self=ref waits", true, |order| order, &[found]);
    check_threads("self=ref waits", true, |order| order % 8 % 6, &[found]);
    check_threads("self=ref waits", true, |order| order / 8, &[]);
    check_threads("self=ref waits", false, |order| order, &[]);
    check_threads("self=ref", true, |order| order, &[]);
}

#[test]
fn calls_that_wait_for_the_answer_of_another_thread_are_found() {
    let mut run = Run::new();
    for path in ["questions::sent", "questions::received", "answers::sent", "answers::received"] {
        run.site(path, SiteKind::Announcement);
    }
    for page in 0..10 {
        run.call("map::show", None, |run| {
            run.work(400_000);
            for router in 0..8 {
                run.call("map::ask", page * 8 + router, |run| {
                    let question = run.leaf("questions::sent", None, 100);
                    run.on(1);
                    let asked = run.instant("questions::received", None, Some(question));
                    run.work(400_000);
                    let answer =
                        run.because(Some(asked), "answers::sent", None, |run| run.work(100));
                    run.on(0);
                    run.instant("answers::received", None, Some(answer));
                    run.work(1_000);
                });
            }
        });
    }
    let found = "show waits for ask once for each subject, one after another: calls=10 effects=80";
    assert_eq!(run.found(NPlusOne::default()), [found]);
}

#[test]
fn a_walk_over_a_tree_is_silent() {
    fn visit(run: &mut Run, node: u64, depth: u64) {
        run.polled("shop::page", node, Outcome::Returned, 2, 1_000, |run| {
            wait(run, "shop::orders", None);
            run.polled("shop::other", node, Outcome::Returned, 2, 1_000, |run| {
                (0..6)
                    .filter(|_| depth > 0)
                    .for_each(|child| visit(run, node * 6 + child + 1, depth - 1));
            });
        });
    }
    check(|run, page| visit(run, page * 100, 1), &[]);
}
