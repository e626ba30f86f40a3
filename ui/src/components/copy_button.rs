//! A text to copy, with a button that copies it.

use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos::wasm_bindgen::JsValue;

use crate::components::toast::Toasts;

#[component]
pub(crate) fn CopyField(label: &'static str, text: String) -> impl IntoView {
    let toasts = Toasts::from_context();
    let shown = text.clone();
    let copied = move |_| copy(toasts, text.clone());
    view! {
        <div class="field">
            <span class="label">{label}</span>
            <div class="copy">
                <code tabindex="0">{shown}</code>
                <button type="button" class="button small" aria-label=format!("Copy: {label}") on:click=copied>"Copy"</button>
            </div>
        </div>
    }
}

/// Copies a text and reports the result.
pub(crate) fn copy(toasts: Toasts, text: String) {
    spawn_local(async move {
        if write_to_clipboard(&text).await {
            toasts.success("Copied.");
        } else {
            toasts.refusal("The browser blocked access to the clipboard", "Select the text and copy it by hand");
        }
    });
}

async fn write_to_clipboard(text: &str) -> bool {
    let navigator = window().navigator();
    // Browsers hide the clipboard on pages that came over plain HTTP from another machine.
    let has_clipboard = js_sys::Reflect::get(&navigator, &JsValue::from_str("clipboard")).is_ok_and(|clipboard| !clipboard.is_undefined());
    has_clipboard && navigator.clipboard().write_text(text).await.is_ok()
}
