//! One project: keeps its board up to date, and shows it with what is open above it: a task's sheet, a dialog, the plan.

use domain::id::ProjectId;
use leptos::html;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use crate::app::About;
use crate::components::column::Column;
use crate::components::help::HelpDialog;
use crate::components::message_composer::focus_message;
use crate::components::new_agent::NewAgentDialog;
use crate::components::new_contract::NewContractDialog;
use crate::components::new_goal::NewGoalDialog;
use crate::components::new_handshake::NewHandshakeDialog;
use crate::components::new_task::NewTaskDialog;
use crate::components::project_head::ProjectHead;
use crate::components::section_nav::SectionNav;
use crate::components::task_panel::TaskPanel;
use crate::components::top_bar::TopBar;
use crate::drag::Drag;
use crate::focus;
use crate::keys::{Key, listen};
use crate::moves::{MoveOutlet, Moves};
use crate::pages::contracts::ContractsPage;
use crate::pages::goals::GoalsPage;
use crate::pages::handshakes::HandshakesPage;
use crate::pages::messages::MessagesPage;
use crate::pages::plan::PlanPage;
use crate::pages::team::TeamPage;
use crate::room::{Open, Room};
use crate::route::{Navigation, Route, Section};
use crate::socket::{Link, follow};
use crate::store::Store;

#[component]
pub(crate) fn ProjectPage(project: ProjectId) -> impl IntoView {
    let (navigation, about) = (Navigation::here(), About::here());
    let store = Store::provide();
    let link = follow(store, project.clone());
    let moves = Moves::provide();
    let drag = Drag::provide(move |task, to, needs| moves.request(task, to, needs));
    let room = Room::provide(store, project.clone());
    let open = room.open;
    let close = Callback::new(move |()| open.set(Open::Nothing));
    let query = RwSignal::new(String::new());
    let filter = NodeRef::<html::Input>::new();

    let home = Route::Board { project: project.clone(), task: None };
    listen({
        let home = home.clone();
        move |key| match key {
            Key::New => open.set(new_on(navigation.get_untracked().section())),
            Key::Help => open.set(Open::Help),
            Key::Go(section) => navigation.go(section.route(room.project())),
            Key::Filter => {
                if let Some(filter) = filter.get_untracked() {
                    let _focused = filter.focus();
                }
            }
            Key::Move => choose_for_focused(moves),
            Key::Walk(step) => focus::step(step),
            Key::Close => leave_sheet(navigation, &home),
        }
    });

    let title = Memo::new(move |_| store.project.with(|project| project.as_ref().map(|project| project.title.clone()).unwrap_or_default()));
    Effect::new(move || {
        let needs_you = store.totals.with(|totals| totals.needs_you);
        let mark = if needs_you > 0 { format!("({needs_you}) ") } else { String::new() };
        document().set_title(&format!("{mark}{} · vibe-relay", title.get()));
    });
    // What the server says about itself may have changed while nobody was connected.
    Effect::new(move |was_lost: Option<bool>| match link.get() {
        Link::Live => {
            about.ask();
            if was_lost == Some(true) {
                store.read_again();
            }
            false
        }
        Link::Lost => true,
        Link::Opening | Link::CatchingUp | Link::Refused => was_lost.unwrap_or(false),
    });

    let known = Memo::new(move |_| store.project.with(Option::is_some));
    let planning = Memo::new(move |_| matches!(navigation.get(), Route::Plan { .. }));
    let section = Memo::new(move |_| navigation.get().section().unwrap_or(Section::Board));
    let task = Memo::new(move |_| navigation.get().task().cloned());
    let content = move || match (known.get(), section.get()) {
        (false, _) => view! { <Waiting link=link /> }.into_any(),
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
        move || match open.get() {
            Open::Nothing => ().into_any(),
            Open::NewTask => view! { <NewTaskDialog project=project.clone() close=close plan=None /> }.into_any(),
            Open::Help => view! { <HelpDialog close=close /> }.into_any(),
            Open::NewAgent => view! { <NewAgentDialog close=close /> }.into_any(),
            Open::NewGoal => view! { <NewGoalDialog close=close /> }.into_any(),
            Open::NewContract => view! { <NewContractDialog close=close /> }.into_any(),
            Open::NewHandshake => view! { <NewHandshakeDialog close=close /> }.into_any(),
        }
    };
    view! {
        <div class="board-page" data-dragging=move || drag.carried.with(Option::is_some).then_some("")>
            <div>
                <TopBar crumb=title link=link />
                <Show when=move || known.get()>
                    <SectionNav />
                </Show>
            </div>
            <main>
                <Show when=move || known.get() && section.get() == Section::Board>
                    <ProjectHead query=query filter=filter new_task=Callback::new(move |()| open.set(Open::NewTask)) help=Callback::new(move |()| open.set(Open::Help)) />
                </Show>
                <div class="board-scroll">{content}</div>
            </main>
        </div>
        {move || {
            let home = home.clone();
            task.get()
                .filter(|_| known.get())
                .map(|task| view! { <TaskPanel task=task close=Callback::new(move |()| leave_sheet(navigation, &home)) /> })
        }}
        {dialogs}
        <MoveOutlet />
    }
}

/// What `n` makes.
fn new_on(section: Option<Section>) -> Open {
    match section {
        Some(Section::Team) => Open::NewAgent,
        Some(Section::Messages) => {
            focus_message();
            Open::Nothing
        }
        Some(Section::Goals) => Open::NewGoal,
        Some(Section::Contracts) => Open::NewContract,
        Some(Section::Handshakes) => Open::NewHandshake,
        Some(Section::Board) | None => Open::NewTask,
    }
}

/// Closes the open sheet and puts the focus on its card.
fn leave_sheet(navigation: Navigation, home: &Route) {
    if let Some(task) = navigation.get_untracked().task() {
        navigation.go(home.clone());
        focus::on_card(task);
    }
}

/// Opens the menu of the card that has the focus.
fn choose_for_focused(moves: Moves) {
    let Some(task) = focus::focused_task() else { return };
    let button = document().query_selector(&format!("[data-task={task}] .card-move")).ok().flatten();
    if let Some(button) = button.and_then(|button| button.dyn_into::<HtmlElement>().ok()) {
        moves.choose(task, button);
    }
}

#[component]
fn BoardColumns(query: RwSignal<String>) -> impl IntoView {
    let columns = domain::board::status::Status::ALL.iter().map(|status| view! { <Column status=*status query=query /> }).collect_view();
    view! { <div class="columns">{columns}</div> }
}

/// Before the board is there, or when it cannot be.
#[component]
fn Waiting(link: RwSignal<Link>) -> impl IntoView {
    let navigation = Navigation::here();
    move || match link.get() {
        Link::Refused => view! {
            <div class="empty" role="alert">
                <h2>"There is no such project"</h2>
                <p>"It may belong to another database than the one this server was started with."</p>
                <a class="button" href="/" on:click=move |event| navigation.follow(&event, Route::Projects)>"To the projects"</a>
            </div>
        }
        .into_any(),
        Link::Lost => view! {
            <div class="empty" role="alert">
                <h2>"The server does not answer"</h2>
                <p>"Is " <code>"vibe-relay serve"</code> " running? This page tries again by itself."</p>
            </div>
        }
        .into_any(),
        _ => view! { <p class="empty soft" role="status">"Reading the board…"</p> }.into_any(),
    }
}
