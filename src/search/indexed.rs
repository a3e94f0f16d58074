//! What the index spares a search, and what the search tells it in return.

use crate::index::{Digest, Enrolled, Excluded, Inquiry, Lesson, WHOLE};
use crate::search::searcher::{Found, Searcher, Worker};
use crate::walk::{Batch, EntryRange, OpenDir, WalkControl};
use crate::workspace::{File, Kind};

impl Searcher {
    /// The index, if files need no look to be believed.
    fn told(&self) -> Option<&Inquiry> {
        self.inquiry.as_ref().filter(|inquiry| inquiry.is_told_of_changes())
    }

    /// Adds what files give of which none has to be looked at; else false.
    pub(super) fn pass_files(
        &self,
        files: &EntryRange,
        scan: &dyn WalkControl,
        found: &mut Found,
    ) -> bool {
        let pass = |digest: &Digest| self.count_passed(digest, scan, found);
        self.told().and_then(|inquiry| inquiry.pass(files, pass)).unwrap_or(false)
    }

    /// Counts files as if they had been searched; false if a search would do something else.
    fn count_passed(&self, digest: &Digest, scan: &dyn WalkControl, found: &mut Found) -> bool {
        let totals = digest.totals();
        if self.is_too_long(totals.longest) {
            return false;
        }
        let excluded = totals.text_files + totals.binary_files;
        scan.count(excluded, 0);
        found.receipt.skipped.binary += totals.binary_files;
        found.receipt.files += totals.text_files;
        found.receipt.bytes += totals.text_bytes;
        found.receipt.excluded += excluded;
        if !digest.last().is_empty() {
            found.reach((digest.last(), b""));
        }
        true
    }

    /// Whether a text of so many bytes would be searched in another way.
    fn is_too_long(&self, bytes: u64) -> bool {
        self.pattern.is_multiline() && bytes > self.multiline_bytes as u64 / 2
    }

    /// Adds what a batch gives of which no file has to be looked at; else false, and those that
    /// have not are marked.
    pub(super) fn settle_batch(
        &self,
        batch: &mut Batch,
        scan: &dyn WalkControl,
        found: &mut Found,
    ) -> bool {
        let Some(inquiry) = self.told() else { return false };
        let answers = inquiry.exclude_all(batch);
        let mut counted = Found::default();
        let (mut settled, mut last, mut is_settled) = (0_u32, None, true);
        for (index, ((name, kind), excluded)) in batch.entries().zip(answers).enumerate() {
            if kind == Kind::File {
                let counts = excluded.is_some_and(|file| self.count_excluded(file, &mut counted));
                settled |= u32::from(counts) << index;
                is_settled &= counts;
                last = Some(name);
            }
        }
        if !is_settled {
            batch.mark_done(settled);
            return false;
        }
        scan.count(counted.receipt.excluded, 0);
        if let Some(last) = last {
            found.reach((&batch.prefix, last));
        }
        found.receipt.absorb(counted.receipt);
        true
    }

    /// What a file gives that need not be opened.
    pub(super) fn excluded(
        &self,
        directory: &OpenDir,
        name: &[u8],
        enrolled: Option<(&Enrolled<'_>, usize)>,
        is_settled: bool,
    ) -> Option<Found> {
        let (enrolled, position) = enrolled?;
        let inquiry = self.inquiry.as_ref()?;
        let excluded = if is_settled {
            enrolled.excluded(position)?
        } else {
            inquiry.exclude(enrolled, (name, position), || directory.stat(name))?
        };
        let mut found = Found::default();
        self.count_excluded(excluded, &mut found).then_some(found)
    }

    /// Counts a file as if it had been searched; false if a search would do something else.
    fn count_excluded(&self, excluded: Excluded, found: &mut Found) -> bool {
        let multiline = self.pattern.is_multiline();
        match excluded {
            Excluded::Binary => found.leave_binary(),
            Excluded::Text(bytes) if self.is_too_long(bytes) => return false,
            // Lines of context fill the buffer, match or not, and when it is full that is told.
            Excluded::Text(bytes) if bytes > WHOLE && self.keep.context != (0, 0) => return false,
            Excluded::Text(bytes) => {
                found.receipt.files += 1;
                // Blocks of large files are not counted.
                let counts = bytes <= WHOLE || multiline || self.keep.exact;
                found.receipt.bytes += if counts { bytes } else { 0 };
            }
        }
        found.receipt.excluded += 1;
        true
    }

    pub(super) fn begin_lesson(
        &self,
        enrolled: Option<(&Enrolled<'_>, usize)>,
        file: &File,
    ) -> Option<Lesson> {
        let (enrolled, position) = enrolled?;
        self.inquiry.as_ref()?.begin_lesson(enrolled, position, file)
    }

    pub(super) fn end_lesson(
        &self,
        lesson: Option<Lesson>,
        enrolled: Option<(&Enrolled<'_>, usize)>,
        worker: &mut Worker,
        length: usize,
    ) {
        let (Some(lesson), Some(enrolled)) = (lesson, enrolled) else { return };
        let (Some(inquiry), Some(learner)) = (&self.inquiry, &mut worker.learner) else { return };
        // What was not read must not be learned as what the file holds.
        let Some(bytes) = worker.buffer.get(..length) else { return };
        inquiry.end_lesson(lesson, enrolled, (bytes, &mut worker.decoded), learner);
    }
}
