use std::fs;
use std::path::Path;

use crate::harness::blessing;

#[path = "../../examples/pictures/chart.rs"]
mod chart;
#[path = "../../examples/pictures/svg.rs"]
mod svg;
#[cfg(all(unix, feature = "cli"))]
#[path = "../../examples/pictures/terminal.rs"]
mod terminal;

fn compare(name: &str, drawn: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name);
    roxmltree::Document::parse(drawn).expect("XML");
    if blessing() {
        fs::write(&path, drawn).expect("a picture");
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == drawn, "docs/{name} is another: BLESS=1 draws it again");
}

#[test]
fn the_chart_shows_the_comparison() {
    compare("speed.svg", &chart::draw(include_str!("../../docs/compare.md")).expect("a chart"));
}

#[test]
fn a_comparison_without_a_table_is_refused() {
    let comparison = include_str!("../../docs/compare.md");
    let cut = comparison.replace("## Listings", "## Others");
    assert!(chart::draw(&cut).unwrap_err().contains("\"Listings\""));
    let renamed = comparison.replace("| watched |", "| other |");
    assert!(chart::draw(&renamed).unwrap_err().contains("watched"));
}

#[cfg(all(unix, feature = "cli"))]
#[test]
fn the_terminal_shows_what_the_program_prints() {
    if !crate::harness::has_program("script") {
        return;
    }
    let program = Path::new(env!("CARGO_BIN_EXE_ripkit"));
    compare("terminal.svg", &terminal::draw(program).expect("a session"));
}
