//! Toasts: short messages about refusals, with the next legal step, and about finished actions.

use std::time::Duration;

use leptos::html::Div;
use leptos::prelude::*;

use crate::change::Outcome;
use crate::components::badge::Tone;
use crate::components::icon::{ALERT, CLOSE, DONE, Icon};
use crate::components::inline_code::{InlineCode, sentence};

const SUCCESS_SECONDS: u64 = 5;
/// Longer, because a refusal has more to read.
const REFUSAL_SECONDS: u64 = 12;
/// How long an action can be undone.
const UNDO_SECONDS: u64 = 10;
/// More toasts would cover the board.
const MAX_TOASTS: usize = 4;

#[derive(Debug, Clone)]
struct Toast {
    id: u64,
    tone: Tone,
    text: String,
    hint: String,
    undo: Option<Callback<()>>,
}

/// The toasts on screen.
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

    pub(crate) fn from_context() -> Self {
        expect_context()
    }

    /// Reports a finished action.
    pub(crate) fn success(self, text: impl Into<String>) {
        self.push(Tone::Good, text.into(), String::new(), None, SUCCESS_SECONDS);
    }

    /// Reports a finished action that can be undone for some seconds.
    pub(crate) fn undoable(self, text: impl Into<String>, undo: Callback<()>) {
        self.push(Tone::Good, text.into(), String::new(), Some(undo), UNDO_SECONDS);
    }

    /// Reports the answers to the changes of one or several tasks, with the way back if there is one.
    pub(crate) fn report(self, outcome: &Outcome, undo: Option<Callback<()>>) {
        match (outcome.is_refused(), undo) {
            (true, undo) => self.push(Tone::Bad, sentence(&outcome.heading()), outcome.details(), undo, REFUSAL_SECONDS),
            (false, Some(undo)) => self.undoable(outcome.heading(), undo),
            (false, None) if outcome.first().is_some() => self.success(outcome.heading()),
            (false, None) => {}
        }
    }

    /// Removes what only belongs to the page that the reader leaves. Refusals stay, because they have more to read.
    pub(crate) fn leave_page(self) {
        self.shown.update(|shown| shown.retain(|toast| toast.tone == Tone::Bad || toast.undo.is_some()));
    }

    /// Reports a refused action and the next step.
    pub(crate) fn refusal(self, text: &str, hint: &str) {
        self.push(Tone::Bad, sentence(text), sentence(hint), None, REFUSAL_SECONDS);
    }

    fn push(self, tone: Tone, text: String, hint: String, undo: Option<Callback<()>>, seconds: u64) {
        let id = self.next.get_value();
        self.next.set_value(id + 1);
        self.shown.update(|shown| {
            shown.retain(|toast| toast.text != text);
            shown.push(Toast { id, tone, text, hint, undo });
            let surplus = shown.len().saturating_sub(MAX_TOASTS);
            shown.drain(..surplus);
        });
        set_timeout(move || self.dismiss(id), Duration::from_secs(seconds));
    }

    fn dismiss(self, id: u64) {
        self.shown.update(|shown| shown.retain(|toast| toast.id != id));
    }
}

/// Shows the toasts above everything else, dialogs included.
#[component]
pub(crate) fn ToastStack() -> impl IntoView {
    let toasts = Toasts::from_context();
    let stack = NodeRef::<Div>::new();
    Effect::new(move || {
        let empty = toasts.shown.with(Vec::is_empty);
        if let Some(stack) = stack.get() {
            // Hide and show again, because a dialog may have entered the top layer above the toasts.
            let _was_hidden = stack.hide_popover();
            if !empty {
                let _shown = stack.show_popover();
            }
        }
    });
    view! {
        <div class="toasts" popover="manual" node_ref=stack role="log" aria-live="polite" aria-label="Notifications">
            <For each=move || toasts.shown.get() key=|toast| toast.id let:toast>
                <div class="toast" data-tone=toast.tone.as_str()>
                    <Icon drawing=if toast.tone == Tone::Bad { ALERT } else { DONE } />
                    <div>
                        <p><InlineCode text=toast.text /></p>
                        {(!toast.hint.is_empty()).then(|| view! { <p><InlineCode text=toast.hint.clone() /></p> })}
                    </div>
                    {toast.undo.map(|undo| view! {
                        <button
                            type="button"
                            class="button small"
                            on:click=move |_| {
                                toasts.dismiss(toast.id);
                                undo.run(());
                            }
                        >
                            "Undo"
                        </button>
                    })}
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
