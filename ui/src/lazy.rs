//! Draws a part of the board whose code is loaded when it is first shown, or soon after the page was opened.
//!
//! Must not know the parts: `parts` lists them.

use std::pin::Pin;
use std::rc::Rc;

use leptos::prelude::*;
use leptos::reactive::spawn_local_scoped_with_cancellation;
use wasm_split_helpers::SplitLoaderError;

/// The view of a part, or the failure to load its code.
pub(crate) type Part = Result<AnyView, SplitLoaderError>;

type Load = Rc<dyn Fn() -> Pin<Box<dyn Future<Output = Part>>>>;

/// Draws `part` as soon as its code is there.
pub(crate) fn lazy<F: Future<Output = Part> + 'static>(part: impl Fn() -> F + 'static) -> AnyView {
    draw(Rc::new(move || Box::pin(part())))
}

fn draw(load: Load) -> AnyView {
    let loaded = RwSignal::new_local(None::<Part>);
    let start = move || {
        let part = load();
        // A page that is closed before its code arrives is not drawn.
        spawn_local_scoped_with_cancellation(async move { loaded.set(Some(part.await)) });
    };
    start();
    let owner = Owner::current().unwrap_or_default();
    let retry = StoredValue::new_local(move || owner.with(&start));
    (move || {
        loaded.track();
        let part = loaded.try_write_untracked().and_then(|mut loaded| loaded.take());
        match part {
            Some(Ok(view)) => view,
            Some(Err(_)) => view! { <NotLoaded retry=Callback::new(move |()| retry.with_value(|retry| retry())) /> }.into_any(),
            None => ().into_any(),
        }
    })
    .into_any()
}

/// Shown when the code could not be loaded: the server is gone, or it was replaced by another version.
#[component]
fn NotLoaded(retry: Callback<()>) -> impl IntoView {
    view! {
        <div class="empty" role="alert">
            <h2>"This part of the board could not be loaded"</h2>
            <p>"The server does not answer, or it was updated after this page was opened."</p>
            <p class="row">
                <button type="button" class="button" on:click=move |_| retry.run(())>"Try again"</button>
                <button type="button" class="button quiet" on:click=move |_| drop(window().location().reload())>"Reload the page"</button>
            </p>
        </div>
    }
}
