//! The schemas of the tools in a portable form, and their rendering for protocols.

mod bounds;
mod portable;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use crate::tool::{Effect, ToolSpec};

pub(crate) use self::bounds::Bounds;
use self::portable::{Side, folded};

/// The form in which a protocol or a provider wants the descriptions of tools.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// The Model Context Protocol: the items of an answer to `tools/list`.
    #[default]
    Mcp,
}

impl Format {
    /// Every format, in the order of the documentation.
    pub const ALL: &[Format] = &[Format::Mcp];

    /// The name on the command line, such as `mcp`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Format::Mcp => "mcp",
        }
    }
}

/// Renders all descriptions as one JSON array, in their order.
pub fn render<'a>(specs: impl IntoIterator<Item = &'a ToolSpec>, format: Format) -> Value {
    let one = match format {
        Format::Mcp => mcp,
    };
    specs.into_iter().map(one).collect()
}

/// Renders one description for the Model Context Protocol, with all four hints.
///
/// `outputSchema` is left out where the structured answer is not an object, which the protocol
/// does not allow.
pub fn mcp(spec: &ToolSpec) -> Value {
    let mut tool = json!({
        "name": spec.name,
        "title": title(&spec.name),
        "description": spec.description,
        "inputSchema": spec.input_schema,
        "outputSchema": spec.output_schema,
        "annotations": {
            "readOnlyHint": spec.effect == Effect::Read,
            "destructiveHint": matches!(spec.effect, Effect::Change | Effect::Execute),
            "idempotentHint": spec.effect == Effect::Read,
            "openWorldHint": spec.effect == Effect::Execute,
        },
    });
    let is_object = spec.output_schema.get("type").is_some_and(|kind| kind == "object");
    if let (false, Some(tool)) = (is_object, tool.as_object_mut()) {
        tool.shift_remove("outputSchema");
    }
    tool
}

/// `list_files` is "List files".
fn title(name: &str) -> String {
    let words = name.replace(['_', '-'], " ");
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// The description and the schema of a tool's arguments; integers keep their `format`, by which
/// the arguments are checked.
pub(crate) fn arguments<T: JsonSchema>() -> (String, Value) {
    let settings = settings().for_deserialize();
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    portable::clean(&mut schema, Side::Arguments);
    let description = schema.as_object_mut().and_then(|root| root.shift_remove("description"));
    (description.as_ref().and_then(Value::as_str).map(folded).unwrap_or_default(), schema)
}

/// The schema of a tool's structured answer.
pub(crate) fn output<T: JsonSchema>() -> Value {
    let settings = settings().for_serialize();
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    portable::clean(&mut schema, Side::Output);
    portable::remove_formats(&mut schema);
    schema
}

/// The schema as it is shown: `format` is no part of what all providers understand.
pub(crate) fn without_formats(schema: &Value) -> Value {
    let mut schema = schema.clone();
    portable::remove_formats(&mut schema);
    schema
}

fn settings() -> SchemaSettings {
    SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_the_name_in_words() {
        assert_eq!(title("list_files"), "List files");
        assert_eq!(title("search"), "Search");
        assert_eq!(title(""), "");
    }
}
