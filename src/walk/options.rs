//! What a walk is asked for.

use crate::output::ReadError;
use crate::walk::cached_dir::FilterKey;
use crate::walk::dir_cache::CacheView;
use crate::walk::filter::PathFilter;
use crate::walk::ignore_rules::IgnoreRules;
use crate::walk::roots::WalkRoot;

/// What a walk looks at. The default is everything below nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct WalkOptions {
    /// Where it begins, in path order.
    pub(crate) roots: Vec<WalkRoot>,
    /// Named paths that cannot be looked at, for the receipt.
    pub(crate) missing: Vec<ReadError>,
    /// How deep entries may lie below a beginning; its own entries have depth 1.
    pub(crate) max_depth: Option<usize>,
    /// Whether names that start with a dot are looked at.
    pub(crate) hidden: bool,
    /// Whether ignore files are disregarded.
    pub(crate) no_ignore: bool,
    /// Whether `target` and `node_modules` are left out where no ignore file has a say.
    pub(crate) drop_noise: bool,
    /// Whether contents are wanted: then links and files made by the kernel are left out.
    pub(crate) contents: bool,
    /// Whether directories are handed on too, and not only files.
    pub(crate) directories: bool,
    /// Which files are wanted.
    pub(crate) filter: PathFilter,
    /// Exactly these files, in this order, instead of a walk.
    pub(crate) files: Option<Vec<Vec<u8>>>,
    /// What earlier walks saw, if that is kept.
    pub(crate) cache: Option<CacheView>,
    /// Where to go on: entries before it in path order are passed over without a word.
    pub(crate) resume: Option<ResumePoint>,
}

/// The position that an earlier answer reached.
#[derive(Clone, Debug)]
pub(crate) struct ResumePoint {
    /// The path of the last entry of that answer; a directory's ends in `/`.
    pub(crate) path: Vec<u8>,
    /// Whether that entry itself is looked at again.
    pub(crate) inclusive: bool,
}

impl WalkOptions {
    /// Where it begins, as the same bytes for the same places.
    pub(crate) fn root_keys(&self) -> Vec<Vec<u8>> {
        self.roots.iter().map(WalkRoot::key).collect()
    }

    /// What decides which entries stay, but for the filter.
    pub(super) fn sieve_key(&self, rules: &IgnoreRules) -> FilterKey {
        let WalkOptions { hidden, no_ignore, drop_noise, contents, .. } = *self;
        FilterKey { rules: rules.clone(), hidden, no_ignore, drop_noise, contents }
    }

    /// Tells whether a directory itself, whatever is below it, lies past that position.
    pub(super) fn reaches_itself(&self, path: &[u8]) -> bool {
        self.resume.as_ref().is_none_or(|resume| after(path, b"/", resume))
    }

    /// Tells whether the position to resume at lies below the directory of this prefix.
    pub(super) fn resumes_below(&self, prefix: &[u8]) -> bool {
        self.resume.as_ref().is_some_and(|resume| resume.path.starts_with(prefix))
    }

    /// Tells whether an entry, or something below it, lies past the position to resume at.
    pub(super) fn reaches(&self, path: &[u8], is_directory: bool) -> bool {
        let Some(resume) = &self.resume else { return true };
        if is_directory {
            let below = |bytes: &[u8]| {
                bytes.strip_prefix(path).is_some_and(|rest| rest.first() == Some(&b'/'))
            };
            return below(&resume.path) || after(path, b"/", resume);
        }
        after(path, b"", resume)
    }
}

fn after(path: &[u8], slash: &[u8], resume: &ResumePoint) -> bool {
    let order = path.iter().chain(slash).cmp(resume.path.iter());
    order.is_gt() || (order.is_eq() && resume.inclusive)
}
