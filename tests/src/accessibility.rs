//! Checks an open page with axe-core, and looks for content that is cut off. It must not know any page of the product.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::browser::Browser;

/// The version that `tests/run` installs.
pub const AXE_VERSION: &str = "4.14.1";

/// The library is not installed.
#[derive(Debug, thiserror::Error)]
#[error("axe-core {AXE_VERSION} was not found: run `npm install --prefix target/tools/axe axe-core@{AXE_VERSION}`")]
pub struct NotFound;

/// The elements whose content is wider than they are and cannot be scrolled to. Text that ends in an ellipsis says that it is cut off.
const CLIPPED: &str = "[...document.querySelectorAll('body, body *')].filter((element) => {
    const style = getComputedStyle(element);
    const hides = ['hidden', 'clip'].includes(style.overflowX) && style.textOverflow !== 'ellipsis' && style.webkitLineClamp === 'none';
    return hides && element.clientWidth > 1 && element.scrollWidth > element.clientWidth + 1 && !element.closest('.visually-hidden');
}).map((element) => `${element.tagName}.${element.className} is ${element.scrollWidth} wide in ${element.clientWidth}`)";

/// Runs with the page's own clock, so it is asynchronous.
const RUN: &str = "const done = arguments[arguments.length - 1];
axe.run(document, { resultTypes: ['violations'] }).then(
    (result) => done(result.violations.map((found) => `${found.id}: ${found.nodes.map((node) => node.target.join(' ')).join(', ')}`)),
    (error) => done([String(error)]));";

/// The script of axe-core.
///
/// # Errors
/// It is not installed. The error says how to install it.
pub fn axe() -> Result<String, NotFound> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/tools/axe/node_modules/axe-core");
    let file: PathBuf = folder.join("axe.min.js");
    std::fs::read_to_string(file).map_err(|_| NotFound)
}

/// The violations that axe-core finds on the open page, each with the elements that it is about.
///
/// # Panics
/// The page fails.
pub async fn violations(browser: &Browser, axe: &str) -> Vec<String> {
    if browser.evaluate("typeof axe === 'undefined'").await == true {
        browser.run(axe).await;
    }
    strings(&browser.run_async(RUN).await)
}

/// The elements of the open page whose content is cut off.
///
/// # Panics
/// The page fails.
pub async fn clipped(browser: &Browser) -> Vec<String> {
    strings(&browser.evaluate(CLIPPED).await)
}

fn strings(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned)).collect()
}
