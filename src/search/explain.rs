//! What is said of a search that finds nothing: which files it did not have, and which other reading of
//! its arguments would have matched.
//!
//! Other readings are tried on the first files in path order, so that the same search always has the
//! same answer: on a tenth of those that were searched, but on [`MIN_FILES`] at least.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::arguments::Sort;
use crate::context::Call;
use crate::error::Error;
use crate::search::alternative::{Alternative, NoFiles, Reading};
use crate::search::options::{OutputMode, SearchOptions};
use crate::search::pattern::{Pattern, PatternOptions};
use crate::search::report::{ReportBuilder, SearchOutput};
use crate::search::searcher::{BatchMatches, FileSearcher, SearchWorker};
use crate::text::clip;
use crate::walk::unmatched::EntrySample;
use crate::walk::{
    Batch, DirectoryReport, GlobBase, OpenCount, PathFilter, ResultSink, Scope, SkippedEntry,
    UnopenedFiles, Visitor, Walk, WalkControl, WalkOptions, WalkRoot,
};
use ripkit_fs::escape;

/// How many files each reading is tried on, however few were searched.
const MIN_FILES: u64 = 256;

/// The part of the searched files that each reading is tried on.
const FILES_PART: u64 = 10;

/// After this time nothing else is tried, should the files be huge or slow to read.
const MAX_TIME: Duration = Duration::from_millis(250);

/// The time in which the whole tree is searched for parts of the pattern.
const MAX_PART_TIME: Duration = Duration::from_secs(1);

/// The most words of a pattern whose runs are searched for, the most runs, and the fewest bytes of one.
const MAX_WORDS: usize = 16;
const MAX_PARTS: usize = 100;
const MIN_PART: usize = 6;

/// The most lines of a file that are looked at for the longest part.
const MAX_LINES: u64 = 10_000;

/// How many ignored entries are looked into.
const MAX_SKIPPED: usize = 64;

/// How many lines a match across lines may span to be of use.
const MAX_SPANNED_LINES: usize = 20;

/// How much of a matching line is shown, in bytes.
const MAX_TEXT_BYTES: usize = 120;

/// The files that a search would have had without its filter, but for `exclude`, if the filter let no
/// file pass.
pub(super) fn sample(
    scope: Scope<'_>,
    options: &SearchOptions,
    report: &SearchOutput,
) -> Result<Option<EntrySample>, Error> {
    let skipped = &report.receipt.skipped;
    if report.receipt.files > 0 || skipped.binary > 0 || skipped.filtered == 0 {
        return Ok(None);
    }
    let [_, exclude, _] = options.walk.filter.arguments();
    let globs = (GlobBase::Root, exclude.as_slice());
    EntrySample::of(scope, &options.walk, globs, true).map(Some)
}

/// Adds to the report of a search without matches what else would have been found, and with a sample
/// which filter let no file pass. `skipped` is what ignore rules and hidden names left out.
pub(super) fn explain(
    scope: Scope<'_>,
    options: &SearchOptions,
    (sample, skipped): (Option<&EntrySample>, &[SkippedEntry]),
    report: &mut SearchOutput,
) -> Result<(), Error> {
    let explainer = Explainer { scope, options };
    report.no_files = sample.and_then(|sample| explainer.no_files(sample));
    // The opposite of a match would be no help.
    if options.wants_files_without_match() {
        return Ok(());
    }
    report.alternatives = explainer.alternatives(skipped, report)?;
    let is_left_out =
        |found: &Alternative| matches!(found.reading, Reading::Ignored | Reading::Hidden);
    if report.alternatives.iter().any(is_left_out) {
        // What is ignored may be what the globs name.
        report.no_files = report.no_files.take().map(NoFiles::without_closest);
    }
    Ok(())
}

struct Explainer<'a> {
    scope: Scope<'a>,
    options: &'a SearchOptions,
}

impl Explainer<'_> {
    /// Which part of the filter is the reason.
    fn no_files(&self, sample: &EntrySample) -> Option<NoFiles> {
        let [include, exclude, file_types] = self.options.walk.filter.arguments();
        let none_passes = |filter: Result<PathFilter, Error>| {
            filter.is_ok_and(|filter| !sample.any(|path, base_len| filter.passes(path, base_len)))
        };
        if sample.is_empty() {
            return (!exclude.is_empty()).then(|| NoFiles::new("exclude", exclude, None));
        }
        if !include.is_empty() && none_passes(PathFilter::new(include, &[], &[])) {
            return Some(NoFiles::new("include", include, sample.closest(include)));
        }
        if !file_types.is_empty() && none_passes(PathFilter::new(&[], &[], file_types)) {
            return Some(NoFiles::new("file_type", file_types, sample.types()));
        }
        None
    }

    fn alternatives(
        &self,
        skipped: &[SkippedEntry],
        report: &SearchOutput,
    ) -> Result<Vec<Alternative>, Error> {
        let call = match Instant::now().checked_add(MAX_TIME) {
            Some(end) => self.scope.call().clone().with_deadline(end),
            None => self.scope.call().clone(),
        };
        let call = &call.without_progress();
        let max_files = (report.receipt.files / FILES_PART).max(MIN_FILES);
        let mut found = Vec::new();
        // What is left out may lie too deep.
        if self.options.walk.max_depth.is_none() {
            found.extend(self.in_skipped(skipped, max_files, call)?);
        }
        if report.receipt.files > 0 {
            found.extend(self.in_readings(max_files, call)?);
        }
        let [include, exclude, file_types] = self.options.walk.filter.arguments();
        let reading = match (include.is_empty(), file_types.is_empty()) {
            (true, true) => None,
            (false, true) => Some(Reading::WithoutInclude),
            (true, false) => Some(Reading::WithoutFileType),
            (false, false) => Some(Reading::WithoutFilters),
        };
        if let Some(reading) = reading.filter(|_| found.is_empty()) {
            let changed = self.options.walk.filter.changed().cloned();
            let filter = PathFilter::new(&[], exclude, &[])?.only(changed);
            let walk = WalkOptions { filter, ..self.options.walk.clone() };
            let options = SearchOptions { walk, ..self.options.clone() };
            found.extend(self.first_match(reading, options, max_files, call)?.found);
        }
        if report.receipt.skipped.binary > 0 && found.is_empty() {
            let options = SearchOptions { binary: true, ..self.options.clone() };
            found.extend(self.first_match(Reading::Binary, options, max_files, call)?.found);
        }
        if found.is_empty() {
            found.extend(self.longest_part()?);
        }
        Ok(found)
    }

    /// The longest part of the pattern that is in a file.
    fn longest_part(&self) -> Result<Option<Alternative>, Error> {
        let source = self.options.pattern.source();
        let parts = parts(&source);
        let escaped: Vec<String> = parts.iter().map(|part| regex_syntax::escape(part)).collect();
        let pattern = escaped.join("|");
        let pattern = PatternOptions {
            pattern: &pattern,
            case_sensitive: Some(self.options.pattern.is_case_sensitive()),
            literal: false,
            word: false,
            multiline: false,
            ..source
        };
        let (false, Ok(pattern)) = (parts.is_empty(), Pattern::compile(&pattern)) else {
            return Ok(None);
        };
        let options = SearchOptions { pattern, max_results: MAX_LINES, ..self.in_order() };
        let call = self.scope.call().clone().without_progress().with_timeout(MAX_PART_TIME);
        let (options, scope) = (Arc::new(options), self.scope.with_call(&call));
        let searcher = FileSearcher::new(&options, scope);
        let walk = options.walk.clone();
        let (found, incomplete) = Walk::run(scope, walk, (searcher, LongestMatch::default()))?;
        // What was not searched may have a longer one.
        Ok(found.0.filter(|_| incomplete.is_none()))
    }

    /// The search, of lines in path order.
    fn in_order(&self) -> SearchOptions {
        SearchOptions {
            max_per_file: u64::MAX,
            mode: OutputMode::Content,
            invert: false,
            enclosing: false,
            context: (0, 0),
            sort: Sort::Path,
            stream: None,
            versions: false,
            cursor: None,
            is_listed: true,
            ..self.options.clone()
        }
    }

    /// The first match in what ignore rules or hidden names left out. Single files come first, and no
    /// directory uses up what is left for the others.
    fn in_skipped(
        &self,
        skipped: &[SkippedEntry],
        max_files: u64,
        call: &Call,
    ) -> Result<Option<Alternative>, Error> {
        let skipped = skipped.get(..skipped.len().min(MAX_SKIPPED)).unwrap_or_default();
        let (directories, files): (Vec<_>, Vec<_>) =
            skipped.iter().partition(|entry| entry.is_directory);
        let directories = directories.chunks(1).map(<[&SkippedEntry]>::to_vec);
        let groups: Vec<Vec<&SkippedEntry>> = std::iter::once(files).chain(directories).collect();
        let (workspace, mut left) = (self.scope.workspace(), max_files);
        for (index, group) in groups.iter().enumerate().filter(|(_, group)| !group.is_empty()) {
            let share = (left / (groups.len() - index) as u64).max(1);
            let mut options = self.options.clone();
            let (count, source) = (OpenCount::default(), options.walk.source.clone());
            let roots = group.iter().filter_map(|entry| {
                let root = WalkRoot::reopen(workspace, &entry.path, source.as_deref(), &count)?;
                Some(root.seen_from(&self.options.walk.roots))
            });
            options.walk.roots = roots.collect();
            options.walk.missing = Vec::new();
            (options.walk.hidden, options.walk.no_ignore) = (true, true);
            let hidden = group.first().is_some_and(|entry| entry.hidden);
            let reading = if hidden { Reading::Hidden } else { Reading::Ignored };
            let tried = self.first_match(reading, options, share, call)?;
            if let Some(mut found) = tried.found {
                let path = found.path.as_bytes();
                let is_hidden = group.iter().any(|entry| entry.hidden && entry.contains(path));
                found.reading = if is_hidden { Reading::Hidden } else { Reading::Ignored };
                return Ok(Some(found));
            }
            left = left.saturating_sub(tried.files);
            if left == 0 {
                break;
            }
        }
        Ok(None)
    }

    /// The first match of the pattern read in another way.
    fn in_readings(&self, max_files: u64, call: &Call) -> Result<Option<Alternative>, Error> {
        let readings = readings(&self.options.pattern);
        let share = (max_files / readings.len().max(1) as u64).max(MIN_FILES);
        for (reading, pattern) in readings {
            let options = SearchOptions { pattern, ..self.options.clone() };
            let found = self.first_match(reading, options, share, call)?.found;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// The first match in the first files of a search.
    fn first_match(
        &self,
        reading: Reading,
        options: SearchOptions,
        max_files: u64,
        call: &Call,
    ) -> Result<Tried, Error> {
        let spans_lines = matches!(reading, Reading::DotAll | Reading::AnyBlanks);
        let spanned = if spans_lines { MAX_SPANNED_LINES + 1 } else { 1 };
        let SearchOptions { pattern, walk, binary, .. } = options;
        let (max_results, max_per_file) = (spanned as u64, spanned as u64);
        let options =
            SearchOptions { pattern, walk, max_results, max_per_file, binary, ..self.in_order() };
        let scope = self.scope.with_call(call);
        let aliases = WalkRoot::aliases(&self.options.walk.roots);
        let options = Arc::new(options);
        let searcher = FileSearcher::new(&options, scope);
        let builder = ReportBuilder::new(&options);
        let sink = FirstFiles { builder, files: 0, max_files };
        let walk = options.walk.clone();
        let (sink, _) = Walk::run(scope, walk, (FirstSearch(searcher), sink))?;
        // Files that the index excludes are counted many at a time.
        let files = sink.files.min(max_files);
        let (report, _) = sink.builder.finish(None, None);
        let found = report.files.first().and_then(|file| {
            let mut lines = file.matches();
            let first = lines.next()?;
            let has_text = self.options.mode.shows_lines() && reading != Reading::Binary;
            let text = if has_text { first.text.trim() } else { "" };
            let (line, text) = (first.line, clip::ellipsize(text, MAX_TEXT_BYTES).into_owned());
            let path = escape::exact_path(&aliases.shown(file.resolved_path())).into_owned();
            (lines.count() < MAX_SPANNED_LINES).then_some(Alternative { reading, path, line, text })
        });
        Ok(Tried { found, files })
    }
}

/// What a reading found, and in how many files.
struct Tried {
    found: Option<Alternative>,
    files: u64,
}

/// The pattern read in other ways, the likeliest first. Those that cannot be compiled are left out.
fn readings(pattern: &Pattern) -> Vec<(Reading, Pattern)> {
    let source = pattern.source();
    let mut readings = Vec::new();
    let mut add = |reading, options: &PatternOptions<'_>| {
        if let Ok(pattern) = Pattern::compile(options) {
            readings.push((reading, pattern));
        }
    };
    let is_plain = regex_syntax::escape(source.pattern) == source.pattern;
    if !is_plain {
        let reading = if source.literal { Reading::Regex } else { Reading::Literal };
        add(reading, &PatternOptions { literal: !source.literal, ..source });
    }
    if !source.literal
        && let Some(pattern) = with_alternatives(source.pattern)
    {
        add(Reading::Alternation, &PatternOptions { pattern: &pattern, ..source });
    }
    if let Some(pattern) = with_any_blanks(&source) {
        let across = PatternOptions { literal: false, multiline: true, ..source };
        add(Reading::AnyBlanks, &PatternOptions { pattern: &pattern, ..across });
    }
    if source.case_sensitive == Some(true) {
        add(Reading::AnyCase, &PatternOptions { case_sensitive: Some(false), ..source });
    }
    if source.word {
        add(Reading::PartOfWord, &PatternOptions { word: false, ..source });
    }
    if !source.literal && !pattern.is_multiline() {
        let across = PatternOptions { multiline: true, ..source };
        // Without a class or a `.` that matches line ends, the pattern has none to match.
        if Pattern::compile(&across).is_ok_and(|pattern| pattern.is_multiline()) {
            add(Reading::Multiline, &across);
        } else if source.pattern.contains('.') {
            let lazy = format!("(?sU){}", source.pattern);
            add(Reading::DotAll, &PatternOptions { pattern: &lazy, ..across });
        }
    }
    readings
}

/// The pattern with `|` for each `\|`, if it has any.
fn with_alternatives(pattern: &str) -> Option<String> {
    let mut text = String::new();
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match (letter, letters.clone().next()) {
            ('\\', Some('|')) => {}
            ('\\', Some(escaped)) => {
                letters.next();
                text.extend([letter, escaped]);
            }
            _ => text.push(letter),
        }
    }
    (text.len() < pattern.len()).then_some(text)
}

/// The pattern with `\s+` for its blanks, if it has any.
fn with_any_blanks(source: &PatternOptions<'_>) -> Option<String> {
    let pattern: Cow<'_, str> = if source.literal {
        regex_syntax::escape(source.pattern).into()
    } else {
        source.pattern.into()
    };
    let (mut text, mut is_escaped, mut in_class, mut has_blank) =
        (String::new(), false, false, false);
    for letter in pattern.chars() {
        if letter == ' ' && !is_escaped && !in_class {
            if !text.ends_with("\\s+") {
                text.push_str("\\s+");
            }
            has_blank = true;
            continue;
        }
        in_class = (in_class || letter == '[' && !is_escaped) && (letter != ']' || is_escaped);
        is_escaped = letter == '\\' && !is_escaped;
        text.push(letter);
    }
    has_blank.then_some(text)
}

/// Runs of words of a pattern that stand for themselves, the longest first.
fn parts(source: &PatternOptions<'_>) -> Vec<String> {
    let mut texts = vec![String::new()];
    let mut letters = source.pattern.chars();
    while let Some(letter) = letters.next() {
        let own = match letter {
            _ if source.literal => Some(letter),
            '\\' => letters.next().filter(|next| !next.is_alphanumeric()),
            '.' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | '^' | '$' => None,
            letter => Some(letter),
        };
        match (own, texts.last_mut()) {
            (Some(letter), Some(text)) => text.push(letter),
            _ => texts.push(String::new()),
        }
    }
    let mut parts = BTreeSet::new();
    for text in &texts {
        let words: Vec<&str> = text.split_whitespace().take(MAX_WORDS).collect();
        for first in 0..words.len() {
            parts.extend((first..words.len()).map(|last| words[first..=last].join(" ")));
        }
    }
    let is_of_use = |part: &String| part.len() >= MIN_PART && part.as_str() != source.pattern;
    let mut parts: Vec<String> = parts.into_iter().filter(is_of_use).collect();
    parts.sort_by_key(|part| Reverse(part.len()));
    parts.truncate(MAX_PARTS);
    parts
}

/// Keeps the first of the longest matches.
#[derive(Debug, Default)]
struct LongestMatch(Option<Alternative>);

impl ResultSink<BatchMatches> for LongestMatch {
    fn directory(&mut self, _: DirectoryReport) {}

    fn results(&mut self, found: BatchMatches) -> ControlFlow<()> {
        for file in found.files {
            for line in file.matches() {
                for [start, end] in &line.spans {
                    let text = &line.text[*start..*end];
                    if self.0.as_ref().is_none_or(|best| best.text.len() < text.len()) {
                        let (path, text) = (file.path.clone(), text.to_owned());
                        let reading = Reading::Part;
                        self.0 = Some(Alternative { reading, path, line: line.line, text });
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }
}

/// Searches batch by batch, so that the first files are the same whatever the threads.
#[derive(Debug)]
struct FirstSearch(FileSearcher);

impl Visitor for FirstSearch {
    type State = SearchWorker;
    type Output = BatchMatches;

    fn weight(found: &BatchMatches) -> usize {
        FileSearcher::weight(found)
    }

    fn state(&self) -> SearchWorker {
        self.0.state()
    }

    fn may_stop_early(&self) -> bool {
        true
    }

    fn visit_unopened(&self, files: &UnopenedFiles<'_>, found: &mut BatchMatches) -> Option<u64> {
        self.0.visit_unopened(files, found)
    }

    fn visit(
        &self,
        worker: &mut SearchWorker,
        batch: &Batch,
        walk: &dyn WalkControl,
        found: &Mutex<BatchMatches>,
    ) {
        self.0.visit(worker, batch, walk, found);
    }
}

/// Takes the results of the first files until one matches.
#[derive(Debug)]
struct FirstFiles {
    builder: ReportBuilder,
    files: u64,
    max_files: u64,
}

impl ResultSink<BatchMatches> for FirstFiles {
    fn directory(&mut self, report: DirectoryReport) {
        self.builder.directory(report);
    }

    fn results(&mut self, found: BatchMatches) -> ControlFlow<()> {
        if self.files >= self.max_files {
            return ControlFlow::Break(());
        }
        self.files += found.stats.files + found.stats.skipped.binary;
        let is_found = !found.files.is_empty();
        self.builder.results(found)?;
        if is_found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::line_ends::LineEnds;

    const OPTIONS: PatternOptions<'static> = PatternOptions {
        pattern: "",
        case_sensitive: Some(false),
        literal: false,
        word: false,
        multiline: false,
        line_ends: LineEnds::Both,
        max_bytes: 4096,
    };

    fn kinds(options: &PatternOptions<'_>) -> Vec<Reading> {
        let readings = readings(&Pattern::compile(options).unwrap());
        readings.into_iter().map(|(reading, _)| reading).collect()
    }

    #[test]
    fn parts_are_runs_of_words_that_stand_for_themselves() {
        let of = |pattern, literal| parts(&PatternOptions { pattern, literal, ..OPTIONS });
        let expected = ["': No scheme supplied", "No scheme supplied"];
        assert_eq!(of("Invalid URL '.*': No scheme supplied", false)[..2], expected);
        assert!(of("Invalid URL '.*': No scheme", false).contains(&"No scheme".to_owned()));
        assert_eq!(of("foobar.*x", false), ["foobar"]);
        assert_eq!(of("foobar.*x y", true), ["foobar.*x"]);
        assert_eq!(of("foobar", false), [""; 0], "that is all of it");
    }

    #[test]
    fn blanks_are_any_blanks() {
        let of =
            |pattern, literal| with_any_blanks(&PatternOptions { pattern, literal, ..OPTIONS });
        assert_eq!(of("a  b c", false).as_deref(), Some("a\\s+b\\s+c"));
        assert_eq!(of("a( b", true).as_deref(), Some("a\\(\\s+b"));
        assert_eq!(of("[ a]\\ b", false), None);
    }

    #[test]
    fn only_readings_that_can_differ_are_tried() {
        use Reading::{
            Alternation, AnyBlanks, AnyCase, DotAll, Literal, Multiline, PartOfWord, Regex,
        };

        let cases: [(&str, &[Reading]); 10] = [
            ("plain", &[]),
            ("plain text", &[AnyBlanks]),
            ("[ a] b", &[Literal, AnyBlanks]),
            ("items[0]", &[Literal]),
            ("call\\(\\s*x", &[Literal, Multiline]),
            ("call\\(.*x", &[Literal, DotAll]),
            ("a\nb", &[]),
            ("[^x]", &[Literal, Multiline]),
            ("a\\|b", &[Literal, Alternation]),
            ("a\\\\|b", &[Literal]),
        ];
        for (pattern, expected) in cases {
            assert_eq!(kinds(&PatternOptions { pattern, ..OPTIONS }), expected, "{pattern:?}");
        }
        let literal = PatternOptions { pattern: "a|b", literal: true, ..OPTIONS };
        assert_eq!(kinds(&literal), [Regex]);
        let bad = PatternOptions { pattern: "f(", literal: true, ..OPTIONS };
        assert_eq!(kinds(&bad), [], "it cannot be compiled");
        let all =
            PatternOptions { pattern: "x", word: true, case_sensitive: Some(true), ..OPTIONS };
        assert_eq!(kinds(&all), [AnyCase, PartOfWord]);
    }
}
