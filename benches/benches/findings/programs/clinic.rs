//! A clinic: appointments, results and wages.

use metaspy::prelude::*;

use super::{Numbers, compute};

#[derive(Clone, Copy, PartialEq, Eq, Identify)]
struct Patient(u32);

#[derive(Clone, Copy, PartialEq, Eq, Identify)]
struct Nurse(u32);

/// The fault: the nightly import writes dates in another order, so most of its appointments are
/// refused. Those of the desk and of the website are in order. Without it, each of the three has as
/// many refusals.
pub fn appointments(fault: bool) {
    let mut calls = Numbers::new(12);
    let mut refused = 0;
    for _ in 0..900 {
        let bad = |share: u64, calls: &mut Numbers| calls.below(100) < share;
        let (import_share, share) = if fault { (85, 1) } else { (30, 30) };
        refused += from_desk(Patient(calls.below(300) as u32), bad(share, &mut calls));
        refused += from_website(Patient(calls.below(300) as u32), bad(share, &mut calls));
        refused += from_import(Patient(calls.below(300) as u32), bad(import_share, &mut calls));
    }
    println!("{refused}");
}

#[observe]
fn from_desk(patient: Patient, is_bad: bool) -> u32 {
    u32::from(book(patient, is_bad).is_err())
}

#[observe]
fn from_website(patient: Patient, is_bad: bool) -> u32 {
    u32::from(book(patient, is_bad).is_err())
}

#[observe]
fn from_import(patient: Patient, is_bad: bool) -> u32 {
    u32::from(book(patient, is_bad).is_err())
}

#[observe(subject = patient)]
fn book(patient: Patient, is_bad: bool) -> Result<u32, String> {
    compute(6);
    if is_bad { Err(format!("patient {}: no such day", patient.0)) } else { Ok(patient.0) }
}

/// Correct: a form refuses what people type wrong, in each field as often as in the others.
pub fn form() {
    let mut typing = Numbers::new(13);
    let accepted = (0..4_000)
        .filter(|_| check_field(typing.below(30), typing.below(10) > 2).is_some())
        .count();
    println!("{accepted}");
}

#[observe(subject = field)]
fn check_field(field: u64, is_valid: bool) -> Option<u64> {
    compute(3);
    is_valid.then_some(field)
}

/// Correct: wages are paid to everybody once a month, whether something has changed or not.
pub fn wages() {
    let mut clinic = Clinic { wages: vec![100; 150], paid: 0 };
    for month in 0..36 {
        (0..3).for_each(|n| clinic.raise(Nurse((month * 11 + n * 29) % 150)));
        clinic.pay_day();
    }
    println!("{}", clinic.paid);
}

struct Clinic {
    wages: Vec<u64>,
    paid: u64,
}

#[observe]
impl Clinic {
    #[observe(subject = nurse)]
    fn raise(&mut self, nurse: Nurse) {
        self.wages[nurse.0 as usize] += 1;
    }

    fn pay_day(&mut self) {
        (0..self.wages.len() as u32).for_each(|nurse| self.pay(Nurse(nurse)));
    }

    #[observe(subject = nurse)]
    fn pay(&mut self, nurse: Nurse) {
        compute(4);
        self.paid += self.wages[nurse.0 as usize];
    }
}
