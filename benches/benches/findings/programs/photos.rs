//! A photo album: faces, thumbnails and sliders.

use metaspy::channels::Bus;
use metaspy::prelude::*;
use metaspy::tasks::{self, FutureExt};

use super::{answer_after, compute, one_thread, pause};

#[derive(Clone, Copy, PartialEq, Eq, Identify)]
struct Photo(u32);

/// The fault: the faces of an album are fetched one after another. Without it, one request fetches
/// all of them.
pub fn faces(fault: bool) {
    one_thread().block_on(async {
        for album in 0..20 {
            open_album(album, fault).await;
        }
    });
}

#[observe]
async fn open_album(album: u32, one_by_one: bool) {
    answer_after(400).await;
    if one_by_one {
        for photo in album * 20..album * 20 + 20 {
            face_of(Photo(photo)).await;
        }
    } else {
        answer_after(2_000).spied("faces_of_all").await;
    }
}

#[observe(subject = photo)]
async fn face_of(photo: Photo) {
    answer_after(500 + u64::from(photo.0 % 3)).spied("request").await;
}

/// The fault: photos with a damaged header are read three times, although the header does not get
/// better.
pub fn headers(fault: bool) {
    let attempts = if fault { 3 } else { 1 };
    let read = (0..900).filter(|&photo| import(Photo(photo), attempts)).count();
    println!("{read}");
}

#[observe(subject = photo)]
fn import(photo: Photo, attempts: u32) -> bool {
    (0..attempts).any(|_| read_header(photo).is_ok())
}

#[observe(subject = photo)]
fn read_header(photo: Photo) -> Result<u32, String> {
    compute(10);
    if photo.0 % 9 == 4 { Err(format!("photo {}: no header", photo.0)) } else { Ok(photo.0) }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Identify)]
struct Slider(u32);

/// The fault: the sliders of width and height set each other, and rounding lets them go on for ten
/// rounds. Without it, a slider that was set by the other one sets nothing.
pub fn sliders(fault: bool) {
    label(Slider(0), "width");
    label(Slider(1), "height");
    let (moved, queue) = Bus::new("moved").wrap(std::sync::mpsc::channel::<_>());
    let mut set = 0;
    for drag in 0..80_u32 {
        moved.send((Slider(drag % 2), 10_u32)).expect("the queue is there");
        while let Ok((slider, rounds)) = queue.try_recv() {
            let _because = queue.because();
            set += u32::from(set_slider(slider));
            if rounds > 0 && (fault || rounds == 10) {
                let other = Slider(1 - slider.0);
                moved.send((other, rounds - 1)).expect("the queue is there");
            }
        }
    }
    println!("{set}");
}

#[observe(subject = slider)]
fn set_slider(slider: Slider) -> bool {
    compute(10) > u64::from(slider.0)
}

/// The fault: each scroll gives up the thumbnail in work, which begins anew. Without it, a
/// thumbnail is made to its end.
pub fn scrolling(fault: bool) {
    one_thread().block_on(async move {
        for row in 0..40 {
            if fault {
                // Three scrolls come while the row is in work.
                for _ in 0..3 {
                    tokio::select! {
                        biased;
                        () = thumbnails(row) => {}
                        () = scrolled() => {}
                    }
                }
            }
            thumbnails(row).await;
        }
    });
}

#[observe(subject = Photo(row))]
async fn thumbnails(row: u32) {
    for photo in 0..8 {
        compute(200 + u64::from(row + photo));
        tokio::task::yield_now().await;
    }
}

async fn scrolled() {
    for _ in 0..6 {
        tokio::task::yield_now().await;
    }
}

/// Correct: some requests take too long and are given up; they wait and have done no work.
pub fn time_limits() {
    one_thread().block_on(async {
        for photo in 0..150 {
            let time = if photo % 25 == 7 { 20_000 } else { 200 };
            let limit = std::time::Duration::from_millis(5);
            // Who gives up shows an empty frame.
            let _ = tokio::time::timeout(limit, preview(Photo(photo), time)).await;
        }
    });
}

#[observe(subject = photo)]
async fn preview(photo: Photo, time: u64) {
    answer_after(time + u64::from(photo.0 % 2)).await;
}

/// The fault: the picture is cut into one strip per thread, and only the first strip has something
/// to develop. Without it, the rows are dealt in turn.
pub fn strips(fault: bool) {
    let threads: Vec<_> = (0..4)
        .map(|thread| {
            tasks::thread::spawn(move || {
                let rows = (0..800)
                    .filter(|row| if fault { row / 200 == thread } else { row % 4 == thread });
                rows.for_each(develop);
                pause(100);
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().expect("nothing panics"));
}

/// The sky is in the first quarter of the picture, and the rest is black.
fn develop(row: u32) {
    if row < 200 {
        (0..20).for_each(|_| _ = develop_cell(Photo(row)));
    }
}

#[observe(subject = row)]
fn develop_cell(row: Photo) -> u64 {
    compute(15) ^ u64::from(row.0)
}
