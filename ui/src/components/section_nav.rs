//! Navigation between the sections of a project. An unused section has no tab, but a menu, a key and its address open it.

use leptos::html;
use leptos::prelude::*;
use web_sys::{HtmlElement, ScrollIntoViewOptions, ScrollLogicalPosition};

use crate::components::icon::{Icon, MORE};
use crate::components::menu::Menu;
use crate::project_data::ProjectData;
use crate::route::{Navigation, Section};

pub(crate) const fn label(section: Section) -> &'static str {
    match section {
        Section::Board => "Board",
        Section::Team => "Team",
        Section::Messages => "Messages",
        Section::Goals => "Goals",
        Section::Contracts => "Contracts",
        Section::Handshakes => "Handshakes",
        Section::Activity => "Activity",
    }
}

/// The purpose of an unused section, for the menu.
const fn purpose(section: Section) -> &'static str {
    match section {
        Section::Board => "tasks",
        Section::Team => "agents and helpers",
        Section::Messages => "write to agents",
        Section::Goals => "tasks signed off together",
        Section::Contracts => "declared interfaces",
        Section::Handshakes => "acknowledged plans",
        Section::Activity => "what happened",
    }
}

#[component]
pub(crate) fn SectionNav() -> impl IntoView {
    let (data, navigation) = (ProjectData::from_context(), Navigation::from_context());
    let current = Memo::new(move |_| navigation.get().section());
    let shown = Memo::new(move |_| {
        let shown = |section: &Section| data.is_used(*section) || current.get() == Some(*section);
        Section::ALL.into_iter().filter(shown).collect::<Vec<_>>()
    });
    Effect::new(move || {
        // On a phone, the tabs can be wider than the window.
        // Read, not only tracked: a memo tracks nothing before its first read.
        shown.with(|_| ());
        if current.get().is_some() {
            request_animation_frame(scroll_to_current_tab);
        }
    });
    let alone = Memo::new(move |_| shown.with(Vec::len) == 1);
    view! {
        <Show when=move || !alone.get()>
            <nav class="sections" aria-label="Project sections">
                <For each=move || shown.get() key=|section| *section let:section>
                    <Tab section=section current=current />
                </For>
            </nav>
        </Show>
    }
}

fn scroll_to_current_tab() {
    let Ok(Some(tab)) = document().query_selector(".sections [aria-current=page]") else { return };
    let options = ScrollIntoViewOptions::new();
    options.set_block(ScrollLogicalPosition::Nearest);
    options.set_inline(ScrollLogicalPosition::Nearest);
    tab.scroll_into_view_with_scroll_into_view_options(&options);
}

#[component]
fn Tab(section: Section, current: Memo<Option<Section>>) -> impl IntoView {
    let (data, navigation) = (ProjectData::from_context(), Navigation::from_context());
    let route = section.route(data.project());
    let count = Memo::new(move |_| data.badge_count(section));
    view! {
        <a
            href=route.path()
            aria-current=move || (current.get() == Some(section)).then_some("page")
            on:click=move |event| navigation.follow(&event, route.clone())
        >
            {label(section)}
            {move || {
                let count = count.get();
                (count > 0).then(|| view! {
                    <span class="count-badge">
                        {count}
                        <span class="visually-hidden">" unread"</span>
                    </span>
                })
            }}
        </a>
    }
}

/// The menu of unused sections.
#[component]
pub(crate) fn MoreSections() -> impl IntoView {
    let (data, navigation) = (ProjectData::from_context(), Navigation::from_context());
    let button = NodeRef::<html::Button>::new();
    let anchor = RwSignal::new_local(None::<HtmlElement>);
    let close = Callback::new(move |()| anchor.set(None));
    let hidden = Memo::new(move |_| Section::ALL.into_iter().filter(|section| !data.is_used(*section)).collect::<Vec<_>>());
    let items = move || {
        hidden
            .get_untracked()
            .into_iter()
            .map(|section| {
                let go = move |_| {
                    close.run(());
                    navigation.go(section.route(data.project()));
                };
                view! {
                    <button type="button" role="menuitem" tabindex="-1" on:click=go>
                        {label(section)}
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
                aria-label="More sections"
                node_ref=button
                on:click=move |_| anchor.set(button.get_untracked().map(HtmlElement::from))
            >
                <Icon drawing=MORE />
            </button>
        </Show>
        {move || anchor.get().map(|anchor| view! { <Menu label="More sections" anchor=anchor close=close>{items()}</Menu> })}
    }
}
