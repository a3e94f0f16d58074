use crate::context::Call;
use crate::edit::hint::{Near, nearest};

fn advice(text: &str, old: &str, room: usize) -> Option<String> {
    let near = nearest(text.as_bytes(), old, &Call::default()).unwrap();
    assert!(near.as_ref().is_none_or(|near| matches!(near, Near::Part(_))));
    near.map(|near| near.advice(false, room))
}

/// A line without an end in sight, no part of which is like another.
fn long_line(count: usize) -> String {
    let keys = (0..count).map(|number| format!("\"k{}\": {number}, ", number * 7919 % 1_000_003));
    keys.collect::<Vec<String>>().concat()
}

#[test]
fn the_part_of_a_long_line_is_shown_with_what_differs() {
    let line = long_line(60_000);
    let text = format!("head\n{line}\ntail\n");
    let start = 500_000;
    for (len, at) in [(400, 200), (400, 3), (400, 397), (40, 20), (1500, 1400)] {
        let mut old = line[start..start + len].to_owned();
        old.replace_range(at..=at, "#");
        let advice = advice(&text, &old, 1500).unwrap();
        assert!(advice.starts_with("Did you mean:\n```\n   2 | …"), "{advice}");
        let column = start + at + 1;
        let told = format!("…\n```\nLine 2 differs at column {column}: the file has `");
        assert!(advice.contains(&told), "{len} {at}: {advice}");
        let nearby = &line[start + at.max(20) - 20..start + len.min(at + 20)];
        assert_eq!(advice.matches(nearby).count(), 2, "{len} {at}: {advice}");
        assert!(advice.len() <= 1500, "{}", advice.len());
    }
}

#[test]
fn letters_that_are_missing_or_too_many_do_not_hide_the_part() {
    let line = long_line(1000);
    for (from, to) in [("\"k7919\"", "\"k791\""), ("\"k7919\"", "\"k79199\""), ("k7919", "K7919")] {
        let part = &line[line.find("\"k7919\"").unwrap()..line.find("\"k31676\"").unwrap()];
        let old = part.replacen(from, to, 1);
        assert_ne!(old, part);
        let advice = advice(&line, &old, 1500).unwrap();
        assert!(advice.contains(part), "{advice}");
    }
}

#[test]
fn blanks_that_differ_are_shown_as_signs() {
    let line = format!("{}if (one) {{ two(); }} {}", "a, ".repeat(200), "b, ".repeat(200));
    let advice = advice(&line, "if (one)  { two(); }", 1500).unwrap();
    let told = "Line 1 differs at column 610: the file has `if·(one)·{·two();·}·b,·b,";
    assert!(advice.contains(told), "{advice}");
    assert!(advice.ends_with("old_text has `if·(one)··{·two();·}`."), "{advice}");
}

#[test]
fn a_part_that_is_like_nothing_is_not_shown() {
    let line = long_line(1000);
    for old in ["an unheard-of sentence of some length", "\"k\": ", ", , , ,"] {
        assert_eq!(advice(&line, old, 1500), None, "{old}");
    }
}

#[test]
fn a_short_room_shows_what_is_round_the_difference() {
    let line = long_line(10_000);
    let mut old = line[5000..5700].to_owned();
    old.replace_range(600..=600, "#");
    let advice = advice(&line, &old, 600).unwrap();
    assert!(advice.len() <= 600, "{}", advice.len());
    assert_eq!(advice.matches(&line[5580..5620]).count(), 2, "{advice}");
}

#[test]
fn pieces_that_are_everywhere_cost_no_more_than_others() {
    let line = "0123456789, ".repeat(200_000);
    let old = "0123456789, ".repeat(30) + "x";
    let started = std::time::Instant::now();
    assert!(advice(&line, &old, 1500).is_some());
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}
