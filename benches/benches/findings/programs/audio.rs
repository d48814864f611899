//! A studio: clips, tracks and meters.

use metaspy::prelude::*;
use metaspy::tasks;

use super::{answer_after, compute, one_thread};

#[derive(Clone, Copy, PartialEq, Eq, Identify)]
struct Clip(u32);

#[derive(Clone, Copy, PartialEq, Eq, Identify)]
struct Track(u32);

/// The fault: the loudness of all clips is measured in each frame, although a frame changes one
/// clip at most. A measurement that follows a cut names the cut as its reason.
pub fn loudness(fault: bool) {
    let mut studio = Studio { clips: vec![1; 40], cuts: vec![None; 40], loudness: vec![0; 40] };
    for frame in 0..200 {
        if frame % 4 == 0 {
            studio.cut(Clip(frame / 4 % 40));
        }
        studio.frame(fault);
    }
    println!("{:?}", studio.loudness.iter().copied().fold(0, u64::wrapping_add));
}

struct Studio {
    clips: Vec<u64>,
    /// The cut since which a clip was not measured.
    cuts: Vec<Option<EventId>>,
    loudness: Vec<u64>,
}

#[observe]
impl Studio {
    #[observe(subject = clip)]
    fn cut(&mut self, clip: Clip) {
        self.clips[clip.0 as usize] += compute(2);
        self.cuts[clip.0 as usize] = current();
    }

    fn frame(&mut self, all: bool) {
        compute(5);
        for clip in 0..self.clips.len() {
            let cut = self.cuts[clip].take();
            if all || cut.is_some() {
                self.measure(Clip(clip as u32), cut);
            }
        }
    }

    #[observe(subject = clip)]
    fn measure(&mut self, clip: Clip, cut: Option<EventId>) {
        if let (Some(measure), Some(cut)) = (current(), cut) {
            link(measure, cut);
        }
        self.loudness[clip.0 as usize] = compute(10) ^ self.clips[clip.0 as usize];
    }
}

/// The fault: a song is decoded in one piece, and the meters stand still for 20 ms.
pub fn decoding(fault: bool) {
    one_thread().block_on(async move {
        let meters: Vec<_> = (0..6).map(|track| tasks::spawn(meter(Track(track)))).collect();
        tasks::spawn(play(fault)).await.expect("nothing panics");
        meters.iter().for_each(|meter| meter.abort());
    });
}

#[observe(subject = track)]
async fn meter(track: Track) {
    loop {
        answer_after(2_000).await;
        compute(u64::from(track.0));
    }
}

#[observe]
async fn play(at_once: bool) {
    for song in 0..15 {
        decode(Clip(song), at_once).await;
        answer_after(10_000).await;
    }
}

#[observe(subject = song)]
async fn decode(song: Clip, at_once: bool) {
    for _ in 0..100 {
        compute(200 + u64::from(song.0));
        if !at_once {
            tokio::task::yield_now().await;
        }
    }
}

/// Correct: each block of sound needs all tracks, whether their volume has changed or not.
pub fn tracks() {
    let mut mixer = Mixer { volumes: vec![1; 24], sum: 0 };
    for block in 0..150 {
        if block % 5 == 0 {
            mixer.set_volume(Track(block / 5 % 24), u64::from(block));
        }
        mixer.block();
    }
    println!("{}", mixer.sum);
}

struct Mixer {
    volumes: Vec<u64>,
    sum: u64,
}

#[observe]
impl Mixer {
    #[observe(subject = track)]
    fn set_volume(&mut self, track: Track, volume: u64) {
        self.volumes[track.0 as usize] = volume;
    }

    fn block(&mut self) {
        (0..self.volumes.len() as u32).for_each(|track| self.mix(Track(track)));
    }

    #[observe(subject = track)]
    fn mix(&mut self, track: Track) {
        // The next samples of the track, which no other block has.
        self.sum = self.sum.wrapping_add(compute(10) ^ self.volumes[track.0 as usize]);
    }
}

/// Correct: two passes over one list, for the lowest and for the highest level.
pub fn levels() {
    let levels = Levels { of_clips: (0..60).map(|clip| clip * 37 % 61).collect() };
    let range: u64 = (0..40).map(|_| levels.range()).sum();
    println!("{range}");
}

struct Levels {
    of_clips: Vec<u64>,
}

#[observe]
impl Levels {
    fn range(&self) -> u64 {
        let clips = || (0..self.of_clips.len() as u32).map(Clip);
        let lowest = clips().map(|clip| self.level(clip)).min();
        let highest = clips().map(|clip| self.level(clip)).max();
        compute(50);
        highest.unwrap_or_default() - lowest.unwrap_or_default()
    }

    #[observe(subject = clip)]
    fn level(&self, clip: Clip) -> u64 {
        self.of_clips[clip.0 as usize]
    }
}
