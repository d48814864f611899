//! The units of a window whose blocks lanes took in any order.

use std::collections::HashMap;

use proptest::prelude::*;

use crate::ring::chunks::Unit;
use crate::testing::Draft;
use metaspy_format::CHUNK_BLOCKS;

use super::scene;

const CHUNKS: u64 = 12;
const BLOCKS: u64 = CHUNKS * CHUNK_BLOCKS as u64;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// A lane takes the oldest block, or folds one of its own and is then a lap ahead of those that
    /// are ready.
    #[test]
    fn the_blocks_of_each_lane_come_in_their_own_order(
        takes in proptest::collection::vec((0_u32..5, 0_u64..8, 0..BLOCKS), 0..2_000),
    ) {
        let mut writer = scene(CHUNKS);
        let is_first_lap = takes.is_empty();
        let mut sequences: Vec<u64> = (BLOCKS..2 * BLOCKS).collect();
        let mut last: HashMap<u32, u64> = HashMap::new();
        let first_lap = (0..BLOCKS).map(|place| (place as u32 % 3, 1, place));
        for (tick, (lane, dice, place)) in (1..).zip(first_lap.chain(takes)) {
            let oldest = (0..BLOCKS).min_by_key(|place| sequences[*place as usize]);
            let place = if dice == 0 { place } else { oldest.expect("there are places") };
            let place = if tick <= BLOCKS { tick - 1 } else { place };
            let is_held = last.iter().any(|(other, sequence)| *other != lane && sequence % BLOCKS == place);
            if is_held {
                continue;
            }
            let before = last.get(&lane).copied().unwrap_or(0);
            let lap = if tick <= BLOCKS { 0 } else { BLOCKS };
            let mut sequence = sequences[place as usize] + lap;
            while sequence <= before {
                sequence += BLOCKS;
            }
            writer.turn_to(sequence, lane, tick);
            writer.event(Draft { lane, start: tick, ..Draft::default() });
            sequences[place as usize] = sequence;
            last.insert(lane, sequence);
        }
        writer.summarise();
        let store = writer.store();
        let ring = store.ring();
        let mut seen: HashMap<u32, u64> = HashMap::new();
        let units = ring.units();
        let heads: Vec<_> = units.iter().flat_map(|unit| unit.places(ring)).filter_map(|place| ring.head(place)).collect();
        prop_assert_eq!(heads.len() as u64, BLOCKS);
        for head in heads {
            let before = seen.insert(head.lane, head.sequence).unwrap_or(0);
            prop_assert!(before < head.sequence, "lane {}: {} after {before}", head.lane, head.sequence);
        }
        // Three lanes fill the first lap together, and one chunk is not full.
        if is_first_lap {
            let whole = units.iter().filter(|unit| matches!(unit, Unit::Chunk(_))).count() as u64;
            prop_assert_eq!(whole, CHUNKS - 1);
        }
    }
}
