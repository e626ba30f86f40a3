//! The board of all projects: every open task in the columns of its status, each card with the name of its project.

use leptos::html;
use leptos::prelude::*;

use crate::address::{parameter, set_parameter};
use crate::components::badge::OPEN_COLUMNS;
use crate::components::bar::Bar;
use crate::components::board::columns::BoardColumns;
use crate::components::board::filter_chips::BoardFilterChips;
use crate::components::board::project_bar::{Facets, FilterField};
use crate::components::board::selection_bar::SelectionBar;
use crate::components::board::view_menu::ViewMenu;
use crate::components::palette::{Overlay, Palette};
use crate::components::theme::DensityButton;
use crate::drag::{Drag, Drop};
use crate::filter::Filter;
use crate::focus;
use crate::grouping::Grouping;
use crate::keys::{Key, listen};
use crate::moves::{MoveOutlet, Moves};
use crate::notifications::tab_title;
use crate::pages::board::project::NoBoard;
use crate::reader::{READ_ONLY, Reader};
use crate::reveal::Reveal;
use crate::route::{Navigation, Route, SettingsTab};
use crate::selection::Selection;
use crate::store::{Store, follow_all};

#[component]
pub(crate) fn AllTasksPage() -> impl IntoView {
    let (navigation, may_write) = (Navigation::from_context(), Reader::may_write());
    let store = Store::provide();
    let (state, palette) = (follow_all(store), Palette::from_context());
    let (moves, selection) = (Moves::provide(), Selection::provide());
    Reveal::provide();
    // A place among the tasks of other projects means nothing.
    let drag = Drag::provide(move |task, drop| {
        if let Drop::Column(to, needs) = drop {
            moves.request(selection.with(task), to, needs);
        }
    });
    let filter = RwSignal::new(Filter::of_parameters(parameter));
    Effect::new(move || filter.with(|filter| filter.parameters().into_iter().for_each(|(name, value)| set_parameter(name, value))));
    let words = NodeRef::<html::Input>::new();
    listen(move |key| match key {
        Key::Help => palette.show(Overlay::Help),
        Key::Settings => navigation.go(Route::Settings { tab: SettingsTab::Browser }),
        Key::Filter => {
            if let Some(words) = words.get_untracked() {
                let _focused = words.focus();
            }
        }
        Key::Review => {
            let card = focus::focused_task().and_then(|task| store.card_now(&task));
            card.into_iter().for_each(|card| navigation.go(Route::Review { project: card.project_id, task: card.id }));
        }
        Key::Act => focus::press_action(),
        Key::Move => moves.open_focused_menu(),
        Key::Walk(step) => focus::step(step),
        Key::Select if may_write => focus::focused_task().iter().for_each(|task| selection.toggle(task)),
        Key::Extend(step) if may_write => selection.step(step),
        Key::Close => selection.clear(),
        _ => {}
    });
    tab_title(|| "All tasks".to_owned());
    let is_filtered = Memo::new(move |_| filter.with(|filter| !filter.parts().is_empty()));
    let count = Memo::new(move |_| store.follow_cards(<[_]>::len));
    let is_empty = Memo::new(move |_| count.get() == 0);
    let content = move || match (state.loaded.get(), is_empty.get()) {
        (false, _) => view! { <NoBoard missing=state.missing /> }.into_any(),
        (true, true) => view! {
            <div class="empty">
                <h2>"No open tasks"</h2>
                <p>"Open tasks of all projects appear here. Add one on the board of a project."</p>
            </div>
        }
        .into_any(),
        (true, false) => view! { <BoardColumns filter=filter columns=&OPEN_COLUMNS across_projects=true /> }.into_any(),
    };
    view! {
        <Bar title="All tasks">
            <div class="bar-tools">
                <Facets filter=filter />
                <FilterField filter=filter words=words />
                <ViewMenu filter=filter board="all".to_owned() groupings=&[Grouping::Project] />
                <DensityButton />
            </div>
        </Bar>
        <div class="workspace board-page" data-dragging=move || drag.dragged.with(Option::is_some).then_some("")>
            <main>
                <div class="goal-line">
                    {move || match is_filtered.get() {
                        true => view! { <BoardFilterChips filter=filter data=None /> }.into_any(),
                        false => view! { <p class="goal">{move || open_tasks(count.get())}</p> }.into_any(),
                    }}
                    {(!may_write).then_some(READ_ONLY)}
                </div>
                <div class="board-scroll">{content}</div>
                <SelectionBar />
            </main>
        </div>
        <MoveOutlet />
    }
}

fn open_tasks(count: usize) -> String {
    if count == 1 { "1 open task in all projects".to_owned() } else { format!("{count} open tasks in all projects") }
}
