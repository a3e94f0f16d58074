use super::*;
use crate::edit::hint::file::{MAX_SEARCHED, PROBES};

fn first(text: &str, old: &str) -> Option<usize> {
    match nearest(text.as_bytes(), old, &Call::default()).unwrap()? {
        Near::Lines(lines) => Some(lines.first + 1),
        Near::Part(_) | Near::Variant(_) => None,
    }
}

#[test]
fn the_nearest_lines_win_over_the_first_that_contain_a_line() {
    let text = "fn a() {\n    one();\n}\n\nfn a() {\n    two(x);\n    three();\n}\n";
    assert_eq!(first(text, "fn a() {\n    two(y);\n    three();\n}\n"), Some(5));
    assert_eq!(first(text, "    tow(x);\n    three();"), Some(6));
}

#[test]
fn the_first_line_within_a_line_is_enough() {
    let text = "alpha\npub fn start(now: u64) {\n    body\n}\n";
    assert_eq!(first(text, "fn start(\nnothing of this is there, whatever one says\n"), Some(2));
    assert_eq!(
        first(text, "\n\nfn start(\nnothing of this is there, whatever one says\n"),
        Some(1)
    );
}

#[test]
fn what_is_like_nothing_has_no_hint() {
    for old in ["zebra crossing", "{", "\n\n", "  ", "}"] {
        assert_eq!(first("fn main() {\n    call();\n}\n", old), None, "{old:?}");
    }
    assert_eq!(first("", "anything at all"), None);
}

#[test]
fn a_typing_error_in_every_line_does_not_hide_the_place() {
    let text = format!(
        "{}struct Widget {{\n    width: u32,\n    height: u32,\n}}\n",
        "x = 1\n".repeat(500)
    );
    assert_eq!(first(&text, "struct Widgte {\n    widht: u32,\n    heigth: u32,\n}\n"), Some(501));
}

#[test]
fn the_line_that_differs_is_shown_when_not_all_fit() {
    let lines: Vec<String> =
        (1..=100).map(|number| format!("some line of text, number {number}\n")).collect();
    let text = lines.concat();
    let old = text.replace("number 90\n", "number ninety\n");
    let near = nearest(text.as_bytes(), &old, &Call::default()).unwrap().unwrap();
    let advice = near.advice(false, 1500);
    assert!(advice.len() <= 1500, "{}", advice.len());
    assert!(advice.contains("  90 | some line of text, number 90\n"), "{advice}");
    assert!(advice.contains("Line 90 differs: the file has `some line of text, number 90`"));
}

#[test]
fn the_end_of_the_file_is_told() {
    let near = nearest(b"first line\nlast line\n", "last line\none more line\n", &Call::default());
    let advice = near.unwrap().unwrap().advice(false, 1500);
    assert!(advice.ends_with("The file ends at line 2, old_text goes on."), "{advice}");
}

#[test]
fn the_work_does_not_grow_with_the_file_beyond_a_bound() {
    let old: Vec<String> =
        (0..300).map(|n| format!("let name_{n} = call_number_{n}(); // {n}")).collect();
    let old: Vec<&str> = old.iter().map(String::as_str).collect();
    for len in [1_usize << 10, 1 << 20, 10 << 20, 100 << 20, 1 << 30] {
        let most = probe_count(len);
        let probes = probes(&old, most);
        assert!(probes.len() <= most, "{len}: {}", probes.len());
        assert!(probes.len() * len <= MAX_SEARCHED.max(PROBES.start * len), "{len}");
    }
}

#[test]
fn a_cancelled_call_stops() {
    let cancel = crate::Cancel::new();
    cancel.cancel();
    let call = Call::default().with_cancel(cancel);
    assert!(nearest(b"some words here", "some other words", &call).is_err());
}

#[test]
fn signs_without_end_are_compared_in_part() {
    let line = |signs: &str| signs.repeat(800) + "abc\n";
    let (file, old) = (line("#$%&").repeat(300), line("%$#!").repeat(200));
    let started = std::time::Instant::now();
    assert!(nearest(file.as_bytes(), &old, &Call::default()).is_ok());
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}
