//! The layout of the help: short help that fits a screen, and examples first in the long help.

use clap::{Arg, ArgAction, Command};
use ripkit::ToolSpec;

/// Columns of the screen that the short help has to fit.
const WIDTH: usize = 80;

/// Columns before the descriptions in the list of commands.
const COMMAND_COLUMN: usize = 15;

/// A sentence is not cut below this number of columns to make room for a suffix.
const MIN_SENTENCE: usize = 24;

/// The heading of the options that are no arguments of a tool.
pub(super) const GLOBAL: &str = "Global options";

/// The heading of the options for the form of the answer.
pub(super) const FORM: &str = "Form of the answer";

const TEMPLATE: &str = "{before-help}{about-with-newline}{usage-heading} {usage}\n\n\
    {all-args}{after-help}";

/// The same with a line less, so that the list of commands fits a screen.
pub(super) const DENSE: &str = "{before-help}{about-with-newline}{usage-heading} {usage}\n\
    {all-args}{after-help}";

/// `--help` and `--version`, which the short help leaves out to fit a screen.
pub(super) fn options() -> [Arg; 2] {
    let help = Arg::new("help").short('h').long("help").action(ArgAction::Help).global(true);
    let version = Arg::new("version").short('V').long("version").action(ArgAction::Version);
    let helps = [(help, "Print help: -h in short, --help in full"), (version, "Print the version")];
    helps.map(|(option, help)| global(option, help))
}

/// An option of every command, shown in the long help only.
pub(super) fn global(option: Arg, help: &'static str) -> Arg {
    // A manual page shows an option that the short help hides only by its long text.
    option.help(help).long_help(help).hide_short_help(true).help_heading(GLOBAL)
}

/// The same command with our layout, and these examples before its long help.
pub(super) fn with_layout(command: Command, examples: &[String]) -> Command {
    let command = command.help_template(TEMPLATE);
    if examples.is_empty() {
        return command;
    }
    command.before_long_help(format!("Examples:\n  {}\n", examples.join("\n  ")))
}

/// The description of a command in the list of commands, in one line.
pub(super) fn about(spec: &ToolSpec) -> String {
    let whole = match spec.summary {
        "" => first_sentence(&spec.description),
        summary => summary.to_owned(),
    };
    cut(&whole, WIDTH - COMMAND_COLUMN)
}

/// The help of an argument in one line that begins after `column` columns: the sentence, cut to make
/// room for `suffix`; without the suffix if too little of the sentence would be left.
pub(super) fn one_line(column: usize, sentence: &str, suffix: &str) -> String {
    let room = WIDTH.saturating_sub(column);
    let min = sentence.chars().count().min(MIN_SENTENCE);
    match room.checked_sub(suffix.chars().count()).filter(|rest| *rest >= min) {
        Some(rest) => cut(sentence, rest) + suffix,
        None => cut(sentence, room),
    }
}

/// The first sentence, without its full stop.
pub(super) fn first_sentence(text: &str) -> String {
    let end = text.match_indices(". ").map(|(end, _)| end).find(|end| !abbreviated(text, *end));
    let sentence = end.and_then(|end| text.get(..end)).unwrap_or(text);
    sentence.trim_end_matches('.').to_owned()
}

fn abbreviated(text: &str, end: usize) -> bool {
    let before = text.get(..end).unwrap_or_default();
    before.ends_with("e.g") || before.ends_with("i.e")
}

/// A sentence in at most `room` columns, cut after a clause or else between words.
fn cut(sentence: &str, room: usize) -> String {
    let Some((end, _)) = sentence.char_indices().nth(room) else { return sentence.to_owned() };
    let ends = sentence.char_indices().take_while(|(at, _)| *at <= end);
    let ends: Vec<usize> = ends
        .filter(|(at, letter)| {
            let rest = sentence.get(at + letter.len_utf8()..).unwrap_or_default();
            (matches!(letter, ',' | ';' | ':') && rest.starts_with(' '))
                || (*letter == ' ' && rest.starts_with('('))
        })
        .map(|(at, _)| at)
        .collect();
    let part = ends.last().and_then(|end| sentence.get(..*end));
    // A short part says less than the sentence cut between words.
    if let Some(part) = part.filter(|part| part.len() * 3 >= room) {
        // What follows a colon is a list, which must not be shown in part.
        return part.split_once(": ").map_or(part, |(what, _)| what).to_owned();
    }
    let start = sentence.get(..end).unwrap_or_default();
    let whole = start.rsplit_once(' ').map_or(start, |(words, _)| words);
    format!("{}…", whole.trim_end_matches([',', ';', ':']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_come_before_all_else_in_the_long_help_only() {
        let command = Command::new("look").about("Look around");
        let mut command = with_layout(command, &["look x".to_owned(), "look y".to_owned()]);
        let long = command.render_long_help().to_string();
        assert!(long.starts_with("Examples:\n  look x\n  look y\n\nLook around\n"), "{long}");
        let short = command.render_help().to_string();
        assert!(short.starts_with("Look around\nUsage: look"), "{short}");
    }

    #[test]
    fn a_sentence_ends_at_its_full_stop() {
        assert_eq!(first_sentence("Where to look. Default: the root."), "Where to look");
        assert_eq!(first_sentence("A name, e.g. x. More."), "A name, e.g. x");
        assert_eq!(first_sentence("No full stop"), "No full stop");
    }

    #[test]
    fn a_long_sentence_is_cut_where_a_part_ends_or_between_words() {
        let cases = [
            ("Short enough", 12, "Short enough"),
            ("Reads a text file, each line behind its number", 30, "Reads a text file"),
            ("Finds files (by a glob) anywhere", 20, "Finds files"),
            ("Replaces text: `a:b` by `c`, once", 30, "Replaces text"),
            ("Replaces `a:b` by `c`, and only once", 30, "Replaces `a:b` by `c`"),
            ("A b, and then many more words without a stop", 20, "A b, and then many…"),
            ("überall Wörter überall", 10, "überall…"),
        ];
        for (sentence, room, wanted) in cases {
            let made = cut(sentence, room);
            assert_eq!(made, wanted);
            assert!(made.chars().count() <= room, "{made}");
        }
    }
}
