//! The menu of views of a board: the grouping, and the saved views with the dialogs that save, rename and delete them.

use leptos::prelude::*;

use crate::components::dialog::Dialog;
use crate::components::form::{Form, Sending, TextField, has_text};
use crate::components::icon::{CLOSE, GROUPS, Icon};
use crate::components::menu::{MenuButton, MenuItem};
use crate::filter::Filter;
use crate::grouping::Grouping;
use crate::lazy::lazy;
use crate::parts;
use crate::saved_view::{self, SavedView};

/// The longest name of a view, in UTF-16 units.
const MAX_NAME: u32 = 40;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ViewDialog {
    None,
    Save,
    Edit,
}

#[component]
pub(crate) fn ViewMenu(
    filter: RwSignal<Filter>,
    /// The id of the board, below which its views are stored.
    board: String,
    groupings: &'static [Grouping],
) -> impl IntoView {
    let dialog = RwSignal::new(ViewDialog::None);
    let close = Callback::new(move |()| dialog.set(ViewDialog::None));
    let board = StoredValue::new(board);
    let grouping = move |group: Option<Grouping>| {
        let pick = move |()| filter.update(|filter| filter.group = group);
        let checked = filter.with_untracked(|filter| filter.group == group);
        view! { <MenuItem label=group.map_or("No groups", Grouping::label) checked=Some(checked) act=pick /> }
    };
    let item = move |label: String, act: Callback<()>| view! { <MenuItem label=label act=act /> };
    let items = move || {
        let views = board.with_value(|board| saved_view::load(board));
        let (has_views, has_filter) = (!views.is_empty(), filter.with_untracked(|filter| *filter != Filter::default()));
        let saved = views.into_iter().map(|view| {
            let chosen = view.filter;
            item(view.name, Callback::new(move |()| filter.set(chosen.clone())))
        });
        let open = move |choice: ViewDialog| Callback::new(move |()| dialog.set(choice));
        view! {
            {std::iter::once(None).chain(groupings.iter().copied().map(Some)).map(grouping).collect_view()}
            {(has_views || has_filter).then(|| view! { <div class="menu-title" aria-hidden="true">"Saved views"</div> })}
            {saved.collect_view()}
            {has_filter.then(|| item("Save this view…".to_owned(), open(ViewDialog::Save)))}
            {has_views.then(|| item("Edit saved views…".to_owned(), open(ViewDialog::Edit)))}
        }
        .into_any()
    };
    view! {
        <MenuButton label="Groups and saved views" drawing=GROUPS items=items />
        {move || match dialog.get() {
            ViewDialog::None => ().into_any(),
            ViewDialog::Save => lazy(move || parts::save_view_dialog(filter, board, close)),
            ViewDialog::Edit => lazy(move || parts::edit_views_dialog(board, close)),
        }}
    }
}

#[component]
pub(crate) fn SaveViewDialog(filter: RwSignal<Filter>, board: StoredValue<String>, close: Callback<()>) -> impl IntoView {
    let name = RwSignal::new(String::new());
    let save = move |()| {
        let view = SavedView { name: name.with_untracked(|name| name.trim().to_owned()), filter: filter.get_untracked() };
        board.with_value(|board| saved_view::store(board, &saved_view::with(saved_view::load(board), view)));
        close.run(());
    };
    view! {
        <Dialog title="Save this view" close=close>
            <Form verb="Save" ready=Signal::derive(move || has_text(name)) sending=Sending::new() submit=save close=close>
                <TextField id="view-name" label="Name" value=name max_length=MAX_NAME autofocus=true />
                <p class="soft small-text">"This browser keeps the filter and the groups under this name. A view with the same name is replaced."</p>
            </Form>
        </Dialog>
    }
}

#[component]
pub(crate) fn EditViewsDialog(board: StoredValue<String>, close: Callback<()>) -> impl IntoView {
    let views = board.with_value(|board| saved_view::load(board));
    let views = RwSignal::new(views.into_iter().map(|view| (RwSignal::new(view.name), view.filter)).collect::<Vec<_>>());
    let ready = Signal::derive(move || views.with(|views| views.iter().all(|(name, _)| has_text(*name))));
    let save = move |()| {
        let renamed =
            views.get_untracked().into_iter().map(|(name, filter)| SavedView { name: name.with_untracked(|name| name.trim().to_owned()), filter });
        board.with_value(|board| saved_view::store(board, &renamed.fold(Vec::new(), saved_view::with)));
        close.run(());
    };
    let row = move |(name, _): (RwSignal<String>, Filter)| {
        view! {
            <li class="row">
                <input class="input grow" aria-label="Name of the view" maxlength=MAX_NAME.to_string() bind:value=name />
                <button
                    type="button"
                    class="button quiet icon"
                    aria-label=move || format!("Delete {}", name.get())
                    title="Delete"
                    on:click=move |_| views.update(|views| views.retain(|(known, _)| *known != name))
                >
                    <Icon drawing=CLOSE />
                </button>
            </li>
        }
    };
    view! {
        <Dialog title="Saved views" close=close>
            <Form verb="Save" ready=ready sending=Sending::new() submit=save close=close>
                <ul class="stack">{move || views.get().into_iter().map(row).collect_view()}</ul>
                <Show when=move || views.with(Vec::is_empty)>
                    <p class="soft small-text">"All views are deleted once you save."</p>
                </Show>
            </Form>
        </Dialog>
    }
}
