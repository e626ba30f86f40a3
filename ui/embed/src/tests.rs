//! The page and the files that it names.

use super::{ASSETS, asset, index};

/// Every `/assets/…` path in the page.
fn named_by_the_page() -> Vec<&'static str> {
    let page = std::str::from_utf8(index().unwrap().bytes).unwrap();
    page.split('"').filter(|part| part.starts_with("/assets/")).collect()
}

#[test]
fn page_names_exactly_the_bundled_files() {
    let mut named = named_by_the_page();
    named.sort_unstable();
    named.dedup();
    let mut bundled: Vec<_> = ASSETS.iter().map(|asset| asset.path).filter(|path| *path != "/").collect();
    bundled.sort_unstable();
    assert_eq!(named, bundled);
}

#[test]
fn all_files_except_the_page_are_immutable() {
    for file in ASSETS {
        assert_eq!(file.immutable, file.path != "/", "{}", file.path);
        assert!(file.etag.starts_with('"') && file.etag.ends_with('"'), "{}", file.etag);
    }
}

#[test]
fn unknown_path_has_no_asset() {
    assert_eq!(asset("/assets/board.js"), None);
    assert_eq!(asset("/assets/../index.html"), None);
}

#[test]
fn page_has_no_inline_code() {
    let page = std::str::from_utf8(index().unwrap().bytes).unwrap();
    assert!(!page.contains("style="), "inline style");
    assert!(!page.contains("<style"), "inline style sheet");
    assert!(page.matches("<script").count() == page.matches("<script src=").count(), "inline script");
}
