//! A restaurant: orders, ovens and bills.

use std::sync::mpsc;

use metaspy::channels::{Bus, Callbacks};
use metaspy::prelude::*;
use metaspy::tasks;

use super::{Numbers, answer_after, compute, one_thread, pause, two_threads};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Identify)]
struct Dish(u32);

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Identify)]
struct Table(u32);

/// The fault: the price of a dish is worked out for the bill, for the tax and for the tip, from the
/// same ingredients.
pub fn prices(fault: bool) {
    let mut guests = Numbers::new(21);
    let till = Till { works_out_again: fault };
    let paid =
        (0..700).map(|_| till.pay(Dish(guests.below(5_000) as u32))).fold(0, u64::wrapping_add);
    println!("{paid}");
}

struct Till {
    works_out_again: bool,
}

#[observe]
impl Till {
    fn pay(&self, dish: Dish) -> u64 {
        let price = self.price_of(dish);
        let known = (!self.works_out_again).then_some(price);
        self.bill(dish, known) + self.tax(dish, known) + self.tip(dish, known)
    }

    #[observe(subject = dish)]
    fn price_of(&self, dish: Dish) -> u64 {
        compute(12) % 40 + u64::from(dish.0 % 7)
    }

    #[observe(subject = dish)]
    fn bill(&self, dish: Dish, known: Option<u64>) -> u64 {
        known.unwrap_or_else(|| self.price_of(dish)) + compute(1) % 2
    }

    #[observe(subject = dish)]
    fn tax(&self, dish: Dish, known: Option<u64>) -> u64 {
        known.unwrap_or_else(|| self.price_of(dish)) / 5 + compute(1) % 2
    }

    #[observe(subject = dish)]
    fn tip(&self, dish: Dish, known: Option<u64>) -> u64 {
        known.unwrap_or_else(|| self.price_of(dish)) / 10 + compute(1) % 2
    }
}

/// Correct: a sauce is tasted before and after each seasoning, which changes it.
pub fn seasoning() {
    let mut kitchen = Kitchen { salt: vec![0; 40], tasted: 0 };
    for evening in 0..25 {
        (0..40).for_each(|sauce| kitchen.cook(Dish(sauce), 2 + evening % 3));
    }
    println!("{}", kitchen.tasted);
}

struct Kitchen {
    salt: Vec<u64>,
    tasted: u64,
}

#[observe]
impl Kitchen {
    fn cook(&mut self, sauce: Dish, pinches: u32) {
        self.taste(sauce);
        for _ in 0..pinches {
            self.season(sauce);
            self.taste(sauce);
        }
    }

    #[observe(subject = sauce)]
    fn season(&mut self, sauce: Dish) {
        self.salt[sauce.0 as usize] += compute(1) % 3;
    }

    #[observe(subject = sauce)]
    fn taste(&mut self, sauce: Dish) {
        self.tasted = self.tasted.wrapping_add(compute(6) ^ self.salt[sauce.0 as usize]);
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Identify)]
struct Oven(u32);

/// The fault: an oven that cools down asks its neighbour for less, which then asks it for more;
/// each regulation spawns the next one, eight times. Without it, an oven regulates itself alone.
pub fn ovens(fault: bool) {
    one_thread().block_on(async move {
        for bread in 0..90 {
            let (finished, waiting) = tokio::sync::oneshot::channel();
            tasks::spawn(regulate(Oven(bread % 6), if fault { 16 } else { 0 }, finished));
            waiting.await.expect("the last oven answers");
        }
    });
}

#[observe(subject = oven)]
async fn regulate(oven: Oven, rounds: u32, finished: tokio::sync::oneshot::Sender<()>) {
    compute(6);
    if rounds == 0 {
        finished.send(()).expect("the baker waits");
    } else {
        tasks::spawn(regulate_next(Oven(oven.0 ^ 1), rounds - 1, finished));
    }
}

/// A future without a name, because the next regulation is spawned by this one.
fn regulate_next(oven: Oven, rounds: u32, finished: tokio::sync::oneshot::Sender<()>) -> Next {
    Box::pin(regulate(oven, rounds, finished))
}

type Next = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;

/// Correct: a pot is stirred once in a while, and each stirring starts the clock of the next one.
pub fn stirring() {
    two_threads().block_on(async {
        for pot in 0..12 {
            let (finished, waiting) = tokio::sync::oneshot::channel();
            tasks::spawn(stir(Dish(pot), 15, finished));
            waiting.await.expect("the last stirring answers");
        }
    });
}

#[observe(subject = pot)]
async fn stir(pot: Dish, times: u32, finished: tokio::sync::oneshot::Sender<()>) {
    compute(10);
    if times == 0 {
        finished.send(()).expect("the cook waits");
    } else {
        tasks::spawn(stir_later(pot, times - 1, finished));
    }
}

fn stir_later(pot: Dish, times: u32, finished: tokio::sync::oneshot::Sender<()>) -> Next {
    Box::pin(async move {
        answer_after(1_200).await;
        stir(pot, times, finished).await;
    })
}

/// Correct: a dough is kneaded in pieces, and the kneading queues its own rest so that other work
/// can come between.
pub fn dough() {
    let (pieces, queue) = Bus::new("pieces").wrap(mpsc::channel::<_>());
    (0..30_u32).for_each(|dough| pieces.send((Dish(dough), 12_u32)).expect("the queue is there"));
    while let Ok((dough, rest)) = queue.try_recv() {
        let _because = queue.because();
        knead(dough);
        if rest > 0 {
            pieces.send((dough, rest - 1)).expect("the queue is there");
        }
    }
}

#[observe(subject = dough)]
fn knead(dough: Dish) -> u64 {
    compute(9) ^ u64::from(dough.0)
}

/// Correct: a table orders three courses; the waiter asks for the next one when the kitchen has
/// answered.
pub fn courses() {
    let (to_kitchen, kitchen) = Bus::new("to_kitchen").wrap(mpsc::channel::<_>());
    let (to_hall, hall) = Bus::new("to_hall").wrap(mpsc::channel::<_>());
    for table in 0..150_u32 {
        to_kitchen.send((Table(table), 1)).expect("the kitchen is there");
        while let Ok((table, course)) = kitchen.try_recv() {
            {
                let _because = kitchen.because();
                prepare(table, course);
                to_hall.send((table, course)).expect("the hall is there");
            }
            while let Ok((table, course)) = hall.try_recv() {
                let _because = hall.because();
                serve(table, course);
                if course < 3 {
                    to_kitchen.send((table, course + 1)).expect("the kitchen is there");
                }
            }
        }
    }
}

#[observe(subject = table)]
fn prepare(table: Table, course: u32) -> u64 {
    compute(10 + u64::from(course)) ^ u64::from(table.0)
}

#[observe(subject = table)]
fn serve(table: Table, course: u32) -> u64 {
    compute(4) ^ u64::from(course + table.0)
}

/// The fault: allergies are announced to a list of listeners that nobody has joined.
pub fn allergies(fault: bool) {
    let hall = Callbacks::new("hall");
    type Listeners = Vec<Box<dyn Fn(Table) -> u64>>;
    let on_order: Listeners = vec![
        Box::new(move |table| hall.callback("order", || note(table))),
        Box::new(move |table| hall.callback("order", || lay(table))),
    ];
    let mut on_allergy: Listeners = Vec::new();
    if !fault {
        on_allergy.push(Box::new(move |table| hall.callback("allergy", || warn(table))));
    }
    let mut said = 0;
    for table in 0..900 {
        said ^= hall.announce("order", || {
            on_order.iter().map(|listen| listen(Table(table % 30))).fold(0, u64::max)
        });
        if table % 7 == 0 {
            said ^= hall.announce("allergy", || {
                on_allergy.iter().map(|listen| listen(Table(table % 30))).fold(0, u64::max)
            });
        }
    }
    println!("{said}");
}

#[observe(subject = table)]
fn note(table: Table) -> u64 {
    compute(5) ^ u64::from(table.0)
}

#[observe(subject = table)]
fn lay(table: Table) -> u64 {
    compute(4) ^ u64::from(table.0)
}

#[observe(subject = table)]
fn warn(table: Table) -> u64 {
    compute(3) ^ u64::from(table.0)
}

/// Correct: closing time is announced once, after the last listener has gone home.
pub fn closing() {
    let evening = Callbacks::new("evening");
    let mut said = 0;
    for table in 0..700 {
        said ^=
            evening.announce("seated", || evening.callback("seated", || lay(Table(table % 25))));
    }
    evening.announce("closed", || compute(1));
    println!("{said}");
}

/// The fault: a dish costs longer to cook than the time until the next order, and one cook does all
/// of them. Without it, the hall takes no order while four wait.
pub fn orders(fault: bool) {
    let (orders, queue) =
        Bus::new("orders").wrap(mpsc::sync_channel::<_>(if fault { 5_000 } else { 4 }));
    let cook = tasks::thread::spawn(move || {
        while let Ok(dish) = queue.recv() {
            let _because = queue.because();
            fry(dish);
        }
    });
    for dish in 0..250 {
        pause(300);
        orders.send(Dish(dish)).expect("the cook is there");
    }
    drop(orders);
    cook.join().expect("nothing panics");
}

#[observe(subject = dish)]
fn fry(dish: Dish) -> u64 {
    pause(1_200);
    u64::from(dish.0)
}

/// Correct: lunch comes at once, and the cook works it off until the afternoon; two neighbours use
/// the same machine.
pub fn lunch() {
    let neighbours: Vec<_> = (0..2)
        .map(|_| {
            tasks::thread::spawn(|| {
                (0..150).map(|load| wash(Table(load))).fold(0, u64::wrapping_add)
            })
        })
        .collect();
    let (orders, queue) = Bus::new("lunch").wrap(mpsc::channel::<_>());
    let cook = tasks::thread::spawn(move || {
        while let Ok(dish) = queue.recv() {
            let _because = queue.because();
            grill(dish);
        }
    });
    for day in 0..2 {
        (0..400).for_each(|dish| orders.send(Dish(dish + day)).expect("the cook is there"));
        pause(60_000);
    }
    drop(orders);
    cook.join().expect("nothing panics");
    neighbours.into_iter().for_each(|thread| _ = thread.join().expect("nothing panics"));
}

#[observe(subject = dish)]
fn grill(dish: Dish) -> u64 {
    compute(40) ^ u64::from(dish.0)
}

#[observe(subject = load)]
fn wash(load: Table) -> u64 {
    compute(300) ^ u64::from(load.0)
}
