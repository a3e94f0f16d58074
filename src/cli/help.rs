//! What the help says of a tool: one line for a screen, and examples before everything else.

use clap::{Arg, ArgAction, Command};
use ripkit::ToolSpec;
use serde_json::{Map, Value};

use super::example;

/// Columns of the narrowest screen that the short help has to fit.
const WIDTH: usize = 80;

/// Columns before what a command does, in the list of commands.
const COMMAND_COLUMN: usize = 10;

/// Columns of a sentence without which it says nothing.
const LEAST: usize = 24;

/// Examples in the help of the whole program.
const EXAMPLES: usize = 8;

/// The heading of the options that stand for no argument of a tool.
pub(super) const GLOBAL: &str = "Global options";

/// The heading of the options for the form of the answer.
pub(super) const FORM: &str = "Form of the answer";

const TEMPLATE: &str = "{before-help}{about-with-newline}{usage-heading} {usage}\n\n\
    {all-args}{after-help}";

/// The same with a line less, for the list of commands, which has to fit a screen.
pub(super) const DENSE: &str = "{before-help}{about-with-newline}{usage-heading} {usage}\n\
    {all-args}{after-help}";

/// The options for help and version, which the short help leaves out to fit a screen.
pub(super) fn options() -> [Arg; 2] {
    let help = Arg::new("help").short('h').long("help").action(ArgAction::Help).global(true);
    let version = Arg::new("version").short('V').long("version").action(ArgAction::Version);
    let helps = [(help, "Print help: -h in short, --help in full"), (version, "Print the version")];
    helps.map(|(option, help)| global(option, help))
}

/// An option that every command takes, which only the long help of a command tells.
pub(super) fn global(option: Arg, help: &'static str) -> Arg {
    // Pages of the manual leave out the short text of what the short help leaves out.
    option.help(help).long_help(help).hide_short_help(true).help_heading(GLOBAL)
}

/// The same command with our form of help, and these examples in front of the long one.
pub(super) fn shaped(command: Command, examples: &[String]) -> Command {
    let command = command.help_template(TEMPLATE);
    if examples.is_empty() {
        return command;
    }
    command.before_long_help(format!("Examples:\n  {}\n", examples.join("\n  ")))
}

/// The examples of a tool, as one types them.
pub(super) fn examples(spec: &ToolSpec) -> Vec<String> {
    given(spec).iter().filter_map(|args| example::line(spec, args)).collect()
}

/// An example of each of the first tools.
pub(super) fn first_examples(specs: &[ToolSpec]) -> Vec<String> {
    specs.iter().filter_map(|spec| examples(spec).into_iter().next()).take(EXAMPLES).collect()
}

/// The arguments that the author of a tool gives as examples.
pub(super) fn given(spec: &ToolSpec) -> Vec<Map<String, Value>> {
    spec.examples.iter().filter_map(Value::as_object).cloned().collect()
}

/// What a command does, in a line of the list of commands.
pub(super) fn about(spec: &ToolSpec) -> String {
    let whole = match spec.summary {
        "" => first_sentence(&spec.description),
        summary => summary.to_owned(),
    };
    cut(&whole, WIDTH - COMMAND_COLUMN)
}

/// Help of an argument after `column` columns: the sentence, cut for `suffix` to find room, unless
/// too little of it would be left.
pub(super) fn beside(column: usize, sentence: &str, suffix: &str) -> String {
    let room = WIDTH.saturating_sub(column);
    let least = sentence.chars().count().min(LEAST);
    match room.checked_sub(suffix.chars().count()).filter(|rest| *rest >= least) {
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

/// A sentence in at most `room` columns: cut where a part of it ends, or else between words.
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
    // Half of the room says more than a few words of it.
    if let Some(part) = part.filter(|part| part.len() * 3 >= room) {
        // Of a list the first is not the whole.
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
        let mut command = shaped(command, &["look x".to_owned(), "look y".to_owned()]);
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
