//! Short messages at the edge of the screen: what was refused and the next legal step, what was done.

use std::time::Duration;

use leptos::html::Div;
use leptos::prelude::*;

use crate::components::badge::Tone;
use crate::components::coded::{Coded, sentence};
use crate::components::icon::{ALERT, CLOSE, DONE, Icon};

/// How long a message stays. A refusal has more to read.
const NEWS_SECONDS: u64 = 5;
const REFUSAL_SECONDS: u64 = 12;
/// More than this covers the board.
const MOST: usize = 4;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Toast {
    id: u64,
    tone: Tone,
    text: String,
    hint: String,
}

/// The messages on screen.
#[derive(Clone, Copy)]
pub(crate) struct Toasts {
    shown: RwSignal<Vec<Toast>>,
    next: StoredValue<u64>,
}

impl Toasts {
    pub(crate) fn provide() -> Self {
        let toasts = Self { shown: RwSignal::new(Vec::new()), next: StoredValue::new(0) };
        provide_context(toasts);
        toasts
    }

    pub(crate) fn here() -> Self {
        expect_context()
    }

    /// Something was done.
    pub(crate) fn news(self, text: impl Into<String>) {
        self.push(Tone::Good, text.into(), String::new(), NEWS_SECONDS);
    }

    /// Something was not done, and what to do instead.
    pub(crate) fn refusal(self, text: &str, hint: &str) {
        self.push(Tone::Bad, sentence(text), sentence(hint), REFUSAL_SECONDS);
    }

    fn push(self, tone: Tone, text: String, hint: String, seconds: u64) {
        let id = self.next.get_value();
        self.next.set_value(id + 1);
        self.shown.update(|shown| {
            shown.retain(|toast| toast.text != text);
            shown.push(Toast { id, tone, text, hint });
            let surplus = shown.len().saturating_sub(MOST);
            shown.drain(..surplus);
        });
        set_timeout(move || self.dismiss(id), Duration::from_secs(seconds));
    }

    fn dismiss(self, id: u64) {
        self.shown.update(|shown| shown.retain(|toast| toast.id != id));
    }
}

/// Draws the messages above everything else, dialogs included, and reads them out.
#[component]
pub(crate) fn ToastStack() -> impl IntoView {
    let toasts = Toasts::here();
    let stack = NodeRef::<Div>::new();
    Effect::new(move || {
        let empty = toasts.shown.with(Vec::is_empty);
        if let Some(stack) = stack.get() {
            // Shown anew each time: the last one to enter the top layer is the highest, and a dialog may have come between.
            let _was_hidden = stack.hide_popover();
            if !empty {
                let _shown = stack.show_popover();
            }
        }
    });
    view! {
        <div class="toasts" popover="manual" node_ref=stack role="log" aria-live="polite" aria-label="Notices">
            <For each=move || toasts.shown.get() key=|toast| toast.id let:toast>
                <div class="toast" data-tone=toast.tone.as_str()>
                    <Icon drawing=if toast.tone == Tone::Bad { ALERT } else { DONE } />
                    <div>
                        <p><Coded text=toast.text /></p>
                        {(!toast.hint.is_empty()).then(|| view! { <p><Coded text=toast.hint.clone() /></p> })}
                    </div>
                    <button
                        type="button"
                        class="button quiet small icon"
                        aria-label="Dismiss"
                        on:click=move |_| toasts.dismiss(toast.id)
                    >
                        <Icon drawing=CLOSE />
                    </button>
                </div>
            </For>
        </div>
    }
}
