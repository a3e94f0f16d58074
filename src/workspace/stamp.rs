//! What tells, without opening a file, that it is still the one that was looked at.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::os::{Dir, Identity, Stat};

/// How long a stamp must have stood still before it is trusted, in nanoseconds: clocks of file
/// systems tick, some every hundredth of a second, and two changes in one tick look alike.
const TICK: i64 = 100_000_000;

/// The same where the file system seems to count whole seconds.
const COARSE_TICK: i64 = 2_000_000_000;

const SECOND: i64 = 1_000_000_000;

/// The facts that change whenever a file or directory does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) identity: Identity,
    /// Bytes of the content.
    pub(crate) size: u64,
    /// Nanoseconds since 1970 of the last change of the content.
    pub(crate) modified: i64,
    /// The same for any change; no program can set it.
    pub(crate) changed: i64,
}

impl Stamp {
    pub(crate) fn of(stat: &Stat) -> Stamp {
        let Stat { identity, size, .. } = *stat;
        let (modified, changed) = (narrow(stat.modified), narrow(stat.changed));
        Stamp { identity, size, modified, changed }
    }

    /// Tells whether a change after the moment `seen`, in nanoseconds since 1970, is sure to give
    /// another stamp; `seen` is taken before the facts are.
    pub(crate) fn is_settled(&self, seen: i64) -> bool {
        let whole_seconds = self.changed % SECOND == 0 && self.modified % SECOND == 0;
        let tick = if whole_seconds { COARSE_TICK } else { TICK };
        self.changed < seen.saturating_sub(tick)
    }
}

/// The stamp of a directory that is about to be listed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecentStamp {
    stamp: Option<Stamp>,
    seen: i64,
}

impl RecentStamp {
    /// Looks at the directory itself.
    pub(crate) fn of(directory: &Dir) -> RecentStamp {
        let seen = now();
        let stamp = directory.stat(b".").ok().map(|stat| Stamp::of(&stat));
        RecentStamp { stamp, seen }
    }

    /// Which directory it is, as far as that is known.
    pub(crate) fn identity(self) -> Option<Identity> {
        self.stamp.map(|stamp| stamp.identity)
    }

    /// The stamp, if every later change is sure to give another.
    pub(crate) fn settled(self) -> Option<Stamp> {
        self.stamp.filter(|stamp| stamp.is_settled(self.seen))
    }
}

/// The time, in nanoseconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

fn narrow(nanoseconds: i128) -> i64 {
    i64::try_from(nanoseconds).unwrap_or(if nanoseconds < 0 { i64::MIN } else { i64::MAX })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: i64 = 1_000_000;

    fn stamp(modified: i64, changed: i64) -> Stamp {
        let identity = Identity { device: 1, inode: 2 };
        Stamp { identity, size: 3, modified, changed }
    }

    #[test]
    fn a_stamp_is_settled_when_a_later_change_is_sure_to_show() {
        let long_ago = 1_000 * SECOND + 1;
        let cases = [
            // Clocks that count finely: 100 ms and one more nanosecond.
            (long_ago, long_ago, TICK, false),
            (long_ago, long_ago, TICK + 1, true),
            (long_ago, long_ago, -MILLISECOND, false),
            // The time of the content can be set, and says nothing.
            (0, long_ago, TICK, false),
            (long_ago + SECOND, long_ago, TICK + 1, true),
            (i64::MAX, long_ago, TICK + 1, true),
            // Whole seconds: 2 s and one more nanosecond.
            (1_000 * SECOND, 1_000 * SECOND, TICK + 1, false),
            (1_000 * SECOND, 1_000 * SECOND, COARSE_TICK, false),
            (1_000 * SECOND, 1_000 * SECOND, COARSE_TICK + 1, true),
            (0, 1_000 * SECOND, COARSE_TICK, false),
            // One that is fine shows that both are.
            (1_000 * SECOND, long_ago, TICK + 1, true),
            (long_ago, 1_000 * SECOND, TICK + 1, true),
            // Clocks that are wrong.
            (0, i64::MAX, 0, false),
            (0, i64::MIN, 0, false),
        ];
        for (modified, changed, later, expected) in cases {
            let seen = changed.saturating_add(later);
            let settled = stamp(modified, changed).is_settled(seen);
            assert_eq!(settled, expected, "{modified} {changed}, seen {later} ns later");
        }
        assert!(!stamp(1, 1).is_settled(i64::MIN));
    }

    #[test]
    fn any_fact_makes_another_stamp() {
        let one = stamp(5, 6);
        let others = [
            Stamp { identity: Identity { device: 9, inode: 2 }, ..one },
            Stamp { identity: Identity { device: 1, inode: 9 }, ..one },
            Stamp { size: 9, ..one },
            Stamp { modified: 9, ..one },
            Stamp { changed: 9, ..one },
        ];
        assert!(others.iter().all(|other| *other != one));
    }

    #[test]
    fn times_that_do_not_fit_are_the_last_ones() {
        let cases = [(0, 0), (-1, -1), (i128::MAX, i64::MAX), (i128::MIN, i64::MIN)];
        for (nanoseconds, expected) in cases {
            assert_eq!(narrow(nanoseconds), expected);
        }
    }

    #[test]
    fn a_directory_that_changed_just_now_has_no_settled_stamp() {
        let temporary = tempfile::TempDir::new().unwrap();
        let dir = Dir::open_ambient(temporary.path()).unwrap();
        let recent = RecentStamp::of(&dir);
        assert!(recent.settled().is_none() && recent.identity().is_some());
        let later = RecentStamp { seen: recent.seen + COARSE_TICK + SECOND, ..recent };
        assert_eq!(later.settled(), Some(Stamp::of(&dir.stat(b".").unwrap())));
    }
}
