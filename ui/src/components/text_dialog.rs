//! A dialog that sends one text. The text is kept as a draft until it is sent.
//!
//! Must not know what the text is for.

use std::future::Future;
use std::pin::Pin;

use leptos::prelude::*;
use serde::de::IgnoredAny;

use crate::client::Failure;
use crate::components::dialog::Dialog;
use crate::components::form::{Form, Sending, TextArea, has_text};
use crate::draft::{discard, draft};

/// A request whose answer shows on the page by itself.
pub(crate) type Request = Pin<Box<dyn Future<Output = Result<IgnoredAny, Failure>>>>;

#[component]
pub(crate) fn TextDialog(
    #[prop(into)] title: String,
    /// The text of the submit button.
    verb: &'static str,
    /// The label of the field.
    label: &'static str,
    draft_key: String,
    send: Callback<String, Request>,
    /// Whether the rest of the form is complete.
    #[prop(into, default = true.into())]
    ready: Signal<bool>,
    /// Whether the action is destructive.
    #[prop(optional)]
    danger: bool,
    close: Callback<()>,
    children: Children,
) -> impl IntoView {
    let sending = Sending::new();
    let text = draft(&draft_key);
    let key = StoredValue::new(draft_key);
    let submit = move |()| {
        sending.run(send.run(text.get_untracked()), move |_| {
            discard(&key.get_value());
            close.run(());
        });
    };
    view! {
        <Dialog title=title close=close>
            <Form
                verb=verb
                ready=Signal::derive(move || has_text(text) && ready.get())
                sending=sending
                submit=submit
                close=close
                danger=danger
            >
                {children()}
                <TextArea id="dialog-text" label=label value=text autofocus=true />
            </Form>
        </Dialog>
    }
    .into_any()
}
