//! A form in a dialog: its fields, and a button that sends them once. After a refusal what was written stays.
//!
//! Must not know what is sent.

use std::fmt::Display;

use leptos::prelude::*;
use web_sys::SubmitEvent;

use crate::client::{Client, Failure};

/// A request of a form, one at a time.
#[derive(Clone, Copy)]
pub(crate) struct Sending {
    client: Client,
    busy: RwSignal<bool>,
}

impl Sending {
    pub(crate) fn new() -> Self {
        Self { client: Client::here(), busy: RwSignal::new(false) }
    }

    /// Carries out a request; `then` gets the answer while the form is open, a refusal becomes a toast.
    pub(crate) fn run<T: 'static>(self, request: impl Future<Output = Result<T, Failure>> + 'static, then: impl FnOnce(T) + 'static) {
        self.busy.set(true);
        self.client.watch(request, move |result| {
            if let Some(answer) = awaited(self.busy, result) {
                then(answer);
            }
        });
    }

    pub(crate) fn is_busy(self) -> bool {
        self.busy.get()
    }
}

/// Ends the wait for `result`: the answer, unless the form was closed meanwhile, as what it would close then is another one.
fn awaited<T>(busy: RwSignal<bool>, result: Result<T, Failure>) -> Option<T> {
    let open = busy.try_set(false).is_none();
    result.ok().filter(|_| open)
}

#[component]
pub(crate) fn Form(
    /// What its button says.
    #[prop(into)]
    verb: String,
    /// Whether there is enough to send.
    #[prop(into, default = true.into())]
    ready: Signal<bool>,
    sending: Sending,
    /// Called when there is enough to send and nothing is on its way.
    #[prop(into)]
    submit: Callback<()>,
    close: Callback<()>,
    /// Another way to send it: what its button says, and what that does instead.
    #[prop(optional_no_strip)]
    also: Option<(&'static str, Callback<()>)>,
    /// Whether it takes something away.
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
            <footer>
                // Not "Cancel": that is what is done to a task.
                <button type="button" class="button" on:click=move |_| close.run(())>"Back"</button>
                {also.map(|(verb, act)| view! {
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
            </footer>
        </form>
    }
}

/// Whether something was written.
pub(crate) fn written(text: RwSignal<String>) -> bool {
    text.with(|text| !text.trim().is_empty())
}

/// What was written, if anything.
pub(crate) fn given(text: RwSignal<String>) -> Option<String> {
    Some(text.get_untracked()).filter(|text| !text.trim().is_empty())
}

/// A line with its label.
#[component]
pub(crate) fn LineField(
    id: &'static str,
    label: &'static str,
    value: RwSignal<String>,
    /// The longest that is taken, in UTF-16 units.
    longest: u32,
    #[prop(optional)] placeholder: &'static str,
    #[prop(optional)] mono: bool,
    #[prop(optional)] autofocus: bool,
) -> impl IntoView {
    view! {
        <div class="field">
            <label for=id>{label}</label>
            <input id=id class="input" class:mono=mono autofocus=autofocus maxlength=longest.to_string() placeholder=placeholder bind:value=value />
        </div>
    }
}

/// Several lines with their label.
#[component]
pub(crate) fn WordsField(
    id: &'static str,
    label: &'static str,
    value: RwSignal<String>,
    #[prop(optional)] placeholder: &'static str,
    #[prop(optional)] mono: bool,
    #[prop(optional)] autofocus: bool,
) -> impl IntoView {
    view! {
        <div class="field">
            <label for=id>{label}</label>
            <textarea id=id class="input" class:mono=mono autofocus=autofocus placeholder=placeholder bind:value=value></textarea>
        </div>
    }
}

/// Several of what is offered.
#[component]
pub(crate) fn Picks<T: Display + Clone + PartialEq + Send + Sync + 'static>(
    legend: &'static str,
    #[prop(into)] offered: Signal<Vec<T>>,
    picked: RwSignal<Vec<T>>,
    hint: &'static str,
) -> impl IntoView {
    let pick = move |one: T| {
        let (name, own) = (one.to_string(), one.clone());
        let toggle = move |on: bool| {
            picked.update(|picked| {
                picked.retain(|known| *known != one);
                if on {
                    picked.push(one.clone());
                }
            });
        };
        view! {
            <label class="pick">
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
            <div class="picks">{move || offered.get().into_iter().map(pick).collect_view()}</div>
            <p class="hint">{hint}</p>
        </fieldset>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_for_the_form_that_asked() {
        let owner = Owner::new();
        let busy = owner.with(|| RwSignal::new(true));
        assert_eq!(awaited(busy, Ok(1)), Some(1));
        assert!(!busy.get_untracked());
        busy.set(true);
        assert_eq!(awaited(busy, Err::<i32, _>(Failure::SignedOut)), None);
        assert!(!busy.get_untracked(), "a refusal leaves it to be sent again");
        owner.cleanup();
        assert_eq!(awaited(busy, Ok(1)), None, "closed meanwhile");
    }
}
