//! Skills as resources: `skill://NAME/SKILL.md`, and the files beside it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{
    ErrorData, ReadResourceResult, Resource, ResourceContents, Skill, SkillFrontmatter,
    SkillResource, SkillResources as Manifest,
};
use tokio::task::spawn_blocking;

use crate::error::Error;
use crate::skills::{self, SkillCatalog};

const SCHEME: &str = "skill://";
const NAME: &str = "SKILL.md";
const MARKDOWN: &str = "text/markdown";

/// The skills of one catalog.
pub(super) struct SkillResources(SkillCatalog);

impl SkillResources {
    pub(super) fn new(catalog: SkillCatalog) -> SkillResources {
        SkillResources(catalog)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The SKILL.md of each skill; the files beside it are read without being listed here.
    pub(super) fn resources(&self) -> Vec<Resource> {
        self.0.skills().iter().filter(|skill| is_plain(skill.name())).map(resource).collect()
    }

    /// What the extension for skills tells of each, as the files are now.
    pub(super) async fn list(&self) -> Result<Vec<Skill>, ErrorData> {
        let catalog = self.0.clone();
        let listed =
            move || catalog.skills().iter().filter_map(|skill| entry(skill).ok()).collect();
        spawn_blocking(listed).await.map_err(|_| panicked())
    }

    /// The same of one, by the URI of its SKILL.md.
    pub(super) async fn get(&self, uri: String) -> Result<Skill, ErrorData> {
        let catalog = self.0.clone();
        let found = move || {
            let (skill, path) = find(&catalog, &uri).ok_or_else(|| unknown(&uri))?;
            if path != NAME {
                return Err(unknown(&uri));
            }
            entry(skill).map_err(|error| unreadable(&error))
        };
        spawn_blocking(found).await.map_err(|_| panicked())?
    }

    /// The content of a file of a skill.
    pub(super) async fn read(&self, uri: String) -> Result<ReadResourceResult, ErrorData> {
        let catalog = self.0.clone();
        let read = move || {
            let (skill, path) = find(&catalog, &uri).ok_or_else(|| unknown(&uri))?;
            let bytes = skill.bytes_of(&path).map_err(|error| unreadable(&error))?;
            let contents = match String::from_utf8(bytes) {
                Ok(text) if is_markdown(&path) => {
                    ResourceContents::text(text, uri).with_mime_type(MARKDOWN)
                }
                Ok(text) => ResourceContents::text(text, uri),
                Err(error) => ResourceContents::blob(STANDARD.encode(error.as_bytes()), uri),
            };
            Ok(ReadResourceResult::new(vec![contents]))
        };
        spawn_blocking(read).await.map_err(|_| panicked())?
    }
}

fn resource(skill: &skills::Skill) -> Resource {
    Resource::new(uri(skill, NAME), skill.name())
        .with_description(skill.description())
        .with_mime_type(MARKDOWN)
}

/// A skill with the digests of all its files; of one with more files than are listed, or with
/// files that cannot be read, it is only said that they change.
fn entry(skill: &skills::Skill) -> Result<Skill, Error> {
    let frontmatter = skill.frontmatter();
    let mut told = SkillFrontmatter::new(skill.name(), skill.description());
    for (key, value) in frontmatter.fields() {
        if key != "name" && key != "description" {
            told = told.with_field(key.clone(), value.clone());
        }
    }
    let mut files = vec![file(skill, NAME)?];
    let resources = skill.resources()?;
    let read: Result<Vec<_>, _> = resources.files.iter().map(|path| file(skill, path)).collect();
    let manifest = match read {
        Ok(read) if !resources.has_more => {
            files.extend(read);
            Manifest::Files(files)
        }
        _ => Manifest::Dynamic,
    };
    Ok(Skill::new(uri(skill, NAME), told, manifest))
}

fn file(skill: &skills::Skill, path: &str) -> Result<SkillResource, Error> {
    Ok(SkillResource::from_bytes(uri(skill, path), &skill.bytes_of(path)?))
}

fn uri(skill: &skills::Skill, path: &str) -> String {
    format!("{SCHEME}{}/{}", skill.name(), encoded(path))
}

/// The skill and the path in it that a URI names.
fn find<'a>(catalog: &'a SkillCatalog, uri: &str) -> Option<(&'a skills::Skill, String)> {
    let (name, path) = uri.strip_prefix(SCHEME)?.split_once('/')?;
    let skill = catalog.by_name(name).filter(|skill| is_plain(skill.name()))?;
    Some((skill, decoded(path)?))
}

/// Whether a name stands in a URI as it is.
fn is_plain(name: &str) -> bool {
    name.bytes().all(is_unreserved)
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

fn is_markdown(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, extension)| extension.eq_ignore_ascii_case("md"))
}

fn encoded(path: &str) -> String {
    let one = |byte: u8| match byte {
        b'/' => "/".to_owned(),
        byte if is_unreserved(byte) => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    path.bytes().map(one).collect()
}

fn decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut pieces = path.split('%');
    bytes.extend_from_slice(pieces.next()?.as_bytes());
    for piece in pieces {
        let (digits, rest) = piece.split_at_checked(2)?;
        let is_hexadecimal = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        bytes.push(u8::from_str_radix(digits, 16).ok().filter(|_| is_hexadecimal)?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).ok()
}

fn unknown(uri: &str) -> ErrorData {
    ErrorData::invalid_params(format!("there is no resource {uri}"), None)
}

fn unreadable(error: &Error) -> ErrorData {
    ErrorData::invalid_params(error.to_string(), None)
}

fn panicked() -> ErrorData {
    ErrorData::internal_error("reading the skills failed unexpectedly", None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_survives_the_way_through_a_uri() {
        for path in ["SKILL.md", "a b/ä%.md", "x?y#z", "100%", "a/../b"] {
            assert_eq!(decoded(&encoded(path)).as_deref(), Some(path));
        }
        assert_eq!(encoded("a b/ä"), "a%20b/%C3%A4");
        for wrong in ["%", "%4", "%zz", "%+1", "%ff"] {
            assert_eq!(decoded(wrong), None, "{wrong}");
        }
    }
}
