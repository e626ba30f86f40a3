//! The way between the parts of a project. A part that nobody used has no tab; its address, its key and the menu lead there.

use leptos::html;
use leptos::prelude::*;
use web_sys::{HtmlElement, ScrollIntoViewOptions, ScrollLogicalPosition};

use crate::components::icon::{Icon, MORE};
use crate::components::menu::Menu;
use crate::room::Room;
use crate::route::{Navigation, Section};

const fn word(section: Section) -> &'static str {
    match section {
        Section::Board => "Board",
        Section::Team => "Team",
        Section::Messages => "Messages",
        Section::Goals => "Goals",
        Section::Contracts => "Contracts",
        Section::Handshakes => "Handshakes",
    }
}

/// What a part is for, where it has no tab yet.
const fn purpose(section: Section) -> &'static str {
    match section {
        Section::Board => "tasks",
        Section::Team => "who takes part",
        Section::Messages => "write to agents",
        Section::Goals => "sign off together",
        Section::Contracts => "agreed interfaces",
        Section::Handshakes => "everybody agrees",
    }
}

#[component]
pub(crate) fn SectionNav() -> impl IntoView {
    let (room, navigation) = (Room::here(), Navigation::here());
    let current = Memo::new(move |_| navigation.get().section());
    let shown = Memo::new(move |_| {
        let shown = |section: &Section| room.is_used(*section) || current.get() == Some(*section);
        Section::ALL.into_iter().filter(shown).collect::<Vec<_>>()
    });
    Effect::new(move || {
        // On a phone the tabs may be wider than the window.
        // Read and not only tracked: a memo follows nothing before it was read.
        shown.with(|_| ());
        if current.get().is_some() {
            request_animation_frame(show_current);
        }
    });
    let alone = Memo::new(move |_| shown.with(Vec::len) == 1);
    view! {
        <Show when=move || !alone.get()>
            <nav class="sections" aria-label="Parts of the project">
                <For each=move || shown.get() key=|section| *section let:section>
                    <Tab section=section current=current />
                </For>
            </nav>
        </Show>
    }
}

fn show_current() {
    let Ok(Some(tab)) = document().query_selector(".sections [aria-current=page]") else { return };
    let options = ScrollIntoViewOptions::new();
    options.set_block(ScrollLogicalPosition::Nearest);
    options.set_inline(ScrollLogicalPosition::Nearest);
    tab.scroll_into_view_with_scroll_into_view_options(&options);
}

#[component]
fn Tab(section: Section, current: Memo<Option<Section>>) -> impl IntoView {
    let (room, navigation) = (Room::here(), Navigation::here());
    let route = section.route(room.project());
    let waiting = Memo::new(move |_| room.waiting(section));
    view! {
        <a
            href=route.path()
            aria-current=move || (current.get() == Some(section)).then_some("page")
            on:click=move |event| navigation.follow(&event, route.clone())
        >
            {word(section)}
            {move || {
                let waiting = waiting.get();
                (waiting > 0).then(|| view! {
                    <span class="bubble">
                        {waiting}
                        <span class="visually-hidden">" unread"</span>
                    </span>
                })
            }}
        </a>
    }
}

/// The menu of the parts that have no tab yet.
#[component]
pub(crate) fn MoreSections() -> impl IntoView {
    let (room, navigation) = (Room::here(), Navigation::here());
    let button = NodeRef::<html::Button>::new();
    let anchor = RwSignal::new_local(None::<HtmlElement>);
    let close = Callback::new(move |()| anchor.set(None));
    let hidden = Memo::new(move |_| Section::ALL.into_iter().filter(|section| !room.is_used(*section)).collect::<Vec<_>>());
    let items = move || {
        hidden
            .get_untracked()
            .into_iter()
            .map(|section| {
                let go = move |_| {
                    close.run(());
                    navigation.go(section.route(room.project()));
                };
                view! {
                    <button type="button" role="menuitem" tabindex="-1" on:click=go>
                        {word(section)}
                        <small>{purpose(section)}</small>
                    </button>
                }
            })
            .collect_view()
    };
    view! {
        <Show when=move || !hidden.with(Vec::is_empty)>
            <button
                type="button"
                class="button quiet icon"
                aria-haspopup="menu"
                aria-label="More parts of the project"
                node_ref=button
                on:click=move |_| anchor.set(button.get_untracked().map(HtmlElement::from))
            >
                <Icon drawing=MORE />
            </button>
        </Show>
        {move || anchor.get().map(|anchor| view! { <Menu label="Not used yet" anchor=anchor close=close>{items()}</Menu> })}
    }
}
