//! Hashes of n-grams: of three and of five bytes of one line, with ASCII letters in lower case.
//!
//! A gram never holds a line break. So nothing is lost where a text is cut at line ends, and
//! filters are a tenth smaller; a pattern that spans lines asks for the grams of each line.
//!
//! Whatever is beside a word is a [`BORDER`] in grams: a space, a bracket, the end of the line, a
//! byte that is not ASCII. So that a word begins with `lock` is one gram and not a hundred. Grams
//! do not tell `a.b` from `a b` then; `a->b` and `a, b` are the same too. People ask for words.

/// Bytes of a short gram, the shortest text that can be queried.
pub(super) const SHORT: usize = 3;

/// Bytes of a long gram: it is in far fewer texts than a short one.
pub(super) const LONG: usize = 5;

/// Bits of a hash: of 64, those above the fortieth.
pub(super) const HASH_BITS: u8 = 24;

/// Stands for whatever is beside a word; no text in lower case holds it.
pub(super) const BORDER: u8 = b'B';

/// Bytes that a hash is computed from; those after the gram have no influence.
pub(super) const WINDOW: usize = 8;

/// Whether the byte, in lower case, is of a word: an ASCII letter, a digit or an underscore. Whatever
/// a pattern means by words, where one of them begins or ends is no such byte on both sides.
pub(super) fn is_word(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_')
}

/// The hash of the short gram that the window begins with.
pub(super) fn short(window: [u8; WINDOW]) -> u32 {
    hash(u64::from_le_bytes(window) & 0x00ff_ffff, 0x9e37_79b9_7f4a_7c15)
}

/// The hash of the long gram that the window begins with.
pub(super) fn long(window: [u8; WINDOW]) -> u32 {
    hash(u64::from_le_bytes(window) & 0xff_ffff_ffff, 0xd6e8_feb8_6659_fd93)
}

/// The upper bits of the product, which every byte of the gram reaches.
fn hash(gram: u64, factor: u64) -> u32 {
    (gram.wrapping_mul(factor) >> 40) as u32
}

/// The hashes of the short and the long grams of a part of a line, in no order, each once. The text
/// is in lower case; a border at one of its ends says that no word goes on there.
pub(super) fn of_text(text: &[u8]) -> (Vec<u32>, Vec<u32>) {
    let bytes = normalized(text);
    let short = bytes.windows(SHORT).filter_map(window).map(short);
    let long = bytes.windows(LONG).filter_map(window).map(long);
    let mut hashes: (Vec<u32>, Vec<u32>) = (short.collect(), long.collect());
    for hashes in [&mut hashes.0, &mut hashes.1] {
        hashes.sort_unstable();
        hashes.dedup();
    }
    hashes
}

/// Whether any gram is known of a part of a line.
pub(super) fn has_any(text: &[u8]) -> bool {
    normalized(text).windows(SHORT).any(|gram| window(gram).is_some())
}

/// The bytes with borders put in; `None` where that depends on what is beside the text.
fn normalized(text: &[u8]) -> Vec<Option<u8>> {
    let at = |place: usize| text.get(place).copied().filter(|byte| *byte != BORDER);
    let each = text.iter().enumerate().map(|(place, byte)| {
        let beside = [place.checked_sub(1).and_then(at), at(place + 1)];
        if is_word(*byte) {
            Some(*byte)
        } else if beside.into_iter().flatten().any(is_word) {
            Some(BORDER)
        } else {
            at(place).filter(|_| beside.iter().all(Option::is_some))
        }
    });
    each.collect()
}

/// The gram, if all of it is known.
fn window(gram: &[Option<u8>]) -> Option<[u8; WINDOW]> {
    let mut window = [0; WINDOW];
    for (to, from) in window.iter_mut().zip(gram) {
        *to = (*from)?;
    }
    Some(window)
}
