//! A library: members, loans and catalogues.

use std::time::Duration;

use metaspy::prelude::*;
use metaspy::tasks::JoinSet;

use super::{Numbers, answer_after, compute, one_thread, two_threads};

#[derive(Clone, Copy, PartialEq, Eq, Identify)]
struct Member(u32);

#[derive(Clone, Copy, PartialEq, Eq, Identify)]
struct Book(u32);

/// The fault: the list of a branch asks the database once for each of its members. Without it, it
/// asks once for all.
pub fn overdue(fault: bool) {
    let late: usize = one_thread().block_on(async {
        let mut late = 0;
        for branch in 0..20 {
            late += Database.overdue_list(branch, fault).await;
        }
        late
    });
    println!("{late}");
}

struct Database;

#[observe]
impl Database {
    async fn overdue_list(&self, branch: u32, one_by_one: bool) -> usize {
        let members: Vec<Member> = self.members(branch).await;
        if !one_by_one {
            return self.loans_of_all(&members).await;
        }
        let mut late = 0;
        for member in members {
            late += self.loans_of(member).await;
        }
        late
    }

    async fn members(&self, branch: u32) -> Vec<Member> {
        answer_after(1_500).await;
        (branch * 25..branch * 25 + 25).map(Member).collect()
    }

    #[observe(subject = member)]
    async fn loans_of(&self, member: Member) -> usize {
        answer_after(700).await;
        member.0 as usize % 3
    }

    async fn loans_of_all(&self, members: &[Member]) -> usize {
        answer_after(2_500).await;
        members.iter().map(|member| member.0 as usize % 3).sum()
    }
}

/// The fault: a thread asks the card index once for each of the books that were returned. Without
/// it, once for all.
pub fn returns(fault: bool) {
    let shelves: u64 = (0..20).map(|day| CardIndex.sort(day, fault)).sum();
    println!("{shelves}");
}

struct CardIndex;

#[observe]
impl CardIndex {
    fn sort(&self, day: u32, one_by_one: bool) -> u64 {
        let books = self.returned_on(day);
        if one_by_one {
            books.iter().map(|book| self.shelf_of(book.0)).sum()
        } else {
            self.shelves_of(&books)
        }
    }

    fn returned_on(&self, day: u32) -> Vec<Book> {
        self.answer(900);
        (day * 18..day * 18 + 18).map(Book).collect()
    }

    #[observe(args(book))]
    fn shelf_of(&self, book: u32) -> u64 {
        self.answer(400);
        u64::from(book % 40)
    }

    fn shelves_of(&self, books: &[Book]) -> u64 {
        self.answer(1_500);
        books.iter().map(|book| u64::from(book.0 % 40)).sum()
    }

    fn answer(&self, microseconds: u64) {
        std::thread::sleep(Duration::from_micros(microseconds));
    }
}

/// Correct: the way to a book is asked for sign by sign, and only a sign knows the next one.
pub fn signs() {
    let steps: u32 = (0..20).map(|visit| way_to(visit * 1_000)).sum();
    println!("{steps}");
}

#[observe]
fn way_to(mut place: u32) -> u32 {
    (0..12).for_each(|_| place = next_sign(place));
    place
}

#[observe(args(place), ret)]
fn next_sign(place: u32) -> u32 {
    std::thread::sleep(Duration::from_micros(500));
    place + 1 + place % 3
}

/// Correct: a long list comes in pages, and a page says where the next one begins.
pub fn paging() {
    let books = one_thread().block_on(async {
        let mut books = 0;
        for shelf in 0..15 {
            books += all_books(shelf).await;
        }
        books
    });
    println!("{books}");
}

#[observe]
async fn all_books(shelf: u64) -> u64 {
    let (mut cursor, mut books) = (Some(shelf << 32), 0);
    while let Some(from) = cursor {
        let page = page_after(from).await;
        books += page.books;
        cursor = page.next;
    }
    books
}

struct PageOfBooks {
    books: u64,
    next: Option<u64>,
}

#[observe(subject = cursor)]
async fn page_after(cursor: u64) -> PageOfBooks {
    answer_after(900).await;
    let next = cursor + 50;
    PageOfBooks { books: 50, next: (next & 0xFFFF_FFFF < 600).then_some(next) }
}

/// Correct: the covers of a page are loaded side by side.
pub fn covers() {
    two_threads().block_on(async {
        for page in 0..25 {
            show_covers(page).await;
        }
    });
}

#[observe]
async fn show_covers(page: u32) {
    let mut covers = JoinSet::new();
    for book in page * 30..page * 30 + 30 {
        covers.spawn(cover_of(Book(book)));
    }
    while let Some(cover) = covers.join_next().await {
        cover.expect("nothing panics");
    }
}

#[observe(subject = book)]
async fn cover_of(book: Book) -> u64 {
    answer_after(1_000).await;
    compute(10) ^ u64::from(book.0)
}

/// Correct: catalogues are read in the order of their size, and each takes as long as it has books.
pub fn catalogues() {
    let read: u64 = (1..60).map(|catalogue| read_catalogue(Member(catalogue), catalogue * 8)).sum();
    println!("{read}");
}

#[observe(subject = publisher)]
fn read_catalogue(publisher: Member, books: u32) -> u64 {
    (0..books).map(|book| read_entry(Book(publisher.0 << 16 | book))).sum()
}

#[observe(subject = book)]
fn read_entry(book: Book) -> u64 {
    compute(2) % (u64::from(book.0) + 2)
}

/// Correct: readers ask for popular books more often than for others, as readers do.
pub fn popular_books() {
    // The n-th book is wanted 1/n as often as the first one.
    let wishes: Vec<u32> =
        (0..80).flat_map(|book| std::iter::repeat_n(book, 240 / (book as usize + 1))).collect();
    let mut readers = Numbers::new(11);
    let mut lent = 0_u64;
    for _ in 0..6_000 {
        let book = Book(wishes[readers.below(wishes.len() as u64) as usize]);
        lent = lent.wrapping_add(lend(book));
    }
    println!("{lent}");
}

#[observe(subject = book)]
fn lend(book: Book) -> u64 {
    compute(3) ^ u64::from(book.0)
}

/// Correct: all loans of the day are kept, because the report of the evening needs each of them.
pub fn day() {
    let mut loans: Vec<Spied<Loan>> = Vec::new();
    for number in 0..2_500 {
        let loan = Spied::new(Loan { number });
        loan.check();
        loans.push(loan);
    }
    let report = loans.iter().map(|loan| loan.report()).fold(0, u64::wrapping_add);
    println!("{report}");
}

struct Loan {
    number: u64,
}

#[observe]
impl Loan {
    fn check(&self) -> u64 {
        compute(4) ^ self.number
    }

    fn report(&self) -> u64 {
        compute(2) ^ self.number
    }
}
