//! The page of one project: its live board and sections, with the open task panel and dialogs.

use domain::id::{ProjectId, TaskId};
use leptos::html;
use leptos::prelude::*;

use crate::address::{parameter, set_parameter};
use crate::components::badge::COLUMNS;
use crate::components::board::columns::BoardColumns;
use crate::components::board::project_bar::{ProjectBar, ProjectLine};
use crate::components::board::report::AbsenceReport;
use crate::components::board::selection_bar::SelectionBar;
use crate::components::palette::PaletteOutlet;
use crate::components::team::message_composer::focus_message;
use crate::drag::{Drag, Drop};
use crate::filter::Filter;
use crate::focus;
use crate::keys::{Key, listen_where};
use crate::lazy::{lazy, start};
use crate::moves::{MoveOutlet, Moves};
use crate::notifications::tab_title;
use crate::parts;
use crate::project_data::{OpenDialog, ProjectData};
use crate::reader::Reader;
use crate::reveal::Reveal;
use crate::route::{Navigation, Route, Section, SettingsTab};
use crate::selection::Selection;
use crate::socket::Live;
use crate::store::{Store, follow};

#[component]
pub(crate) fn ProjectPage(project: ProjectId) -> impl IntoView {
    let navigation = Navigation::from_context();
    let store = Store::provide();
    let missing = follow(store, project.clone()).missing;
    let moves = Moves::provide();
    let selection = Selection::provide();
    let reveal = Reveal::provide();
    let drag = Drag::provide(move |task, drop| match drop {
        Drop::Column(to, needs) => moves.request(selection.with(task), to, needs),
        Drop::Place(place) => moves.reorder(task, place),
    });
    let data = ProjectData::provide(store, project.clone());
    let dialog = data.dialog;
    let close = Callback::new(move |()| dialog.set(OpenDialog::None));
    let filter = RwSignal::new(Filter::of_parameters(parameter));
    Effect::new(move || {
        // Another page drops the parameters from the address.
        let _page = navigation.get();
        filter.with(|filter| filter.parameters().into_iter().for_each(|(name, value)| set_parameter(name, value)));
    });
    let words = NodeRef::<html::Input>::new();

    let home = Route::Board { project: project.clone(), task: None };
    let reviewed = Memo::new(move |_| match navigation.get() {
        Route::Review { task, .. } => Some(task),
        _ => None,
    });
    start(move || parts::follow_keys(words, reviewed));

    Effect::new(move || {
        let is_on_board = navigation.get().is_board();
        if !is_on_board && !untrack(|| selection.is_empty()) {
            selection.clear();
        }
    });

    tab_title(move || {
        let title = store.project.with(|project| project.as_ref().map(|project| project.title.clone()).unwrap_or_default());
        reviewed.get().map(|task| format!("Review {task} · ")).unwrap_or_default() + &title
    });

    let loaded = Memo::new(move |_| store.project.with(Option::is_some));
    // The page that replaces the columns, if any.
    let document = Memo::new(move |_| Some(navigation.get()).filter(|route| !matches!(route, Route::Board { .. })));
    let section = Memo::new(move |_| navigation.get().section().unwrap_or(Section::Board));
    let task = Memo::new(move |_| navigation.get().task().cloned());
    let content = move || match (loaded.get(), section.get()) {
        (false, _) => view! { <NoBoard missing=missing /> }.into_any(),
        (true, Section::Board) => match document.get() {
            Some(Route::Plan { .. }) => lazy(parts::plan_page),
            Some(Route::Land { .. }) => lazy(parts::land_page),
            Some(Route::Graph { .. }) => lazy(parts::graph_page),
            Some(Route::TaskPage { task, .. }) => lazy(move || parts::task_page(task.clone())),
            _ => view! { <BoardColumns filter=filter columns=&COLUMNS /> }.into_any(),
        },
        (true, Section::Team) => lazy(parts::team_page),
        (true, Section::Messages) => lazy(parts::messages_page),
        (true, Section::Goals) => lazy(parts::goals_page),
        (true, Section::Contracts) => lazy(parts::contracts_page),
        (true, Section::Handshakes) => lazy(parts::handshakes_page),
        (true, Section::Activity) => lazy(parts::activity_page),
        (true, Section::Charts) => lazy(parts::charts_page),
        (true, Section::Context) => lazy(parts::context_page),
        (true, Section::WarRoom) => lazy(parts::war_room_page),
        (true, Section::Replay) => lazy(parts::replay_page),
    };
    let added = Callback::new(move |task: TaskId| {
        if navigation.get_untracked().is_board() {
            reveal.show(task, true);
        }
    });
    let dialogs = {
        let project = project.clone();
        move || match dialog.get() {
            OpenDialog::None => ().into_any(),
            OpenDialog::NewTask => {
                let project = project.clone();
                lazy(move || parts::new_task_dialog(project.clone(), close, added))
            }
            OpenDialog::Help => lazy(move || parts::help_dialog(close)),
            OpenDialog::NewAgent => lazy(move || parts::new_agent_dialog(close)),
            OpenDialog::NewGoal => lazy(move || parts::new_goal_dialog(close)),
            OpenDialog::NewContract => lazy(move || parts::new_contract_dialog(close)),
            OpenDialog::NewHandshake => lazy(move || parts::new_handshake_dialog(close)),
        }
    };
    let board = move || {
        let home = home.clone();
        view! {
            <ProjectBar filter=filter words=words />
            <div class="workspace board-page" data-dragging=move || drag.dragged.with(Option::is_some).then_some("")>
                <main>
                    <AbsenceReport />
                    <Show when=move || loaded.get() && section.get() == Section::Board && document.with(Option::is_none)>
                        <ProjectLine filter=filter />
                    </Show>
                    <div class="board-scroll">{content}</div>
                    <SelectionBar />
                </main>
                {move || {
                    let home = home.clone();
                    task.get()
                        .filter(|_| loaded.get())
                        .map(|task| {
                            let close = Callback::new(move |()| close_panel(navigation, &home));
                            lazy(move || parts::task_panel(task.clone(), close))
                        })
                }}
            </div>
        }
    };
    view! {
        {move || match reviewed.get() {
            Some(task) if loaded.get() => lazy(move || parts::review_page(task.clone())),
            Some(_) => view! { <NoBoard missing=missing /> }.into_any(),
            None => board().into_any(),
        }}
        {dialogs}
        <MoveOutlet />
        <PaletteOutlet />
    }
}

/// Listens to the keys of a project for as long as the current owner lives. `words` is the field of the filter, and `reviewed` the task
/// whose review is open.
pub(crate) fn follow_keys(words: NodeRef<html::Input>, reviewed: Memo<Option<TaskId>>) {
    let (data, navigation, moves, selection) =
        (ProjectData::from_context(), Navigation::from_context(), Moves::from_context(), Selection::from_context());
    let (dialog, reader, may_write) = (data.dialog, Reader::current(), Reader::may_write());
    // A review has its own keys.
    let accepts = move |key| matches!(key, Key::Help | Key::Settings | Key::Go(_)) || reviewed.with_untracked(Option::is_none);
    let home = Route::Board { project: data.project(), task: None };
    listen_where(accepts, {
        move |key| match key {
            Key::Review => {
                if let Some(task) = navigation.get_untracked().task().cloned().or_else(focus::focused_task) {
                    navigation.go(Route::Review { project: data.project(), task });
                }
            }
            Key::New => {
                let new = dialog_for(navigation.get_untracked().section());
                if reader.may(new.right()) {
                    dialog.set(new);
                }
            }
            Key::Help => dialog.set(OpenDialog::Help),
            Key::Settings => navigation.go(Route::Settings { tab: SettingsTab::default() }),
            Key::Go(section) => navigation.go(section.route(data.project())),
            Key::Filter => {
                if let Some(words) = words.get_untracked() {
                    let _focused = words.focus();
                }
            }
            Key::Act => focus::press_action(),
            Key::Move => moves.open_focused_menu(),
            Key::Walk(step) => focus::step(step),
            Key::Select if may_write => focus::focused_task().iter().for_each(|task| selection.toggle(task)),
            Key::Extend(step) if may_write => selection.step(step),
            Key::Select | Key::Extend(_) => {}
            Key::Close if !untrack(|| selection.is_empty()) => selection.clear(),
            Key::Close => go_back(navigation, &home),
        }
    });
}

/// The dialog that the key `n` opens in a section.
fn dialog_for(section: Option<Section>) -> OpenDialog {
    match section {
        Some(Section::Team) => OpenDialog::NewAgent,
        Some(Section::Messages) => {
            focus_message();
            OpenDialog::None
        }
        Some(Section::Goals) => OpenDialog::NewGoal,
        Some(Section::Contracts) => OpenDialog::NewContract,
        Some(Section::Handshakes) => OpenDialog::NewHandshake,
        Some(Section::Context | Section::WarRoom) => OpenDialog::None,
        Some(Section::Board | Section::Activity | Section::Charts | Section::Replay) | None => OpenDialog::NewTask,
    }
}

/// Closes the task panel, or returns from another page of the board.
fn go_back(navigation: Navigation, home: &Route) {
    let route = navigation.get_untracked();
    if route.section() == Some(Section::Board) && !route.is_board() {
        navigation.go(home.clone());
    } else {
        close_panel(navigation, home);
    }
}

/// Closes the task panel and focuses its card.
fn close_panel(navigation: Navigation, home: &Route) {
    if let Some(task) = navigation.get_untracked().task() {
        navigation.go(home.clone());
        focus::on_card(task);
    }
}

/// The page before the board is loaded, or when it cannot be.
#[component]
pub(crate) fn NoBoard(missing: RwSignal<bool>) -> impl IntoView {
    let (navigation, live) = (Navigation::from_context(), Live::from_context());
    move || match (missing.get(), live.is_lost()) {
        (true, _) => view! {
            <div class="empty" role="alert">
                <h2>"This project does not exist"</h2>
                <p>"It was deleted, or the server was started with another database."</p>
                <a class="button" href="/" on:click=move |event| navigation.follow(&event, Route::Projects)>"Back to projects"</a>
            </div>
        }
        .into_any(),
        (false, true) => view! {
            <div class="empty" role="alert">
                <h2>"The server does not answer"</h2>
                <p>"Is " <code>"vibe-relay serve"</code> " running? This page reconnects automatically."</p>
            </div>
        }
        .into_any(),
        (false, false) => view! { <p class="empty soft" role="status">"Loading the board…"</p> }.into_any(),
    }
}
