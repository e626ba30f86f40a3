//! Parameters in the address that belong to the state of a page, such as its open tab, so that a link shows the same.
//!
//! Must not know the pages: `route` does.

use leptos::prelude::*;
use leptos::wasm_bindgen::JsValue;
use web_sys::UrlSearchParams;

/// The value of a parameter, unless it is empty.
pub(crate) fn parameter(name: &str) -> Option<String> {
    current()?.get(name).filter(|value| !value.is_empty())
}

/// Sets or removes a parameter without an entry in the browser's history.
pub(crate) fn set_parameter(name: &str, value: Option<&str>) {
    let (Some(parameters), Ok(path)) = (current(), window().location().pathname()) else { return };
    match value.filter(|value| !value.is_empty()) {
        Some(value) => parameters.set(name, value),
        None => parameters.delete(name),
    }
    let query = String::from(parameters.to_string());
    let separator = if query.is_empty() { "" } else { "?" };
    if let Ok(history) = window().history() {
        // Browsers limit the rate of history changes. The page shows its state anyway.
        let _unchanged_address = history.replace_state_with_url(&JsValue::NULL, "", Some(&format!("{path}{separator}{query}")));
    }
}

fn current() -> Option<UrlSearchParams> {
    UrlSearchParams::new_with_str(&window().location().search().ok()?).ok()
}
