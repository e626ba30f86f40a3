//! A modal dialog. The browser traps the focus, and closing the dialog restores it.

use leptos::html;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use web_sys::{HtmlElement, HtmlInputElement, HtmlTextAreaElement};

use crate::components::icon::{CLOSE, Icon};

/// Open for as long as it is part of the page; `close` must remove it.
#[component]
pub(crate) fn Dialog(#[prop(into)] title: String, close: Callback<()>, children: Children) -> impl IntoView {
    let dialog = NodeRef::<html::Dialog>::new();
    let heading = title.clone();
    let before = StoredValue::new_local(focused());
    Effect::new(move || {
        if let Some(dialog) = dialog.get().filter(|dialog| !dialog.open()) {
            // Fails only if the dialog is no longer part of the page.
            let _shown = dialog.show_modal();
        }
    });
    on_cleanup(move || {
        let before = before.try_get_value().flatten();
        request_animation_frame(move || restore_focus(before.as_ref()));
    });
    view! {
        <dialog
            class="dialog"
            node_ref=dialog
            aria-label=title
            on:cancel=move |event: web_sys::Event| {
                event.prevent_default();
                close.run(());
            }
            on:mousedown=move |event| {
                // A press on the backdrop targets the dialog element itself.
                let hit = event.target().and_then(|target| target.dyn_into::<web_sys::HtmlDialogElement>().ok());
                let on_backdrop = hit.is_some_and(|hit| dialog.get_untracked().is_some_and(|dialog| dialog == hit));
                // A click beside a dialog must not hide what was typed in it.
                if on_backdrop && !dialog.get_untracked().is_some_and(|dialog| has_typed_text(&dialog)) {
                    close.run(());
                }
            }
        >
            <div class="dialog-body">
                // No landmarks, because a dialog may be drawn within one.
                <div class="dialog-head">
                    <h1>{heading}</h1>
                    <button type="button" class="button quiet icon" aria-label="Close" on:click=move |_| close.run(())>
                        <Icon drawing=CLOSE />
                    </button>
                </div>
                {children()}
            </div>
        </dialog>
    }
}

/// Whether a field for text in the dialog is filled.
fn has_typed_text(dialog: &HtmlElement) -> bool {
    let Ok(fields) = dialog.query_selector_all("textarea, input:not([type=radio], [type=checkbox])") else { return false };
    (0..fields.length()).filter_map(|index| fields.item(index)).any(|field| {
        let input = field.dyn_ref::<HtmlInputElement>().map(HtmlInputElement::value);
        input.or_else(|| field.dyn_ref::<HtmlTextAreaElement>().map(HtmlTextAreaElement::value)).is_some_and(|value| !value.is_empty())
    })
}

pub(crate) fn focused() -> Option<HtmlElement> {
    document().active_element().and_then(|element| element.dyn_into().ok())
}

/// Restores the focus unless another element has it.
pub(crate) fn restore_focus(before: Option<&HtmlElement>) {
    let is_free = focused().is_none_or(|element| element.tag_name() == "BODY");
    if let Some(before) = before.filter(|before| is_free && before.is_connected()) {
        let _focused = before.focus();
    }
}
