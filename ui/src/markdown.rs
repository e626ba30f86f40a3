//! Markdown, rendered by the server: texts of one frame in one request, and each text once.
//!
//! Must not know what a text is for.

use std::collections::HashMap;

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::client::Client;

/// Texts of one request, as the server allows.
const BATCH: usize = 200;
/// Rendered texts that are kept. More would cost memory on a page that stays open for days.
const CAPACITY: usize = 2_000;

type Html = ArcRwSignal<Option<String>>;

#[derive(Clone, Copy)]
pub(crate) struct Markdown {
    client: Client,
    known: StoredValue<HashMap<String, Html>>,
    waiting: StoredValue<Vec<String>>,
}

impl Markdown {
    pub(crate) fn provide(client: Client) {
        provide_context(Self { client, known: StoredValue::new(HashMap::new()), waiting: StoredValue::new(Vec::new()) });
    }

    pub(crate) fn from_context() -> Self {
        expect_context()
    }

    /// The HTML of a text: none until the server has rendered it.
    pub(crate) fn html(self, text: &str) -> Html {
        if let Some(known) = self.known.with_value(|known| known.get(text).cloned()) {
            return known;
        }
        let html = Html::new(None);
        self.known.update_value(|known| {
            if known.len() >= CAPACITY {
                known.clear();
            }
            known.insert(text.to_owned(), html.clone());
        });
        let is_first = self.waiting.try_update_value(|waiting| {
            waiting.push(text.to_owned());
            waiting.len() == 1
        });
        if is_first == Some(true) {
            request_animation_frame(move || self.request());
        }
        html
    }

    fn request(self) {
        let waiting = self.waiting.try_update_value(std::mem::take).unwrap_or_default();
        for batch in waiting.chunks(BATCH).map(<[String]>::to_vec) {
            spawn_local(async move {
                let rendered = self.client.markdown(batch.clone()).await;
                let Some(known) = self.known.try_update_value(|known| match rendered {
                    Ok(rendered) => batch.iter().zip(rendered.html).filter_map(|(text, html)| Some((known.get(text)?.clone(), html))).collect(),
                    // They stay as written until they are shown again.
                    Err(_) => {
                        batch.iter().for_each(|text| drop(known.remove(text)));
                        Vec::new()
                    }
                }) else {
                    return;
                };
                known.into_iter().for_each(|(signal, html)| signal.set(Some(html)));
            });
        }
    }
}

/// Whether the text looks the same without rendering, which most answers and messages do.
pub(crate) fn is_plain(text: &str) -> bool {
    let has_markup =
        text.contains(['*', '_', '`', '#', '[', ']', '|', '~', '<', '>', '&', '\\', '\n']) || text.contains("://") || text.contains("TASK-");
    !has_markup && text.starts_with(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::is_plain;

    #[test]
    fn text_without_markup_is_plain() {
        assert!(is_plain("Yes, use the first one (it is shorter)."));
        assert!(is_plain("שלום"));
        for text in ["- a list", "1. one", "a `b`", "*a*", "a\n\nb", "https://example.org", "see TASK-001", "", " code", "a & b"] {
            assert!(!is_plain(text), "{text}");
        }
    }
}
