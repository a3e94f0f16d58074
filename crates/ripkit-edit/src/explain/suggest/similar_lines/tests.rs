use super::*;

/// The lines of the file, from 1, with `+` before those that the old text lacks, and `-` for old
/// lines that the file lacks.
fn aligned(file: &str, old: &str) -> String {
    let table = LineTable::new(file.as_bytes());
    let old: Vec<&str> = old.lines().collect();
    let found = SimilarLines::most_similar(&table, &old, Stop::never()).unwrap().unwrap();
    let shown = found.rows.iter().map(|row| match row {
        Row::Both((number, _), _) => (number + 1).to_string(),
        Row::File((number, _)) => format!("+{}", number + 1),
        Row::Old(_) => "-".to_owned(),
    });
    shown.collect::<Vec<_>>().join(" ")
}

const FILE: &str = "fn one() {\n    first();\n\n    second();\n    third();\n}\n\nfn two() {\n    \
                    first();\n    fourth();\n}\n";

#[test]
fn lines_may_differ_be_missing_or_be_too_many() {
    // (old text, lines)
    let table = [
        ("    second();\n    third();\n", "4 5"),
        ("    secnod();\n    third();\n", "4 5"),
        ("    first();\n    second();\n    third();\n", "2 +3 4 5"),
        ("    first();\n\n    third();\n", "2 3 +4 5"),
        ("    second();\n    invented(here);\n    third();\n", "4 - 5"),
        ("fn two() {\n    first();\n    forth();\n", "8 9 10"),
        ("fn two() {\n    unlike;\n    fourth();\n", "8 9 10"),
    ];
    for (old, lines) in table {
        assert_eq!(aligned(FILE, old), lines, "{old}");
    }
}

#[test]
fn a_placeholder_stands_for_any_lines() {
    assert_eq!(aligned(FILE, "fn one() {\n...\n    third();\n"), "1 - +2 +3 +4 5");
    assert_eq!(aligned(FILE, "fn one() {\n    // ...\n    fourth();\n}\n"), {
        "1 - +2 +3 +4 +5 +6 +7 +8 +9 10 11"
    });
}

#[test]
fn old_lines_that_differ_everywhere_are_compared_in_bounded_time() {
    let file = "    some(line, of, text);\n".repeat(100_000);
    let old: Vec<String> = (0..200).map(|at| format!("    some(line, of{at}, text);")).collect();
    let old: Vec<&str> = old.iter().map(String::as_str).collect();
    let started = std::time::Instant::now();
    let table = LineTable::new(file.as_bytes());
    SimilarLines::most_similar(&table, &old, Stop::never()).unwrap();
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}

#[test]
fn the_work_does_not_grow_with_the_file_beyond_a_bound() {
    let old: Vec<String> =
        (0..300).map(|n| format!("let name_{n} = call_number_{n}(); // {n}")).collect();
    let old: Vec<&str> = old.iter().map(String::as_str).collect();
    for len in [1_usize << 10, 1 << 20, 10 << 20, 100 << 20, 1 << 30] {
        let max = probe_count(len);
        let probes = probes(&old, max);
        assert!(probes.len() <= max, "{len}: {}", probes.len());
        assert!(probes.len() * len <= MAX_SEARCHED.max(PROBES.start * len), "{len}");
    }
}
