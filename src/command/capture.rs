//! The first and the last bytes of an output of any length.

use std::collections::VecDeque;

/// Keeps the beginning and the end of what it is given, half of the room each.
#[derive(Debug)]
pub(super) struct Capture {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    room: (usize, usize),
    total: u64,
}

/// What is left of an output.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Captured {
    /// The beginning; all of it if nothing was dropped.
    pub(crate) head: Vec<u8>,
    /// The end, if something was dropped before it.
    pub(crate) tail: Vec<u8>,
    /// Bytes of the whole.
    pub(crate) total: u64,
}

impl Captured {
    /// Bytes between head and tail.
    pub(crate) fn dropped(&self) -> u64 {
        self.total - (self.head.len() + self.tail.len()) as u64
    }
}

impl Capture {
    pub(super) fn new(limit: usize) -> Capture {
        let room = (limit - limit / 2, limit / 2);
        Capture { head: Vec::new(), tail: VecDeque::new(), room, total: 0 }
    }

    /// Whether so many more bytes can be taken with none dropped, now or before.
    pub(super) fn has_room_for(&self, more: usize) -> bool {
        self.total + more as u64 <= (self.room.0 + self.room.1) as u64
    }

    /// All bytes so far, in order, while none was dropped.
    pub(super) fn pieces(&self) -> [&[u8]; 3] {
        let (first, second) = self.tail.as_slices();
        [&self.head, first, second]
    }

    pub(super) fn take(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let free = self.room.0 - self.head.len();
        let (start, rest) = bytes.split_at(free.min(bytes.len()));
        self.head.extend_from_slice(start);
        let last = rest.get(rest.len().saturating_sub(self.room.1)..).unwrap_or_default();
        let surplus = (self.tail.len() + last.len()).saturating_sub(self.room.1);
        self.tail.drain(..surplus);
        self.tail.extend(last);
    }

    pub(super) fn finish(mut self) -> Captured {
        let mut tail = Vec::from(self.tail);
        if self.total == (self.head.len() + tail.len()) as u64 {
            self.head.append(&mut tail);
        }
        Captured { head: self.head, tail, total: self.total }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(limit: usize, pieces: &[&str]) -> (String, String, u64) {
        let mut capture = Capture::new(limit);
        for piece in pieces {
            capture.take(piece.as_bytes());
        }
        let captured = capture.finish();
        let dropped = captured.dropped();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (text(captured.head), text(captured.tail), dropped)
    }

    #[test]
    fn what_fits_is_kept_whole_and_of_the_rest_both_ends() {
        type Row = (usize, &'static [&'static str], &'static str, &'static str, u64);
        let table: [Row; 11] = [
            (4, &[], "", "", 0),
            (4, &["abcd"], "abcd", "", 0),
            (4, &["a", "b", "c", "d"], "abcd", "", 0),
            (4, &["abcde"], "ab", "de", 1),
            (5, &["abcdef"], "abc", "ef", 1),
            (5, &["a", "b", "c", "d", "e", "f", "g"], "abc", "fg", 2),
            (4, &["abcdefghij", "k"], "ab", "jk", 7),
            (4, &["abc", "defghij"], "ab", "ij", 6),
            (1, &["abc"], "a", "", 2),
            (0, &["abc"], "", "", 3),
            (0, &[], "", "", 0),
        ];
        for (limit, pieces, head, tail, dropped) in table {
            let wanted = (head.to_owned(), tail.to_owned(), dropped);
            assert_eq!(captured(limit, pieces), wanted, "{limit} {pieces:?}");
        }
    }

    #[test]
    fn any_pieces_leave_what_the_whole_in_one_piece_leaves() {
        let mut seed = 88_172_645_463_325_252_u64;
        let mut next = |below: usize| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            usize::try_from(seed >> 33).unwrap() % below
        };
        for _ in 0..5000 {
            let limit = next(40);
            let mut capture = Capture::new(limit);
            let mut whole: Vec<u8> = Vec::new();
            for _ in 0..next(12) {
                let piece: Vec<u8> = (0..next(30)).map(|_| next(256).to_le_bytes()[0]).collect();
                assert_eq!(capture.has_room_for(0), whole.len() <= limit);
                if capture.has_room_for(0) {
                    assert_eq!(capture.pieces().concat(), whole);
                }
                capture.take(&piece);
                whole.extend(piece);
            }
            let captured = capture.finish();
            assert_eq!(captured.total, whole.len() as u64);
            if whole.len() <= limit {
                assert_eq!((captured.head, captured.tail), (whole, Vec::new()));
            } else {
                assert_eq!(captured.dropped(), (whole.len() - limit) as u64);
                assert_eq!(captured.head, whole[..limit - limit / 2]);
                assert_eq!(captured.tail, whole[whole.len() - limit / 2..]);
            }
        }
    }
}
