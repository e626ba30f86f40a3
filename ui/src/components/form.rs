//! A form in a dialog: its fields, and a button that sends them once. A refusal keeps the typed text.
//!
//! Must not know what it sends.

use std::fmt::Display;

use leptos::prelude::*;
use web_sys::SubmitEvent;

use crate::client::{Client, Failure};
use crate::components::prose::{Preview, PreviewButton};

/// The request of a form, one at a time.
#[derive(Clone, Copy)]
pub(crate) struct Sending {
    client: Client,
    busy: RwSignal<bool>,
}

impl Sending {
    pub(crate) fn new() -> Self {
        Self { client: Client::from_context(), busy: RwSignal::new(false) }
    }

    /// Sends a request. `then` receives the answer if the form is still open, and a refusal becomes a toast.
    pub(crate) fn run<T: 'static>(self, request: impl Future<Output = Result<T, Failure>> + 'static, then: impl FnOnce(T) + 'static) {
        self.busy.set(true);
        self.client.watch(request, move |result| {
            if let Some(answer) = answer_if_open(self.busy, result) {
                then(answer);
            }
        });
    }

    pub(crate) fn is_busy(self) -> bool {
        self.busy.get()
    }
}

/// Clears `busy` and returns the answer. A closed form gets none, because its answer would close another form.
fn answer_if_open<T>(busy: RwSignal<bool>, result: Result<T, Failure>) -> Option<T> {
    let open = busy.try_set(false).is_none();
    result.ok().filter(|_| open)
}

#[component]
pub(crate) fn Form(
    /// The text of the submit button.
    #[prop(into)]
    verb: String,
    /// Whether the form is complete.
    #[prop(into, default = true.into())]
    ready: Signal<bool>,
    sending: Sending,
    /// Called when the form is complete and no request is under way.
    #[prop(into)]
    submit: Callback<()>,
    close: Callback<()>,
    /// The text and action of a second button.
    #[prop(optional_no_strip)]
    secondary: Option<(&'static str, Callback<()>)>,
    /// Whether the action is destructive.
    #[prop(optional)]
    danger: bool,
    children: Children,
) -> impl IntoView {
    let open = move || ready.get() && !sending.is_busy();
    view! {
        <form autocomplete="off" on:submit=move |event: SubmitEvent| {
            event.prevent_default();
            if untrack(open) {
                submit.run(());
            }
        }>
            {children()}
            <div class="dialog-foot">
                // "Cancel" is an action on tasks, so this button needs another word.
                <button type="button" class="button" on:click=move |_| close.run(())>"Back"</button>
                {secondary.map(|(verb, act)| view! {
                    <button type="button" class="button" disabled=move || !open() on:click=move |_| act.run(())>{verb}</button>
                })}
                <button
                    type="submit"
                    class=if danger { "button danger" } else { "button primary" }
                    disabled=move || !open()
                    aria-busy=move || sending.is_busy().to_string()
                >
                    {verb}
                </button>
            </div>
        </form>
    }
}

/// Whether the field contains more than white space.
pub(crate) fn has_text(text: RwSignal<String>) -> bool {
    text.with(|text| !text.trim().is_empty())
}

/// The text of the field, unless it is only white space.
pub(crate) fn non_empty(text: RwSignal<String>) -> Option<String> {
    Some(text.get_untracked()).filter(|text| !text.trim().is_empty())
}

/// A labelled single-line field.
#[component]
pub(crate) fn TextField(
    id: &'static str,
    label: &'static str,
    value: RwSignal<String>,
    /// The maximum length in UTF-16 units.
    max_length: u32,
    #[prop(optional)] placeholder: &'static str,
    #[prop(optional)] mono: bool,
    #[prop(optional)] autofocus: bool,
) -> impl IntoView {
    view! {
        <div class="field">
            <label for=id>{label}</label>
            <input id=id class="input" class:mono=mono autofocus=autofocus maxlength=max_length.to_string() placeholder=placeholder bind:value=value />
        </div>
    }
}

/// A labelled multi-line field for Markdown.
#[component]
pub(crate) fn TextArea(
    id: &'static str,
    label: &'static str,
    value: RwSignal<String>,
    #[prop(optional)] placeholder: &'static str,
    #[prop(optional)] mono: bool,
    #[prop(optional)] autofocus: bool,
) -> impl IntoView {
    let previewing = RwSignal::new(false);
    view! {
        <div class="field">
            <div class="row">
                <label for=id>{label}</label>
                <span class="spacer"></span>
                <PreviewButton text=value previewing=previewing />
            </div>
            <textarea
                id=id
                class="input"
                class:mono=mono
                autofocus=autofocus
                placeholder=placeholder
                hidden=move || previewing.get()
                bind:value=value
            ></textarea>
            <Preview text=value previewing=previewing />
        </div>
    }
}

/// A labelled group of checkboxes.
#[component]
pub(crate) fn CheckboxGroup<T: Display + Clone + PartialEq + Send + Sync + 'static>(
    legend: &'static str,
    #[prop(into)] offered: Signal<Vec<T>>,
    picked: RwSignal<Vec<T>>,
    hint: &'static str,
) -> impl IntoView {
    let checkbox = move |item: T| {
        let (name, own) = (item.to_string(), item.clone());
        let toggle = move |on: bool| {
            picked.update(|picked| {
                picked.retain(|known| *known != item);
                if on {
                    picked.push(item.clone());
                }
            });
        };
        view! {
            <label class="option-box">
                <input
                    type="checkbox"
                    prop:checked=move || picked.with(|picked| picked.contains(&own))
                    on:change:target=move |event| toggle(event.target().checked())
                />
                {name}
            </label>
        }
    };
    view! {
        <fieldset class="field">
            <legend class="label">{legend}</legend>
            <div class="options-list">{move || offered.get().into_iter().map(checkbox).collect_view()}</div>
            <p class="hint">{hint}</p>
        </fieldset>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answer_reaches_only_the_open_form() {
        let owner = Owner::new();
        let busy = owner.with(|| RwSignal::new(true));
        assert_eq!(answer_if_open(busy, Ok(1)), Some(1));
        assert!(!busy.get_untracked());
        busy.set(true);
        assert_eq!(answer_if_open(busy, Err::<i32, _>(Failure::SignedOut)), None);
        assert!(!busy.get_untracked(), "a refusal allows another attempt");
        owner.cleanup();
        assert_eq!(answer_if_open(busy, Ok(1)), None, "the form was closed");
    }
}
