//! Sentences of the server for display, with `commands` set as code.

use leptos::prelude::*;

#[component]
pub(crate) fn InlineCode(#[prop(into)] text: String) -> impl IntoView {
    // Every second part was between backquotes.
    text.split('`')
        .enumerate()
        .map(|(index, part)| match index % 2 {
            0 => part.to_owned().into_any(),
            _ => view! { <code>{part.to_owned()}</code> }.into_any(),
        })
        .collect_view()
}

/// Adds a capital letter and a full stop.
pub(crate) fn sentence(text: &str) -> String {
    let text = text.trim();
    let mut letters = text.chars();
    let Some(first) = letters.next() else { return String::new() };
    let stop = if text.ends_with(['.', '!', '?', ':']) { "" } else { "." };
    // Ids such as TASK-001 keep their spelling; a plain English word gets a capital.
    let word = text.split(' ').next().unwrap_or_default();
    let plain = word.bytes().all(|letter| letter.is_ascii_lowercase());
    let head = if plain { first.to_ascii_uppercase() } else { first };
    format!("{head}{}{stop}", letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::sentence;

    #[test]
    fn sentence_has_a_capital_and_a_stop() {
        assert_eq!(sentence("no plan waits for approval"), "No plan waits for approval.");
        assert_eq!(sentence("TASK-001 has no commit"), "TASK-001 has no commit.");
        assert_eq!(sentence("title: it is empty"), "title: it is empty.");
        assert_eq!(sentence("Wait for them."), "Wait for them.");
        assert_eq!(sentence(""), "");
    }
}
