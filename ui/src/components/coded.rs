//! Words of the server as they are shown: as whole sentences, with `commands` set as code.

use leptos::prelude::*;

#[component]
pub(crate) fn Coded(#[prop(into)] text: String) -> impl IntoView {
    // Every second part stood between backquotes.
    text.split('`')
        .enumerate()
        .map(|(place, part)| match place % 2 {
            0 => part.to_owned().into_any(),
            _ => view! { <code>{part.to_owned()}</code> }.into_any(),
        })
        .collect_view()
}

/// With a capital letter and a full stop, as it stands alone here.
pub(crate) fn sentence(text: &str) -> String {
    let text = text.trim();
    let mut letters = text.chars();
    let Some(first) = letters.next() else { return String::new() };
    let stop = if text.ends_with(['.', '!', '?', ':']) { "" } else { "." };
    // Names like `main` or TASK-001 keep their spelling; a plain word gets its capital.
    let word = text.split(' ').next().unwrap_or_default();
    let plain = word.chars().all(char::is_lowercase);
    let head = if plain { first.to_uppercase().to_string() } else { first.to_string() };
    format!("{head}{}{stop}", letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::sentence;

    #[test]
    fn messages_read_as_sentences() {
        assert_eq!(sentence("no plan waits for approval"), "No plan waits for approval.");
        assert_eq!(sentence("TASK-001 has no commit"), "TASK-001 has no commit.");
        assert_eq!(sentence("title: it is empty"), "title: it is empty.");
        assert_eq!(sentence("Wait for them."), "Wait for them.");
        assert_eq!(sentence(""), "");
    }
}
