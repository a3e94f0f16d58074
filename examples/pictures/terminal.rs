//! A picture of a terminal in which the program runs.

use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs};

use super::svg::{Picture, escaped};

const FILES: [(&str, &str); 3] = [
    ("docs/settings.md", "# Settings\n\nThe timeout is 30 seconds.\n"),
    (
        "src/client.rs",
        "/// Connects, and gives up after the timeout.\n\
         pub fn connect(settings: &Settings) -> Result<Client, Error> {\n\
         \x20   let stream = TcpStream::connect_timeout(&settings.address, settings.timeout)?;\n\
         \x20   Ok(Client { stream })\n\
         }\n",
    ),
    (
        "src/config.rs",
        "use std::time::Duration;\n\n\
         /// Reads the settings.\n\
         pub fn parse(text: &str) -> Settings {\n\
         \x20   let timeout = Duration::from_secs(30);\n\
         \x20   Settings { timeout, retries: text.lines().count() }\n\
         }\n",
    ),
];

/// A search, a search without results, an edit that is refused, and one with its difference.
const COMMANDS: [&str; 4] = [
    "ripkit search timeout",
    "ripkit search 'Timeout is'",
    "ripkit edit src/config.rs --old-text 'from_sec(30)' --new-text 'from_secs(60)'",
    "ripkit edit src/config.rs --old-text 'from_secs(30)' --new-text 'from_secs(60)'",
];

const COLUMNS: usize = 100;

const STYLE: &str = "\
    text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #d1d7e0; \
    white-space: pre; }\n\
    .ground { fill: #151b23; }\n\
    .prompt { fill: #9198a1; }\n\
    .command { fill: #f0f6fc; font-weight: 600; }\n\
    .bold { font-weight: 600; }\n\
    .red { fill: #ff7b72; }\n\
    .green { fill: #56d364; }\n\
    .blue { fill: #79c0ff; }\n\
    .magenta { fill: #d2a8ff; }\n\
    .cyan { fill: #76e3ea; }\n";

/// Draws a session with `program`, whose name must be `ripkit`.
pub(crate) fn draw(program: &Path) -> Result<String, String> {
    let root = tempfile::tempdir().map_err(|error| error.to_string())?;
    for (path, text) in FILES {
        let path = root.path().join(path);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| fs::write(&path, text)).map_err(|error| error.to_string())?;
    }
    let mut lines = Vec::new();
    for command in COMMANDS {
        lines.push(format!(
            "<tspan class=\"prompt\">$ </tspan><tspan class=\"command\">{}</tspan>",
            escaped(command)
        ));
        let shown = run(program, root.path(), command)?;
        lines.extend(shown.lines().flat_map(styled));
        lines.push(String::new());
    }
    lines.pop();
    let elements = lines.iter().enumerate().map(|(index, line)| {
        let y = 30 + 18 * index;
        format!("<text x=\"16\" y=\"{y}\" xml:space=\"preserve\">{line}</text>")
    });
    let picture = Picture {
        width: 820,
        height: u32::try_from(30 + 18 * lines.len()).map_err(|error| error.to_string())?,
        title: "A session with ripkit in a terminal",
        description: &format!("The output of the commands: {}.", COMMANDS.join("; ")),
        style: STYLE,
    };
    Ok(picture.with(&elements.collect::<Vec<_>>()))
}

/// What a terminal shows.
fn run(program: &Path, root: &Path, command: &str) -> Result<String, String> {
    let line = format!("stty cols {COLUMNS} rows 24; {command}");
    let mut directories: Vec<_> = program.parent().into_iter().map(Path::to_path_buf).collect();
    directories.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
    let path = env::join_paths(directories).map_err(|error| error.to_string())?;
    let mut script = Command::new("script");
    script.args(["-qec", &line, "/dev/null"]).current_dir(root).stdin(Stdio::null());
    script.env("PATH", path).env("TERM", "xterm").env("HOME", root).env("SHELL", "/bin/sh");
    script.env_remove("NO_COLOR").env_remove("RIPKIT_ROOT").env_remove("COLUMNS");
    let output = script.output().map_err(|error| format!("script: {error}"))?;
    let shown = String::from_utf8(output.stdout).map_err(|error| error.to_string())?;
    if shown.trim().is_empty() {
        return Err(format!("{command}: no output"));
    }
    Ok(shown.replace("\r\n", "\n"))
}

/// A line with its colours as elements, in as many lines as a terminal breaks it into.
fn styled(line: &str) -> Vec<String> {
    let (mut lines, mut shown, mut free) = (Vec::new(), Vec::new(), COLUMNS);
    let mut classes: Vec<&str> = Vec::new();
    for (index, part) in line.split("\u{1b}[").enumerate() {
        let (codes, text) =
            if index == 0 { ("", part) } else { part.split_once('m').unwrap_or(("", part)) };
        for code in codes.split(';') {
            match code {
                "1" => classes.push("bold"),
                "31" => classes.push("red"),
                "32" => classes.push("green"),
                "34" => classes.push("blue"),
                "35" => classes.push("magenta"),
                "36" => classes.push("cyan"),
                _ => classes.clear(),
            }
        }
        let letters: Vec<char> = text.chars().collect();
        let mut rest = letters.as_slice();
        while !rest.is_empty() {
            if free == 0 {
                lines.push(shown.concat());
                (shown, free) = (Vec::new(), COLUMNS);
            }
            let (first, later) = rest.split_at(rest.len().min(free));
            shown.push(element(&classes, &first.iter().collect::<String>()));
            (rest, free) = (later, free - first.len());
        }
    }
    lines.push(shown.concat());
    lines
}

fn element(classes: &[&str], text: &str) -> String {
    match classes {
        [] => escaped(text),
        classes => format!("<tspan class=\"{}\">{}</tspan>", classes.join(" "), escaped(text)),
    }
}
