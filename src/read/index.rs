//! Where the lines of a file are, coarsely: enough to reach any of them with one short read.

/// The most places that are remembered, whatever the size of the file.
const MAX_PLACES: usize = 16 * 1024;

/// How many line feeds come before each of evenly spaced places of a file.
pub(super) struct Index {
    /// Bytes between two places.
    stride: u64,
    feeds_before: Vec<u64>,
}

impl Index {
    /// An index whose blocks have `stride` bytes.
    pub(super) fn new(stride: usize) -> Index {
        Index { stride: (stride as u64).max(1), feeds_before: Vec::new() }
    }

    /// Tells that a block begins at `offset`, behind `feeds` line feeds; blocks come in order.
    pub(super) fn add(&mut self, offset: u64, feeds: u64) {
        if !offset.is_multiple_of(self.stride) {
            return;
        }
        if self.feeds_before.len() == MAX_PLACES {
            let mut number = 0_u64;
            self.feeds_before.retain(|_| {
                number += 1;
                !number.is_multiple_of(2)
            });
            self.stride *= 2;
            return self.add(offset, feeds);
        }
        self.feeds_before.push(feeds);
    }

    /// The last known place before the line feed number `feed` (from 1), and how many come
    /// before that place; the start of the file for 0.
    pub(super) fn before(&self, feed: u64) -> (u64, u64) {
        let after = self.feeds_before.partition_point(|before| *before < feed);
        let place = after.saturating_sub(1);
        let feeds = self.feeds_before.get(place).copied().unwrap_or(0);
        (place as u64 * self.stride, feeds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_before_the_line_feed_and_as_near_as_known() {
        let mut index = Index::new(10);
        for (place, feeds) in [0, 3, 3, 7].into_iter().enumerate() {
            index.add(place as u64 * 10, feeds);
        }
        let wanted = [(0, 0), (0, 0), (0, 0), (0, 0), (20, 3), (20, 3), (20, 3), (20, 3), (30, 7)];
        for (feed, place) in wanted.into_iter().enumerate() {
            assert_eq!(index.before(feed as u64), place, "{feed}");
        }
    }

    #[test]
    fn a_huge_file_has_a_coarser_index_and_not_a_bigger_one() {
        let mut index = Index::new(4);
        let blocks = 5 * MAX_PLACES as u64;
        for block in 0..blocks {
            index.add(block * 4, block);
        }
        assert!(index.feeds_before.len() <= MAX_PLACES);
        for feed in (1..blocks).step_by(977) {
            let (offset, feeds) = index.before(feed);
            assert_eq!(offset, feeds * 4);
            assert!(feeds < feed && feed - feeds <= 8, "{feed} {feeds}");
        }
    }

    #[test]
    fn an_index_of_nothing_is_the_start() {
        assert_eq!(Index::new(0).before(0), (0, 0));
        assert_eq!(Index::new(8).before(5), (0, 0));
    }
}
