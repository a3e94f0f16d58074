//! Skills: directories with a SKILL.md, which tells what they are for and how to go about it.
//!
//! Finding skills reads their front matter only, so that a catalog of hundreds costs little; the
//! text of a skill is read when somebody asks for it. A SKILL.md is input like any other in the
//! tree: nothing in it is trusted, and what is wrong with one never hides the others.

mod catalog;
mod client;
mod directory;
pub(crate) mod envelope;
mod fence;
mod finding;
mod frontmatter;
mod loader;
mod opened;
mod place;
mod prompt;
mod reading;
mod repair;
mod resources;
mod scan;
mod shown;
mod skill;
mod standard;
mod yaml;

pub use catalog::{ShadowedSkill, SkillCatalog};
pub use client::{CLIENT_DIRECTORIES, client_directories};
pub use fence::MAX_FRONTMATTER_BYTES;
pub use finding::{Severity, SkillFinding};
pub use frontmatter::{Frontmatter, parse_frontmatter};
pub use loader::SkillLoader;
pub use opened::MAX_SKILL_BYTES;
pub use prompt::MAX_PROMPT_BYTES;
pub use resources::{MAX_RESOURCES, Resources};
pub use scan::{MAX_DEPTH, MAX_DIRECTORIES, MAX_SKILLS};
pub use skill::Skill;
pub use standard::{MAX_COMPATIBILITY_LEN, MAX_DESCRIPTION_LEN, MAX_NAME_LEN};
