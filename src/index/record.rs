//! What the index holds of a directory and of the files in it.

use std::borrow::Cow;
use std::sync::Arc;

use crate::index::bit_slices::Column;
use crate::index::status::IndexStatus;
use crate::index::store::MappedSlice;
use crate::workspace::{Fingerprint, Kind};

/// What is known of the content of a file, for as long as its stamp is the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownFile {
    pub(crate) stamp: Fingerprint,
    /// Bytes of its text, decoded.
    pub(crate) text_bytes: u64,
    pub(crate) content: Content,
}

impl KnownFile {
    /// Estimated memory, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let bits = match &self.content {
            Content::Filtered(Bits::Owned(bits)) => bits.len(),
            Content::Filtered(Bits::Stored(_) | Bits::Sliced(_))
            | Content::Binary
            | Content::Opaque => 0,
        };
        size_of::<KnownFile>() + bits
    }

    fn filter_bytes(&self) -> usize {
        match &self.content {
            Content::Filtered(bits) => bits.len(),
            Content::Binary | Content::Opaque => 0,
        }
    }

    /// Adds it to what an index holds.
    pub(crate) fn count(&self, status: &mut IndexStatus) {
        status.files += 1;
        if self.content != Content::Binary {
            status.text_bytes += self.text_bytes;
        }
        status.filter_bytes += self.filter_bytes() as u64;
    }
}

/// What the content is to a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// Text, and the filter of its n-grams.
    Filtered(Bits),
    /// It has a NUL byte near its start, where every search gives up.
    Binary,
    /// Nothing that would spare opening it.
    Opaque,
}

/// The bytes of a filter.
#[derive(Clone, Debug)]
pub(crate) enum Bits {
    Owned(Arc<[u8]>),
    /// They stay in the file of the index.
    Stored(MappedSlice),
    /// They are spread over those of others.
    Sliced(Column),
}

impl Bits {
    /// All of them, unless they are spread.
    pub(super) fn alone(&self) -> Option<&[u8]> {
        match self {
            Bits::Owned(bytes) => Some(bytes),
            Bits::Stored(part) => Some(part),
            Bits::Sliced(_) => None,
        }
    }

    /// All of them, gathered if they are spread.
    pub(crate) fn gathered(&self) -> Cow<'_, [u8]> {
        match self {
            Bits::Owned(bytes) => Cow::Borrowed(bytes),
            Bits::Stored(part) => Cow::Borrowed(part),
            Bits::Sliced(column) => Cow::Owned(column.filter()),
        }
    }

    /// Whether they are the very same, at the same place in memory.
    pub(super) fn is(&self, other: &Bits) -> bool {
        let place = |bits: &Bits| bits.alone().map(<[u8]>::as_ptr_range);
        place(self).is_some() && place(self) == place(other)
    }

    /// How many they are.
    pub(crate) fn len(&self) -> usize {
        match self {
            Bits::Owned(bytes) => bytes.len(),
            Bits::Stored(part) => part.len(),
            Bits::Sliced(column) => column.bytes(),
        }
    }
}

impl PartialEq for Bits {
    fn eq(&self, other: &Bits) -> bool {
        self.gathered() == other.gathered()
    }
}

impl Eq for Bits {}

/// A directory and its entries, in no order that matters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DirectoryRecord {
    /// The directory's own stamp when it was listed; none if it had not settled by then.
    pub(crate) stamp: Option<Fingerprint>,
    pub(crate) entries: Vec<EntryRecord>,
}

impl DirectoryRecord {
    /// Adds it to what an index holds.
    pub(crate) fn count(&self, status: &mut IndexStatus) {
        status.directories += 1;
        let files = self.entries.iter().filter(|entry| entry.kind == Kind::File);
        files.for_each(|file| match &file.known {
            Some(known) => known.count(status),
            None => status.unknown_files += 1,
        });
    }
}

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EntryRecord {
    pub(crate) name: Vec<u8>,
    pub(crate) kind: Kind,
    /// What is known of a file's content.
    pub(crate) known: Option<KnownFile>,
}

impl EntryRecord {
    /// The filter of a file whose content has one.
    #[cfg(test)]
    pub(crate) fn filter(&self) -> Option<&[u8]> {
        match &self.known.as_ref()?.content {
            Content::Filtered(bits) => bits.alone(),
            Content::Binary | Content::Opaque => None,
        }
    }
}
