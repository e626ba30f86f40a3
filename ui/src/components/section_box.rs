//! The frame of one of several sections on a page: title, controls, and one of loading, failure, empty state or content.

use leptos::prelude::*;

use crate::components::inline_code::sentence;

#[component]
pub(crate) fn SectionBox(
    /// The id of the heading.
    id: &'static str,
    title: &'static str,
    /// A few words after the title.
    #[prop(into)]
    summary: Signal<String>,
    /// The controls in the heading.
    #[prop(optional_no_strip)]
    tools: Option<AnyView>,
    #[prop(into)] loaded: Signal<bool>,
    #[prop(into)] failure: Signal<Option<String>>,
    /// Whether the loaded section has nothing to show.
    #[prop(into)]
    empty: Signal<bool>,
    #[prop(into)] empty_heading: Signal<&'static str>,
    empty_hint: &'static str,
    children: Children,
) -> impl IntoView {
    let loaded = Memo::new(move |_| loaded.get());
    let state = move || match (loaded.get(), failure.get()) {
        // A loaded list stays on the page while the server is away.
        (true, _) if empty.get() => view! {
            <div class="empty">
                <h3>{empty_heading.get()}</h3>
                <p>{empty_hint}</p>
            </div>
        }
        .into_any(),
        (true, _) => ().into_any(),
        (false, Some(why)) => view! { <p class="notice" data-tone="bad" role="alert">{sentence(&why)}</p> }.into_any(),
        (false, None) => view! { <p class="soft" role="status">"Loading…"</p> }.into_any(),
    };
    view! {
        <section class="box" aria-labelledby=id>
            <header>
                <h2 id=id>{title}</h2>
                <span class="soft small-text">{move || summary.get()}</span>
                {tools.map(|tools| view! { <div class="row spacer">{tools}</div> })}
            </header>
            {state}
            {children()}
        </section>
    }
    .into_any()
}
