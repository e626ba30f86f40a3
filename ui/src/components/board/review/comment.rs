//! A comment on a line: the field for its text, and the comment that waits to be sent.

use domain::board::review::LineComment;
use leptos::html;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use web_sys::{HtmlElement, KeyboardEvent};

use crate::components::board::review::state::{Place, Review};
use crate::components::icon::{CLOSE, Icon, PENCIL};
use crate::draft::{discard, draft_from};

/// The comment at a place, or the field for it.
#[component]
pub(crate) fn Note(place: Place) -> impl IntoView {
    let review = Review::from_context();
    let place = StoredValue::new(place);
    let editing = Memo::new(move |_| place.with_value(|place| review.is_editing(place)));
    let comment = Memo::new(move |_| place.with_value(|place| review.comment_at(place)));
    move || match (editing.get(), comment.get()) {
        (true, comment) => view! { <Editor place=place.get_value() before=comment.map(|comment| comment.text) /> }.into_any(),
        (false, Some(comment)) => view! { <Comment comment=comment /> }.into_any(),
        (false, None) => ().into_any(),
    }
}

#[component]
fn Editor(place: Place, before: Option<String>) -> impl IntoView {
    let review = Review::from_context();
    let key = place.draft_key(&review.task());
    let text = draft_from(&key, before.unwrap_or_default());
    let field = NodeRef::<html::Textarea>::new();
    Effect::new(move || {
        if let Some(field) = field.get() {
            let _focused = field.focus();
        }
    });
    let form_label = format!("Comment on {}", place.label());
    let label = form_label.clone();
    let (key, place) = (StoredValue::new(key), StoredValue::new(place));
    let finish = move |store: bool| {
        let (key, place) = (key.get_value(), place.get_value());
        let text = text.get_untracked();
        if store && text.trim().is_empty() {
            return;
        }
        discard(&key);
        focus_line(&place);
        if store {
            let Place { path, line, side, since } = place;
            review.store_comment(LineComment { path, line, side, since, sha: None, text: text.trim().to_owned() });
        } else {
            review.close_editor(&place);
        }
    };
    let on_key = move |event: KeyboardEvent| match event.key().as_str() {
        "Enter" if event.ctrl_key() || event.meta_key() => {
            event.prevent_default();
            finish(true);
        }
        // A second press closes what is around the field.
        "Escape" if text.with_untracked(|text| text.trim().is_empty()) => {
            event.prevent_default();
            finish(false);
        }
        _ => {}
    };
    view! {
        <form
            class="line-note editing"
            aria-label=form_label
            on:submit=move |event| {
                event.prevent_default();
                finish(true);
            }
        >
            <textarea class="input" rows="2" aria-label=label node_ref=field bind:value=text on:keydown=on_key></textarea>
            <div class="row">
                <span class="faint small-text">"The coder receives it when you send the work back."</span>
                <button type="button" class="button quiet small spacer" on:click=move |_| finish(false)>"Discard"</button>
                <button type="submit" class="button small" disabled=move || text.with(|text| text.trim().is_empty())>
                    "Add comment"
                    <kbd>"Ctrl ↵"</kbd>
                </button>
            </div>
        </form>
    }
}

#[component]
fn Comment(comment: LineComment) -> impl IntoView {
    let review = Review::from_context();
    let place = Place::of(&comment);
    let label = place.label();
    let text = comment.text.clone();
    view! {
        <div class="line-note" role="group" aria-label=format!("Your comment on {label}")>
            <div class="row">
                <strong>"You"</strong>
                <span class="faint small-text">"not sent yet"</span>
                <button
                    type="button"
                    class="button quiet icon small spacer"
                    aria-label=format!("Edit the comment on {label}")
                    on:click=move |_| review.open_editor(place.clone())
                >
                    <Icon drawing=PENCIL />
                </button>
                <button
                    type="button"
                    class="button quiet icon small"
                    aria-label=format!("Remove the comment on {label}")
                    on:click=move |_| review.remove_comment(&comment)
                >
                    <Icon drawing=CLOSE />
                </button>
            </div>
            <p>{text}</p>
        </div>
    }
}

/// The name of a line in the page, by which its button is found.
pub(crate) fn line_name(place: &Place) -> String {
    format!("{:?} {} {}", place.side, place.line, place.path)
}

/// Focuses the button of a line after the next frame.
pub(crate) fn focus_line(place: &Place) {
    let name = line_name(place);
    request_animation_frame(move || {
        let Ok(buttons) = document().query_selector_all("[data-line]") else { return };
        let buttons = (0..buttons.length()).filter_map(|index| buttons.item(index)?.dyn_into::<HtmlElement>().ok());
        let named = |button: &HtmlElement| button.get_attribute("data-line").as_ref() == Some(&name);
        if let Some(button) = buttons.into_iter().find(named) {
            let _focused = button.focus();
        }
    });
}
