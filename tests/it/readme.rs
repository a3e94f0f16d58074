use std::fs;
use std::path::Path;

use ripkit::{Effect, ToolSpec, toolkit};
use serde_json::Value;

use crate::harness::blessing;

const BEGIN: &str = "<!-- tools: BLESS=1 cargo test --test it readme -->\n";
const END: &str = "<!-- end of tools -->\n";

#[test]
fn the_table_of_tools_is_what_the_tools_say_of_themselves() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = fs::read_to_string(&path).unwrap();
    let (before, rest) = readme.split_once(BEGIN).expect("the table begins");
    let (table, after) = rest.split_once(END).expect("the table ends");
    let specs = toolkit::standard_specs();
    // The tool that starts programs is not in every build, and has its own section.
    let rows = specs.iter().filter(|spec| spec.effect != Effect::Execute).map(row);
    let head = "| tool | what it does | arguments |\n|---|---|---|\n";
    let wanted = rows.fold(head.to_owned(), |table, row| table + &row);
    if blessing() {
        fs::write(&path, format!("{before}{BEGIN}{wanted}{END}{after}")).unwrap();
        return;
    }
    assert!(table == wanted, "BLESS=1 writes the table of tools into README.md:\n{wanted}");
}

fn row(spec: &ToolSpec) -> String {
    let sentence = spec.description.split_once(". ").map_or(&*spec.description, |(first, _)| first);
    let sentence = sentence.trim_end_matches('.').replace('|', "\\|");
    let required = spec.input_schema["required"].as_array().cloned().unwrap_or_default();
    let properties = spec.input_schema["properties"].as_object().unwrap();
    let arguments = properties.iter().map(|(name, schema)| {
        let is_required = required.iter().any(|required| required == name);
        let shown = if is_required { format!("**`{name}`**") } else { format!("`{name}`") };
        match &schema["default"] {
            Value::Number(number) => format!("{shown} ({number})"),
            Value::Bool(true) => format!("{shown} (true)"),
            Value::String(text) if !text.is_empty() => format!("{shown} (`{text}`)"),
            _ => shown,
        }
    });
    let arguments = arguments.collect::<Vec<_>>().join(", ");
    format!("| `{}` | {sentence} | {arguments} |\n", spec.name)
}
