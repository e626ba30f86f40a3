//! Navigation between the sections of a project. An unused section has no tab, but a menu, a key and its address open it.

use leptos::prelude::*;
use web_sys::{ScrollIntoViewOptions, ScrollLogicalPosition};

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
        Section::Charts => "Charts",
        Section::Replay => "Replay",
        Section::Context => "Context",
        Section::WarRoom => "War room",
    }
}

/// The purpose of an unused section, for the menu.
pub(crate) const fn purpose(section: Section) -> &'static str {
    match section {
        Section::Board => "tasks",
        Section::Team => "agents and helpers",
        Section::Messages => "write to agents",
        Section::Goals => "tasks signed off together",
        Section::Contracts => "declared interfaces",
        Section::Handshakes => "acknowledged plans",
        Section::Activity => "what happened",
        Section::Charts => "cost, tokens, times",
        Section::Replay => "the board in the past",
        Section::Context => "findings and memory",
        Section::WarRoom => "files, plan, log",
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

/// On a phone, the tabs can be wider than the window.
pub(crate) fn scroll_to_current_tab() {
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
