//! Learning every file of a tree.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::context::{Call, Incomplete};
use crate::error::Error;
use crate::index::Index;
use crate::index::filter::FilterBuilder;
use crate::index::inquiry::{Enrolled, Inquiry};
use crate::index::lesson::study;
use crate::pool::{Pool, lock};
use crate::walk::{
    Batch, DirectoryReport, ResultSink, Visitor, Walk, WalkControl, WalkOptions, WalkRoot,
};
use crate::workspace::Kind;

/// The largest buffer that is kept from file to file, in bytes.
const KEPT: usize = 4 << 20;

/// What a walk that learns does about files that are known already, and about others who work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// Sees whether they are still the same; somebody waits for it.
    Thorough,
    /// Passes over them, and waits while calls are under way.
    Polite,
}

/// Walks the workspace and learns its files; returns how many, and why not all.
pub(super) fn tree(
    index: &Index,
    (pool, call): (&Pool, &Call),
    manner: Manner,
) -> Result<(u64, Option<Incomplete>), Error> {
    let workspace = &index.inner.workspace;
    let view = index.begin();
    let view = if manner == Manner::Polite { view.unhurried() } else { view };
    let walk = WalkOptions {
        roots: WalkRoot::resolve(workspace, &[])?,
        hidden: true,
        contents: true,
        cache: Some(view.clone()),
        ..WalkOptions::default()
    };
    // Where files are denied when they are opened, filters are not asked, and not made.
    let full = AtomicBool::new(workspace.policy().denies_hard_links());
    let student =
        Student { inquiry: Inquiry::new(index, view, None, 1), index: index.clone(), manner, full };
    let (learned, incomplete) = Walk::run(workspace, walk, (pool, call), (student, Learned(0)))?;
    Ok((learned.0, incomplete))
}

struct Student {
    index: Index,
    inquiry: Inquiry,
    manner: Manner,
    /// Nothing more is learned.
    full: AtomicBool,
}

/// What a thread reads into.
struct Desk {
    builder: FilterBuilder,
    buffer: Vec<u8>,
    decoded: String,
}

impl Visitor for Student {
    type State = Desk;
    type Output = u64;

    fn weight(_: &u64) -> usize {
        0
    }

    fn state(&self) -> Desk {
        let builder = FilterBuilder::new(self.index.density());
        Desk { builder, buffer: Vec::new(), decoded: String::new() }
    }

    fn visit(&self, desk: &mut Desk, batch: &Batch, scan: &dyn WalkControl, found: &Mutex<u64>) {
        let Some(enrolled) = self.inquiry.enrolled(batch) else { return };
        for ((name, kind), position) in batch.entries().zip(batch.positions()) {
            if !self.may_go_on(scan) || self.full.load(Ordering::Relaxed) {
                return;
            }
            if kind != Kind::File || self.knows(&enrolled, (batch, name, position)) {
                continue;
            }
            let learned = batch.handle.open().and_then(|directory| {
                let scratch = (&mut desk.buffer, &mut desk.decoded);
                study(&directory, name, scratch, &mut desk.builder)
            });
            // What cannot be read now is told by the search that finds it so.
            if let Ok(Some(known)) = learned {
                let is_kept = self.index.learn(&enrolled.roster, position, known);
                self.full.fetch_or(!is_kept, Ordering::Relaxed);
                *lock(found) += u64::from(is_kept);
            }
            if desk.buffer.len() > KEPT {
                desk.buffer = Vec::new();
            }
            scan.count(1, 0);
        }
    }
}

impl Student {
    fn may_go_on(&self, scan: &dyn WalkControl) -> bool {
        if self.manner == Manner::Polite {
            self.index.give_way(&|| scan.keeps_going());
        }
        scan.keeps_going()
    }

    fn knows(
        &self,
        enrolled: &Enrolled<'_>,
        (batch, name, position): (&Batch, &[u8], usize),
    ) -> bool {
        if self.manner == Manner::Thorough {
            self.inquiry.refresh(enrolled, (name, position), || batch.handle.open()?.stat(name));
        }
        enrolled.roster.knows(position)
    }
}

/// How many files were learned.
struct Learned(u64);

impl ResultSink<u64> for Learned {
    fn directory(&mut self, _: DirectoryReport) {}

    fn found(&mut self, found: u64) -> ControlFlow<()> {
        self.0 += found;
        ControlFlow::Continue(())
    }
}
