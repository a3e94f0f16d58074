//! Slices filters together in the background.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::context::Call;
use crate::index::Index;
use crate::index::bit_slices::{BitSlices, Column, FILTERS, Shape};
use crate::index::file_table::FileTable;
use crate::index::record::Bits;

/// How many filters must be new before slicing is worth while.
const WORTH: usize = 1024;

/// Counts the groups of sliced filters, and the filters that are new since the last slicing.
#[derive(Debug, Default)]
pub(super) struct SlicedFilters {
    made: AtomicUsize,
    /// Filters that are new since the last slicing.
    loose: AtomicUsize,
}

/// A filter that waits for others of its shape.
struct UnslicedFilter {
    table: Arc<FileTable>,
    position: usize,
    bits: Bits,
}

impl SlicedFilters {
    /// How many were ever made; each has a number below.
    pub(super) fn made(&self) -> usize {
        self.made.load(Ordering::Acquire)
    }

    /// Counts new filters.
    pub(super) fn note(&self, filters: usize) {
        self.loose.fetch_add(filters, Ordering::Relaxed);
    }

    /// Whether enough filters came for more of them.
    pub(super) fn are_wanted(&self) -> bool {
        self.loose.load(Ordering::Relaxed) >= WORTH
    }
}

/// Slices all filters of a tree, neighbours together, until the memory budget is spent or the call
/// ends; calls `wait` in between.
pub(super) fn make(index: &Index, call: &Call, wait: impl Fn()) {
    index.inner.tables.sliced.loose.store(0, Ordering::Relaxed);
    let mut waiting: BTreeMap<Shape, Vec<UnslicedFilter>> = BTreeMap::new();
    for cached in index.inner.cache.directories() {
        wait();
        let table = index.inner.tables.of(&cached);
        for (position, shape, bits) in loose(&table) {
            let shaped = waiting.entry(shape).or_default();
            shaped.push(UnslicedFilter { table: table.clone(), position, bits });
            if shaped.len() == FILTERS && !slices(index, shape, &std::mem::take(shaped)) {
                return;
            }
        }
        if call.stop_reason().is_some() {
            return;
        }
    }
}

/// The filters of a directory that may be put together with others.
fn loose(table: &FileTable) -> Vec<(usize, Shape, Bits)> {
    let mut loose = Vec::new();
    table.for_each_alone(|position, bits| {
        let shape = bits.alone().and_then(Shape::of);
        loose.extend(shape.map(|shape| (position, shape, bits.clone())));
    });
    loose
}

/// Puts filters of one shape together; false if there is no room.
fn slices(index: &Index, shape: Shape, loose: &[UnslicedFilter]) -> bool {
    let inner = &index.inner;
    // An empty filter in the place of one that is missing would exclude its file from every search.
    let filters: Option<Vec<&[u8]>> = loose.iter().map(|loose| loose.bits.alone()).collect();
    let Some(filters) = filters else { return false };
    let Some(taken) = inner.budget.reserve(shape.bytes(), inner.cache.bytes()) else {
        return false;
    };
    let number = inner.tables.sliced.made.fetch_add(1, Ordering::AcqRel);
    let slices = Arc::new(BitSlices::new((number, taken), shape, filters.into_iter()));
    for (position, UnslicedFilter { table, position: file, bits }) in loose.iter().enumerate() {
        table.slices(*file, bits, Column { slices: slices.clone(), position });
    }
    true
}

// Elsewhere nothing is kept.
#[cfg(test)]
#[cfg(all(target_os = "linux", not(ripkit_portable)))]
mod tests;
