//! Putting filters into bundles, while nobody waits.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::context::Call;
use crate::index::Index;
use crate::index::bundle::{Bundle, Column, FILTERS, Shape};
use crate::index::record::Bits;
use crate::index::roster::Roster;

/// How many filters must have come since the last time for bundles to be worth while.
const WORTH: usize = 1024;

/// What an index counts of bundles.
#[derive(Debug, Default)]
pub(super) struct Bundles {
    made: AtomicUsize,
    /// Filters that came since somebody made bundles.
    loose: AtomicUsize,
}

/// A filter that waits for others of its shape.
struct Loose {
    roster: Arc<Roster>,
    position: usize,
    bits: Bits,
}

impl Bundles {
    /// How many were ever made; each has a number below.
    pub(super) fn made(&self) -> usize {
        self.made.load(Ordering::Acquire)
    }

    /// Notes that so many filters came.
    pub(super) fn note(&self, filters: usize) {
        self.loose.fetch_add(filters, Ordering::Relaxed);
    }

    /// Whether enough filters came for more of them.
    pub(super) fn are_wanted(&self) -> bool {
        self.loose.load(Ordering::Relaxed) >= WORTH
    }
}

/// Puts all that is known of a tree into bundles, neighbours together, as long as there is room
/// and nobody ends the call; `wait` is asked in between.
pub(super) fn make(index: &Index, call: &Call, wait: impl Fn()) {
    index.inner.rosters.bundles.loose.store(0, Ordering::Relaxed);
    let mut waiting: BTreeMap<Shape, Vec<Loose>> = BTreeMap::new();
    for cached in index.inner.cache.directories() {
        wait();
        let roster = index.inner.rosters.of(&cached);
        for (position, shape, bits) in loose(&roster) {
            let shaped = waiting.entry(shape).or_default();
            shaped.push(Loose { roster: roster.clone(), position, bits });
            if shaped.len() == FILTERS && !bundle(index, shape, &std::mem::take(shaped)) {
                return;
            }
        }
        if call.stop_reason().is_some() {
            return;
        }
    }
}

/// The filters of a directory that may be put together with others.
fn loose(roster: &Roster) -> Vec<(usize, Shape, Bits)> {
    let mut loose = Vec::new();
    roster.for_each_alone(|position, bits| {
        let shape = bits.alone().and_then(Shape::of);
        loose.extend(shape.map(|shape| (position, shape, bits.clone())));
    });
    loose
}

/// Puts filters of one shape together; false if there is no room.
fn bundle(index: &Index, shape: Shape, loose: &[Loose]) -> bool {
    let inner = &index.inner;
    // An empty filter in the place of one that is missing would exclude its file from every search.
    let filters: Option<Vec<&[u8]>> = loose.iter().map(|loose| loose.bits.alone()).collect();
    let Some(filters) = filters else { return false };
    let Some(taken) = inner.budget.take(shape.bytes(), inner.cache.bytes()) else { return false };
    let number = inner.rosters.bundles.made.fetch_add(1, Ordering::AcqRel);
    let bundle = Arc::new(Bundle::new((number, taken), shape, filters.into_iter()));
    for (position, Loose { roster, position: file, bits }) in loose.iter().enumerate() {
        roster.bundle(*file, bits, Column { bundle: bundle.clone(), position });
    }
    true
}

// Elsewhere nothing is kept.
#[cfg(test)]
#[cfg(all(target_os = "linux", not(ripkit_portable)))]
mod tests;
