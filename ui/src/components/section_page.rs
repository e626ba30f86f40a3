//! The frame of a page that shows a list: title, button for a new item, and the empty state.

use leptos::prelude::*;

use crate::components::icon::{Icon, PLUS};
use crate::components::inline_code::sentence;
use crate::live_list::LiveList;
use crate::project_data::{OpenDialog, ProjectData};
use crate::reader::{READ_ONLY, Reader};

#[component]
pub(crate) fn SectionPage<T: Send + Sync + 'static>(
    title: &'static str,
    /// The text of the button for a new item, and the dialog that it opens.
    verb: &'static str,
    opens: OpenDialog,
    list: LiveList<Vec<T>>,
    /// Whether the loaded list has nothing to show. The page then shows the heading and the hint.
    #[prop(into)]
    empty: Signal<bool>,
    empty_heading: &'static str,
    empty_hint: &'static str,
    children: Children,
) -> impl IntoView {
    let data = ProjectData::from_context();
    let may_write = Reader::may_write();
    let may_add = Reader::current().may(opens.right());
    let loaded = Memo::new(move |_| list.value.with(Option::is_some));
    // A loaded list stays on the page while the server is away.
    let loading = move || match list.failure.get() {
        _ if loaded.get() => None,
        Some(why) => Some(view! { <p class="notice" data-tone="bad" role="alert">{sentence(&why)}</p> }.into_any()),
        None => Some(view! { <p class="soft" role="status">"Loading…"</p> }.into_any()),
    };
    view! {
        <div class="page">
            <div class="page-head">
                <h2>{title}</h2>
                {may_add.then(|| view! {
                    <button type="button" class="button" on:click=move |_| data.dialog.set(opens.clone())>
                        <Icon drawing=PLUS />
                        {verb}
                    </button>
                })}
            </div>
            {loading}
            <Show when=move || loaded.get() && empty.get()>
                <div class="empty">
                    <h3>{empty_heading}</h3>
                    <p>{if may_write { empty_hint } else { READ_ONLY }}</p>
                </div>
            </Show>
            {children()}
        </div>
    }
}
