//! The page of one project: its live board and sections, with the open task panel and dialogs.

use domain::id::ProjectId;
use leptos::html;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use crate::app::ServerStatus;
use crate::components::board::column::Column;
use crate::components::board::new_goal::NewGoalDialog;
use crate::components::board::new_task::NewTaskDialog;
use crate::components::board::project_header::ProjectHeader;
use crate::components::board::report::AbsenceReport;
use crate::components::board::task_panel::TaskPanel;
use crate::components::help::HelpDialog;
use crate::components::section_nav::SectionNav;
use crate::components::team::message_composer::focus_message;
use crate::components::team::new_agent::NewAgentDialog;
use crate::components::team::new_contract::NewContractDialog;
use crate::components::team::new_handshake::NewHandshakeDialog;
use crate::components::top_bar::TopBar;
use crate::drag::Drag;
use crate::focus;
use crate::keys::{Key, listen};
use crate::moves::{MoveOutlet, Moves};
use crate::pages::board::goal::GoalsPage;
use crate::pages::board::plan::PlanPage;
use crate::pages::team::agent::TeamPage;
use crate::pages::team::contract::ContractsPage;
use crate::pages::team::handshake::HandshakesPage;
use crate::pages::team::message::MessagesPage;
use crate::project_data::{OpenDialog, ProjectData};
use crate::reader::Reader;
use crate::route::{Navigation, Route, Section};
use crate::socket::{ConnectionState, follow};
use crate::store::Store;

#[component]
pub(crate) fn ProjectPage(project: ProjectId) -> impl IntoView {
    let (navigation, status) = (Navigation::from_context(), ServerStatus::from_context());
    let store = Store::provide();
    let link = follow(store, project.clone());
    let moves = Moves::provide();
    let drag = Drag::provide(move |task, to, needs| moves.request(task, to, needs));
    let data = ProjectData::provide(store, project.clone());
    let dialog = data.dialog;
    let close = Callback::new(move |()| dialog.set(OpenDialog::None));
    let query = RwSignal::new(String::new());
    let filter = NodeRef::<html::Input>::new();

    let home = Route::Board { project: project.clone(), task: None };
    let reader = Reader::current();
    listen({
        let home = home.clone();
        move |key| match key {
            Key::New => {
                let new = dialog_for(navigation.get_untracked().section());
                if reader.may(new.right()) {
                    dialog.set(new);
                }
            }
            Key::Help => dialog.set(OpenDialog::Help),
            Key::Settings => navigation.go(Route::Settings),
            Key::Go(section) => navigation.go(section.route(data.project())),
            Key::Filter => {
                if let Some(filter) = filter.get_untracked() {
                    let _focused = filter.focus();
                }
            }
            Key::Move => open_move_menu(moves),
            Key::Walk(step) => focus::step(step),
            Key::Close => close_sheet(navigation, &home),
        }
    });

    let title = Memo::new(move |_| store.project.with(|project| project.as_ref().map(|project| project.title.clone()).unwrap_or_default()));
    Effect::new(move || {
        let needs_you = store.totals.with(|totals| totals.needs_you);
        let mark = if needs_you > 0 { format!("({needs_you}) ") } else { String::new() };
        document().set_title(&format!("{mark}{} · vibe-relay", title.get()));
    });
    // Events and status changes may have been missed while the connection was lost.
    Effect::new(move |was_lost: Option<bool>| match link.get() {
        ConnectionState::Live => {
            status.refresh();
            if was_lost == Some(true) {
                store.refetch_all();
            }
            false
        }
        ConnectionState::Lost => true,
        ConnectionState::Opening | ConnectionState::CatchingUp | ConnectionState::Refused => was_lost.unwrap_or(false),
    });

    let loaded = Memo::new(move |_| store.project.with(Option::is_some));
    let planning = Memo::new(move |_| matches!(navigation.get(), Route::Plan { .. }));
    let section = Memo::new(move |_| navigation.get().section().unwrap_or(Section::Board));
    let task = Memo::new(move |_| navigation.get().task().cloned());
    let content = move || match (loaded.get(), section.get()) {
        (false, _) => view! { <NoBoard link=link /> }.into_any(),
        (true, Section::Board) if planning.get() => view! { <PlanPage /> }.into_any(),
        (true, Section::Board) => view! { <BoardColumns query=query /> }.into_any(),
        (true, Section::Team) => view! { <TeamPage /> }.into_any(),
        (true, Section::Messages) => view! { <MessagesPage /> }.into_any(),
        (true, Section::Goals) => view! { <GoalsPage /> }.into_any(),
        (true, Section::Contracts) => view! { <ContractsPage /> }.into_any(),
        (true, Section::Handshakes) => view! { <HandshakesPage /> }.into_any(),
    };
    let dialogs = {
        let project = project.clone();
        move || match dialog.get() {
            OpenDialog::None => ().into_any(),
            OpenDialog::NewTask => view! { <NewTaskDialog project=project.clone() close=close plan=None /> }.into_any(),
            OpenDialog::Help => view! { <HelpDialog close=close /> }.into_any(),
            OpenDialog::NewAgent => view! { <NewAgentDialog close=close /> }.into_any(),
            OpenDialog::NewGoal => view! { <NewGoalDialog close=close /> }.into_any(),
            OpenDialog::NewContract => view! { <NewContractDialog close=close /> }.into_any(),
            OpenDialog::NewHandshake => view! { <NewHandshakeDialog close=close /> }.into_any(),
        }
    };
    view! {
        <div class="board-page" data-dragging=move || drag.dragged.with(Option::is_some).then_some("")>
            <div>
                <TopBar crumb=title link=link />
                <Show when=move || loaded.get()>
                    <SectionNav />
                </Show>
            </div>
            <main>
                <AbsenceReport />
                <Show when=move || loaded.get() && section.get() == Section::Board>
                    <ProjectHeader query=query filter=filter new_task=Callback::new(move |()| dialog.set(OpenDialog::NewTask)) help=Callback::new(move |()| dialog.set(OpenDialog::Help)) />
                </Show>
                <div class="board-scroll">{content}</div>
            </main>
        </div>
        {move || {
            let home = home.clone();
            task.get()
                .filter(|_| loaded.get())
                .map(|task| view! { <TaskPanel task=task close=Callback::new(move |()| close_sheet(navigation, &home)) /> })
        }}
        {dialogs}
        <MoveOutlet />
    }
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
        Some(Section::Board) | None => OpenDialog::NewTask,
    }
}

/// Closes the task panel and focuses its card.
fn close_sheet(navigation: Navigation, home: &Route) {
    if let Some(task) = navigation.get_untracked().task() {
        navigation.go(home.clone());
        focus::on_card(task);
    }
}

/// Opens the move menu of the focused card.
fn open_move_menu(moves: Moves) {
    let Some(task) = focus::focused_task() else { return };
    let button = document().query_selector(&format!("[data-task={task}] .card-move")).ok().flatten();
    if let Some(button) = button.and_then(|button| button.dyn_into::<HtmlElement>().ok()) {
        moves.open_menu(task, button);
    }
}

#[component]
fn BoardColumns(query: RwSignal<String>) -> impl IntoView {
    let columns = domain::board::status::Status::ALL.iter().map(|status| view! { <Column status=*status query=query /> }).collect_view();
    view! { <div class="columns">{columns}</div> }
}

/// The page before the board is loaded, or when it cannot be.
#[component]
fn NoBoard(link: RwSignal<ConnectionState>) -> impl IntoView {
    let navigation = Navigation::from_context();
    move || match link.get() {
        ConnectionState::Refused => view! {
            <div class="empty" role="alert">
                <h2>"This project does not exist"</h2>
                <p>"The server may have been started with another database."</p>
                <a class="button" href="/" on:click=move |event| navigation.follow(&event, Route::Projects)>"Back to projects"</a>
            </div>
        }
        .into_any(),
        ConnectionState::Lost => view! {
            <div class="empty" role="alert">
                <h2>"The server does not answer"</h2>
                <p>"Is " <code>"vibe-relay serve"</code> " running? This page reconnects automatically."</p>
            </div>
        }
        .into_any(),
        _ => view! { <p class="empty soft" role="status">"Loading the board…"</p> }.into_any(),
    }
}
