use std::fs;
use std::path::{Path, PathBuf};

use ripkit::setup::Setup;
use serde_json::{Value, json};

use crate::harness::blessing;

const MANIFEST: &str = "packaging/manifest.json";
const BEGIN: &str = "\n  \"tools\": [\n";
const END: &str = "\n  ],";

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn text(name: &str) -> String {
    fs::read_to_string(path(name)).unwrap_or_else(|reason| panic!("{name}: {reason}"))
}

fn parsed(name: &str) -> Value {
    serde_json::from_str(&text(name)).unwrap_or_else(|reason| panic!("{name}: {reason}"))
}

#[test]
fn the_bundle_names_the_tools_that_the_server_offers() {
    let directory = tempfile::tempdir().unwrap();
    let opened = Setup::default().open(&[directory.path().to_owned()]).unwrap();
    let entries = opened.toolkit.specs().map(|spec| {
        let sentence = spec.description.split(". ").next().unwrap_or_default();
        let entry = json!({ "name": spec.name, "description": sentence.trim_end_matches('.') });
        format!("    {entry}")
    });
    let wanted = entries.collect::<Vec<_>>().join(",\n");
    let manifest = text(MANIFEST);
    let (before, rest) = manifest.split_once(BEGIN).unwrap();
    let (found, after) = rest.split_once(END).unwrap();
    if blessing() {
        fs::write(path(MANIFEST), format!("{before}{BEGIN}{wanted}{END}{after}")).unwrap();
        return;
    }
    assert!(found == wanted, "BLESS=1 writes the tools into {MANIFEST}:\n{wanted}");
}

#[test]
fn every_package_has_the_version_and_the_repository_of_the_crate() {
    let (version, repository) = (env!("CARGO_PKG_VERSION"), env!("CARGO_PKG_REPOSITORY"));
    let manifest = parsed(MANIFEST);
    assert_eq!(manifest["version"], version);
    assert_eq!(manifest["repository"]["url"], repository);
    assert_eq!(manifest["license"], env!("CARGO_PKG_LICENSE"));
    let server = parsed("packaging/server.json");
    assert_eq!(server["version"], version);
    assert_eq!(server["repository"]["url"], repository);
    assert_eq!(server["description"], manifest["description"]);
    let bundle = server["packages"][0]["identifier"].as_str().unwrap();
    let release = format!("{repository}/releases/download/v{version}/ripkit-{version}-");
    let extension = bundle.rsplit_once('.').map(|(_, extension)| extension);
    assert!(bundle.starts_with(&release) && extension == Some("mcpb"), "{bundle}");
    for name in ["packaging/ripkit.rb.in", "Dockerfile"] {
        assert!(text(name).contains(repository), "{name} names another repository");
    }
    let minor = env!("CARGO_PKG_RUST_VERSION");
    assert!(text("Dockerfile").contains(&format!("/rust:{minor}-")), "not the version {minor}");
}
