//! The parts of the board that are loaded with the page that shows them, in the chunks in which they are loaded.
//!
//! Must not draw anything itself.

use domain::board::attention::AttentionAction;
use domain::board::project::Project;
use domain::board::status::Status;
use domain::id::{ProjectId, TaskId};
use domain::time::Timestamp;
use leptos::html::Input;
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_split_helpers::{SplitLoaderError, wasm_split};
use web_sys::HtmlElement;

use crate::app::ServerStatus;
use crate::change::Change;
use crate::client::{Answer, Client, Failure};
use crate::components::board::card_actions::Answers;
use crate::components::board::choices::Choices;
use crate::components::board::column::ShowMore;
use crate::components::board::delete_project::DeleteProjectDialog;
use crate::components::board::edit_project::EditProjectDialog;
use crate::components::board::group_heading::GroupHeading;
use crate::components::board::new_goal::NewGoalDialog;
use crate::components::board::new_project::NewProjectDialog;
use crate::components::board::new_task::NewTaskDialog;
use crate::components::board::project_bar::{ProjectBanners, ProjectState, ProjectTools};
use crate::components::board::quick_add::QuickAdd;
use crate::components::board::report::ReportSince;
use crate::components::board::selection_bar::SelectionToolbar;
use crate::components::board::task_panel::TaskPanel;
use crate::components::board::view_menu::{EditViewsDialog, SaveViewDialog};
use crate::components::help::HelpDialog;
use crate::components::notices::Notices;
use crate::components::palette::{Mode, PaletteDialog};
use crate::components::runs::rescue::RescuesDialog;
use crate::components::sidebar::{Dock, Sidebar};
use crate::components::team::new_agent::NewAgentDialog;
use crate::components::team::new_contract::NewContractDialog;
use crate::components::team::new_handshake::NewHandshakeDialog;
use crate::drag::{Drag, OnDrop, pointer};
use crate::filter::Filter;
use crate::grouping::{Grouping, PlanProgress};
use crate::lazy::Part;
use crate::moves::{MoveDialog, MoveMenu, Moves, PendingMove};
use crate::overview::Overview;
use crate::pages;
use crate::pages::board::activity::ActivityPage;
use crate::pages::board::all_tasks::AllTasksPage;
use crate::pages::board::charts::ChartsPage;
use crate::pages::board::goal::GoalsPage;
use crate::pages::board::graph::GraphPage;
use crate::pages::board::needs_you::NeedsYouPage;
use crate::pages::board::plan::PlanPage;
use crate::pages::board::project_list::ProjectsPage;
use crate::pages::board::replay::ReplayPage;
use crate::pages::board::review::ReviewPage;
use crate::pages::board::task::TaskPage;
use crate::pages::context::session::ContextPage;
use crate::pages::runs::land::LandPage;
use crate::pages::settings::SettingsPage;
use crate::pages::team::agent::TeamPage;
use crate::pages::team::contract::ContractsPage;
use crate::pages::team::handshake::HandshakesPage;
use crate::pages::team::message::MessagesPage;
use crate::pages::warroom::room::WarRoomPage;
use crate::project_data::ProjectData;
use crate::route::{Route, SettingsTab};
use crate::store::Store;

/// Loads all parts, one after the other. One that does not load is loaded when it is shown. The sidebar and the tools are loaded with the
/// first page.
pub(crate) async fn preload() {
    drop(load_task().await);
    drop(load_review().await);
    drop(load_team().await);
    drop(load_home().await);
}

#[wasm_split(frame, fallible)]
pub(crate) fn sidebar() -> Part {
    Ok(view! { <Sidebar /> }.into_any())
}

#[wasm_split(frame, fallible)]
pub(crate) fn dock() -> Part {
    Ok(view! { <Dock /> }.into_any())
}

#[wasm_split(frame, fallible)]
pub(crate) fn notices() -> Part {
    Ok(view! { <Notices /> }.into_any())
}

#[wasm_split(frame, fallible)]
pub(crate) fn project_tools(filter: RwSignal<Filter>, words: NodeRef<Input>) -> Part {
    Ok(view! { <ProjectTools filter=filter words=words /> }.into_any())
}

#[wasm_split(frame, fallible)]
pub(crate) fn project_state(filter: RwSignal<Filter>) -> Part {
    Ok(view! { <ProjectState filter=filter /> }.into_any())
}

#[wasm_split(frame, fallible)]
pub(crate) fn project_banners(filter: RwSignal<Filter>) -> Part {
    Ok(view! { <ProjectBanners filter=filter /> }.into_any())
}

#[wasm_split(frame, fallible)]
pub(crate) fn quick_add(data: ProjectData) -> Part {
    Ok(view! { <QuickAdd data=data /> }.into_any())
}

#[wasm_split(frame, fallible)]
pub(crate) fn show_more(status: Status, hidden: Memo<usize>, limit: RwSignal<usize>) -> Part {
    Ok(view! { <ShowMore status=status hidden=hidden limit=limit /> }.into_any())
}

#[wasm_split(frame, fallible)]
pub(crate) fn group_heading(
    grouping: Memo<Option<Grouping>>,
    group: Option<String>,
    cards: Memo<usize>,
    plans: Memo<PlanProgress>,
    data: Option<ProjectData>,
) -> Part {
    Ok(view! { <GroupHeading grouping=grouping group=group cards=cards plans=plans data=data /> }.into_any())
}

#[wasm_split(frame, fallible)]
pub(crate) fn card_answers(task: TaskId, route: Route, loud: Signal<bool>) -> Part {
    Ok(view! { <Answers task=task route=route loud=loud /> }.into_any())
}

#[wasm_split(frame, fallible)]
pub(crate) fn card_choices(project: ProjectId, task: TaskId, agent: Option<String>, offered: Vec<AttentionAction>, loud: Signal<bool>) -> Part {
    Ok(view! { <Choices project=project task=task agent=agent offered=offered loud=loud /> }.into_any())
}

#[wasm_split(frame, fallible)]
pub(crate) fn follow_overview(overview: Overview, revision: RwSignal<u32>) -> Result<(), SplitLoaderError> {
    overview.follow(revision);
    Ok(())
}

#[wasm_split(frame, fallible)]
pub(crate) fn follow_project(data: ProjectData, store: Store) -> Result<(), SplitLoaderError> {
    data.follow(store);
    Ok(())
}

#[wasm_split(frame, fallible)]
pub(crate) fn follow_keys(words: NodeRef<Input>, reviewed: Memo<Option<TaskId>>) -> Result<(), SplitLoaderError> {
    pages::board::project::follow_keys(words, reviewed);
    Ok(())
}

#[wasm_split(frame, fallible)]
pub(crate) fn follow_pointer(drag: Drag, on_drop: OnDrop) -> Result<(), SplitLoaderError> {
    pointer::follow(drag, on_drop);
    Ok(())
}

#[wasm_split(frame, fallible)]
pub(crate) fn read_server(status: ServerStatus) -> Result<(), SplitLoaderError> {
    spawn_local(status.read());
    Ok(())
}

#[wasm_split(frame, fallible)]
pub(crate) fn apply_changes(moves: Moves, changes: Vec<(TaskId, Change)>) -> Result<(), Failure> {
    moves.send_all(changes);
    Ok(())
}

#[wasm_split(frame, fallible)]
pub(crate) fn project_of(client: Client, task: TaskId) -> Result<Answer<ProjectId>, Failure> {
    Ok(Box::pin(client.project_of(task)))
}

#[wasm_split(task, fallible, preload(load_task))]
pub(crate) fn task_panel(task: TaskId, close: Callback<()>) -> Part {
    Ok(view! { <TaskPanel task=task close=close /> }.into_any())
}

#[wasm_split(task, fallible)]
pub(crate) fn task_page(task: TaskId) -> Part {
    Ok(view! { <TaskPage task=task /> }.into_any())
}

#[wasm_split(task, fallible)]
pub(crate) fn new_project_dialog(close: Callback<()>) -> Part {
    Ok(view! { <NewProjectDialog close=close /> }.into_any())
}

#[wasm_split(task, fallible)]
pub(crate) fn help_dialog(close: Callback<()>) -> Part {
    Ok(view! { <HelpDialog close=close /> }.into_any())
}

#[wasm_split(task, fallible)]
pub(crate) fn new_task_dialog(project: ProjectId, close: Callback<()>, added: Callback<TaskId>) -> Part {
    Ok(view! { <NewTaskDialog project=project close=close plan=None added=added /> }.into_any())
}

#[wasm_split(task, fallible)]
pub(crate) fn palette_dialog(mode: Mode) -> Part {
    Ok(view! { <PaletteDialog mode=mode /> }.into_any())
}

#[wasm_split(task, fallible)]
pub(crate) fn move_dialog(pending: PendingMove) -> Part {
    Ok(view! { <MoveDialog pending=pending /> }.into_any())
}

#[wasm_split(task, fallible)]
pub(crate) fn move_menu(task: TaskId, anchor: HtmlElement, close: Callback<()>) -> Part {
    Ok(view! { <MoveMenu task=task anchor=anchor close=close /> }.into_any())
}

#[wasm_split(task, fallible)]
pub(crate) fn edit_project_dialog(project: Project, close: Callback<()>) -> Part {
    Ok(view! { <EditProjectDialog project=project close=close /> }.into_any())
}

#[wasm_split(task, fallible)]
pub(crate) fn rescues_dialog(project: Project, close: Callback<()>) -> Part {
    Ok(view! { <RescuesDialog project=project close=close /> }.into_any())
}

#[wasm_split(task, fallible)]
pub(crate) fn delete_project_dialog(project: Project, close: Callback<()>) -> Part {
    Ok(view! { <DeleteProjectDialog project=project close=close /> }.into_any())
}

#[wasm_split(task, fallible)]
pub(crate) fn save_view_dialog(filter: RwSignal<Filter>, board: StoredValue<String>, close: Callback<()>) -> Part {
    Ok(view! { <SaveViewDialog filter=filter board=board close=close /> }.into_any())
}

#[wasm_split(task, fallible)]
pub(crate) fn edit_views_dialog(board: StoredValue<String>, close: Callback<()>) -> Part {
    Ok(view! { <EditViewsDialog board=board close=close /> }.into_any())
}

#[wasm_split(task, fallible)]
pub(crate) fn selection_toolbar() -> Part {
    Ok(view! { <SelectionToolbar /> }.into_any())
}

#[wasm_split(review, fallible, preload(load_review))]
pub(crate) fn review_page(task: TaskId) -> Part {
    Ok(view! { <ReviewPage task=task /> }.into_any())
}

#[wasm_split(review, fallible)]
pub(crate) fn land_page() -> Part {
    Ok(view! { <LandPage /> }.into_any())
}

#[wasm_split(review, fallible)]
pub(crate) fn plan_page() -> Part {
    Ok(view! { <PlanPage /> }.into_any())
}

#[wasm_split(review, fallible)]
pub(crate) fn graph_page() -> Part {
    Ok(view! { <GraphPage /> }.into_any())
}

#[wasm_split(team, fallible, preload(load_team))]
pub(crate) fn team_page() -> Part {
    Ok(view! { <TeamPage /> }.into_any())
}

#[wasm_split(team, fallible)]
pub(crate) fn messages_page() -> Part {
    Ok(view! { <MessagesPage /> }.into_any())
}

#[wasm_split(team, fallible)]
pub(crate) fn goals_page() -> Part {
    Ok(view! { <GoalsPage /> }.into_any())
}

#[wasm_split(team, fallible)]
pub(crate) fn contracts_page() -> Part {
    Ok(view! { <ContractsPage /> }.into_any())
}

#[wasm_split(team, fallible)]
pub(crate) fn handshakes_page() -> Part {
    Ok(view! { <HandshakesPage /> }.into_any())
}

#[wasm_split(team, fallible)]
pub(crate) fn context_page() -> Part {
    Ok(view! { <ContextPage /> }.into_any())
}

#[wasm_split(team, fallible)]
pub(crate) fn war_room_page() -> Part {
    Ok(view! { <WarRoomPage /> }.into_any())
}

#[wasm_split(team, fallible)]
pub(crate) fn new_agent_dialog(close: Callback<()>) -> Part {
    Ok(view! { <NewAgentDialog close=close /> }.into_any())
}

#[wasm_split(team, fallible)]
pub(crate) fn new_goal_dialog(close: Callback<()>) -> Part {
    Ok(view! { <NewGoalDialog close=close /> }.into_any())
}

#[wasm_split(team, fallible)]
pub(crate) fn new_contract_dialog(close: Callback<()>) -> Part {
    Ok(view! { <NewContractDialog close=close /> }.into_any())
}

#[wasm_split(team, fallible)]
pub(crate) fn new_handshake_dialog(close: Callback<()>) -> Part {
    Ok(view! { <NewHandshakeDialog close=close /> }.into_any())
}

#[wasm_split(team, fallible)]
pub(crate) fn activity_page() -> Part {
    Ok(view! { <ActivityPage /> }.into_any())
}

#[wasm_split(team, fallible)]
pub(crate) fn charts_page() -> Part {
    Ok(view! { <ChartsPage /> }.into_any())
}

#[wasm_split(team, fallible)]
pub(crate) fn replay_page() -> Part {
    Ok(view! { <ReplayPage /> }.into_any())
}

#[wasm_split(home, fallible, preload(load_home))]
pub(crate) fn projects_page(unknown: bool) -> Part {
    Ok(view! { <ProjectsPage unknown=unknown /> }.into_any())
}

#[wasm_split(home, fallible)]
pub(crate) fn needs_you_page() -> Part {
    Ok(view! { <NeedsYouPage /> }.into_any())
}

#[wasm_split(home, fallible)]
pub(crate) fn all_tasks_page() -> Part {
    Ok(view! { <AllTasksPage /> }.into_any())
}

#[wasm_split(home, fallible)]
pub(crate) fn settings_page(tab: Option<SettingsTab>) -> Part {
    Ok(view! { <SettingsPage tab=tab /> }.into_any())
}

#[wasm_split(home, fallible)]
pub(crate) fn report(since: Timestamp) -> Part {
    Ok(view! { <ReportSince since=since /> }.into_any())
}
