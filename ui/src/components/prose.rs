//! The text of a person or an agent: as Markdown, and as written until the server has rendered it.

use leptos::prelude::*;

use crate::markdown::{Markdown, is_plain};

#[component]
pub(crate) fn Prose(#[prop(into)] text: String) -> impl IntoView {
    let written = |text: String| view! { <div class="prose"><p class="as-written" dir="auto">{text}</p></div> };
    if is_plain(&text) {
        return written(text).into_any();
    }
    let html = Markdown::from_context().html(&text);
    (move || match html.get() {
        Some(html) => view! { <div class="prose" inner_html=html></div> }.into_any(),
        None => written(text.clone()).into_any(),
    })
    .into_any()
}

/// A text that is longer than this shows only its beginning at first, in characters.
const MAX_BEGINNING: usize = 450;

/// A text, of which only the beginning is shown at first if it is long.
#[component]
pub(crate) fn LongProse(text: String) -> impl IntoView {
    let Some(beginning) = beginning(&text) else { return view! { <Prose text=text /> }.into_any() };
    let open = RwSignal::new(false);
    let texts = StoredValue::new((beginning, text));
    view! {
        {move || {
            let shown = texts.with_value(|(beginning, text)| if open.get() { text.clone() } else { beginning.clone() });
            view! { <Prose text=shown /> }
        }}
        <button type="button" class="button quiet small" aria-expanded=move || open.get().to_string() on:click=move |_| open.update(|open| *open = !*open)>
            {move || if open.get() { "Show less" } else { "Show all" }}
        </button>
    }
    .into_any()
}

/// The beginning of a long text: whole lines if there are several.
fn beginning(text: &str) -> Option<String> {
    let (end, _) = text.char_indices().nth(MAX_BEGINNING)?;
    // A little more than the beginning is not worth a button.
    text.char_indices().nth(MAX_BEGINNING * 4 / 3)?;
    let cut = &text[..end];
    Some(match cut.rfind('\n').filter(|line| *line > end / 2) {
        Some(line) => format!("{}\n\n…", cut[..line].trim_end()),
        None => format!("{}…", cut.trim_end()),
    })
}

/// A button that shows a text as others will read it, instead of the field.
#[component]
pub(crate) fn PreviewButton(text: RwSignal<String>, previewing: RwSignal<bool>) -> impl IntoView {
    // A sent or discarded text has no preview.
    Effect::new(move || {
        if text.with(String::is_empty) && previewing.get_untracked() {
            previewing.set(false);
        }
    });
    view! {
        <button
            type="button"
            class="button quiet small"
            aria-pressed=move || previewing.get().to_string()
            disabled=move || text.with(|text| text.trim().is_empty())
            on:click=move |_| previewing.update(|previewing| *previewing = !*previewing)
        >
            "Preview"
        </button>
    }
}

/// The rendered text of a field, while `previewing`.
#[component]
pub(crate) fn Preview(text: RwSignal<String>, previewing: RwSignal<bool>) -> impl IntoView {
    move || previewing.get().then(|| view! { <div class="preview" tabindex="0" role="region" aria-label="Preview"><Prose text=text.get() /></div> })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_begins_with_whole_lines() {
        assert_eq!(beginning("short"), None);
        assert_eq!(beginning(&"ä".repeat(MAX_BEGINNING * 4 / 3)), None, "a little more is shown at once");
        let lines = "0123456789\n".repeat(100);
        let cut = beginning(&lines).expect("it is long");
        assert!(cut.ends_with("0123456789\n\n…") && cut.chars().count() <= MAX_BEGINNING + 3, "{cut}");
        let one = beginning(&"ä".repeat(1_000)).expect("it is long");
        assert_eq!(one.chars().filter(|letter| *letter == 'ä').count(), MAX_BEGINNING);
    }
}
