//! The page and the files that it names.

use super::ASSETS;

/// The files whose address stays when they change.
const FIXED: [&str; 2] = ["/", "/manifest.webmanifest"];

fn text(path: &str) -> &'static str {
    ASSETS.iter().find(|asset| asset.path == path).map_or("", |asset| std::str::from_utf8(asset.bytes).unwrap())
}

/// Every `/assets/…` path in the page and its manifest.
fn named_by_the_page() -> Vec<String> {
    FIXED.iter().flat_map(|path| text(path).split('"')).filter(|part| part.starts_with("/assets/")).map(str::to_owned).collect()
}

/// The paths of the parts of the code, which the script that loads them names.
fn named_by_the_loader() -> Vec<String> {
    let Some(loader) = ASSETS.iter().find(|asset| asset.path.ends_with("/parts.js")) else { return Vec::new() };
    let folder = loader.path.trim_end_matches("parts.js");
    let parts = text(loader.path).split('"').filter_map(|part| part.strip_prefix("./")).filter(|part| part.ends_with(".wasm"));
    parts.map(|part| format!("{folder}{part}")).collect()
}

#[test]
fn page_manifest_and_loader_name_exactly_the_bundled_files() {
    let mut named = named_by_the_page();
    named.extend(named_by_the_loader());
    named.sort_unstable();
    named.dedup();
    let mut bundled: Vec<_> = ASSETS.iter().map(|asset| asset.path).filter(|path| !FIXED.contains(path)).collect();
    bundled.sort_unstable();
    assert_eq!(named, bundled);
}

#[test]
fn all_files_with_a_hash_in_their_name_are_immutable() {
    for file in ASSETS {
        assert_eq!(file.immutable, !FIXED.contains(&file.path), "{}", file.path);
        assert!(file.etag.starts_with('"') && file.etag.ends_with('"'), "{}", file.etag);
    }
}

/// The width and height of a PNG.
fn size(png: &[u8]) -> (u32, u32) {
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n") && &png[12..16] == b"IHDR", "not a PNG");
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

/// Reads the sources, because a build without the board has no manifest.
#[test]
fn manifest_names_icons_of_the_sizes_that_they_have() {
    let ui = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let manifest = std::fs::read_to_string(ui.join("manifest.webmanifest")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!((&manifest["start_url"], &manifest["display"]), (&"/needs-you".into(), &"standalone".into()));
    let mut seen = Vec::new();
    for icon in manifest["icons"].as_array().unwrap() {
        let field = |name: &str| icon[name].as_str().unwrap();
        let bytes = std::fs::read(ui.join("style").join(field("src").trim_matches(['{', '}']))).unwrap();
        if field("type") == "image/png" {
            let (width, height) = size(&bytes);
            assert_eq!(field("sizes"), format!("{width}x{height}"), "{}", field("src"));
            assert!(bytes.len() < 25_000, "{} has {} bytes", field("src"), bytes.len());
        }
        seen.push(format!("{} {} {}", field("type"), field("sizes"), field("purpose")));
    }
    assert_eq!(seen, ["image/png 192x192 any", "image/png 512x512 any", "image/png 512x512 maskable", "image/svg+xml any any"]);
    assert_eq!(size(&std::fs::read(ui.join("style/icon-touch.png")).unwrap()), (180, 180));
    let page = std::fs::read_to_string(ui.join("index.html")).unwrap();
    assert!(page.contains(r#"<link rel="manifest" href="/manifest.webmanifest">"#) && page.contains(r#"rel="apple-touch-icon""#));
}

#[test]
fn page_has_no_inline_code() {
    let page = text("/");
    assert!(!page.contains(" style="), "inline style");
    assert!(!page.contains("<style"), "inline style sheet");
    assert!(page.matches("<script").count() == page.matches("<script src=").count(), "inline script");
}
