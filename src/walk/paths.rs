//! Many paths in few pieces of memory.

/// Paths one behind the other. Each by itself would cost as much as finding it: an allocation
/// here, and a release by another thread later.
#[derive(Debug, Default)]
pub(super) struct Paths {
    bytes: Vec<u8>,
    /// Where each of them ends.
    ends: Vec<usize>,
}

impl Paths {
    /// Makes room for so many paths with so many bytes together.
    pub(super) fn reserve(&mut self, paths: usize, bytes: usize) {
        self.ends.reserve(paths);
        self.bytes.reserve(bytes);
    }

    /// Adds a path, given in pieces.
    pub(super) fn push(&mut self, pieces: &[&[u8]]) {
        for piece in pieces {
            self.bytes.extend_from_slice(piece);
        }
        self.ends.push(self.bytes.len());
    }

    /// Makes the last one longer.
    pub(super) fn extend_last(&mut self, piece: &[u8]) {
        if let Some(end) = self.ends.last_mut() {
            self.bytes.extend_from_slice(piece);
            *end = self.bytes.len();
        }
    }

    /// Takes the last one back.
    pub(super) fn pop(&mut self) {
        self.ends.pop();
        self.bytes.truncate(self.ends.last().copied().unwrap_or_default());
    }

    pub(super) fn last(&self) -> Option<&[u8]> {
        self.get(self.ends.len().checked_sub(1)?)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.ends.len()).filter_map(|index| self.get(index))
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Bytes that it takes in memory, or so.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.len() + self.ends.len() * size_of::<usize>()
    }

    fn get(&self, index: usize) -> Option<&[u8]> {
        let start =
            index.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied())?;
        self.bytes.get(start..*self.ends.get(index)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_come_back_in_their_order_but_for_those_that_were_taken_back() {
        let mut paths = Paths::default();
        assert_eq!((paths.last(), paths.len(), paths.bytes()), (None, 0, 0));
        paths.pop();
        paths.extend_last(b"of none");
        for pieces in [&[&b"a/"[..], b"b"][..], &[b"c"], &[], &[b"d", b"/"]] {
            paths.push(pieces);
            paths.push(&[b"not this"]);
            paths.pop();
            assert_eq!(paths.last(), Some(&*pieces.concat()));
        }
        paths.extend_last(b"e");
        let all: Vec<&[u8]> = paths.iter().collect();
        assert_eq!(all, [&b"a/b"[..], b"c", b"", b"d/e"]);
        assert_eq!(paths.len(), 4);
    }
}
