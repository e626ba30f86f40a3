//! The entries of the palette: everything that can be opened or done from here, and the ways to do it.
//!
//! Must not rank or draw them.

use domain::board::card::Card;
use domain::board::project::summary::ProjectSummary;
use domain::id::TaskId;
use domain::team::person::Right;
use leptos::prelude::*;

use crate::app::ServerStatus;
use crate::client::{AuditFilter, Client};
use crate::components::badge::card_state::CardState;
use crate::components::badge::{Tone, phase_label};
use crate::components::glyph::Glyph;
use crate::components::icon::{BARS, COLUMNS, Drawing, FOLDER, GRID, INBOX, PLUG, PLUS, QUESTION, ROWS, SLIDERS, SUN, TRIANGLE};
use crate::components::palette::{Overlay, Palette};
use crate::components::section_nav;
use crate::components::setting::tab_label;
use crate::components::sidebar::state;
use crate::components::theme::{Density, switch_theme};
use crate::overview::Overview;
use crate::palette::{Group, Words};
use crate::project_data::{OpenDialog, ProjectData};
use crate::reader::Reader;
use crate::route::{Navigation, Route, Section, SettingsTab};
use crate::store::Store;

/// The effect of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Choice {
    Go(Route),
    NewTask,
    NewProject,
    PauseProject(bool),
    PauseAll(bool),
    ArchiveProject(bool),
    Theme,
    Density,
    Help,
}

/// The keys of [`Section::ALL`].
const SECTION_KEYS: [&str; 11] = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "", ""];

/// The sign in front of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    State(Glyph, Tone, &'static str),
    Icon(Drawing),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) words: Words,
    /// A quiet fact at the end of the line.
    pub(crate) detail: String,
    /// The key that does the same.
    pub(crate) shortcut: &'static str,
    pub(crate) sign: Sign,
    pub(crate) choice: Choice,
}

impl Entry {
    fn new(group: Group, key: impl Into<String>, title: impl Into<String>, sign: Sign, choice: Choice) -> Self {
        let words = Words { key: key.into(), group, title: title.into(), more: String::new() };
        Self { words, detail: String::new(), shortcut: "", sign, choice }
    }

    fn found_by(mut self, more: impl Into<String>) -> Self {
        self.words.more = more.into();
        self
    }

    fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = detail.into();
        self
    }

    fn with_shortcut(mut self, shortcut: &'static str) -> Self {
        self.shortcut = shortcut;
        self
    }
}

/// Where the entries come from. The project is the one whose page is open.
#[derive(Clone, Copy)]
pub(crate) struct Sources {
    client: Client,
    navigation: Navigation,
    overview: Overview,
    status: ServerStatus,
    palette: Palette,
    density: Density,
    project: Option<(Store, ProjectData)>,
}

impl Sources {
    pub(crate) fn from_context() -> Self {
        Self {
            client: Client::from_context(),
            navigation: Navigation::from_context(),
            overview: Overview::from_context(),
            status: ServerStatus::from_context(),
            palette: Palette::from_context(),
            density: Density::from_context(),
            project: use_context::<Store>().zip(use_context::<ProjectData>()),
        }
    }

    /// Every entry that is possible now.
    pub(crate) fn entries(self) -> Vec<Entry> {
        untrack(|| [self.tasks(), self.actions(), self.projects(), self.agents(), self.pages()].concat())
    }

    fn tasks(self) -> Vec<Entry> {
        let Some((store, data)) = self.project else { return Vec::new() };
        let project = data.project();
        let mut entries: Vec<(bool, Entry)> = store.follow_cards(|cards| {
            let of = |card: &Card| {
                let state = CardState::of(card);
                let sign = Sign::State(state.glyph(), state.tone(), state.label());
                let choice = Choice::Go(Route::Board { project: project.clone(), task: Some(card.id.clone()) });
                let entry = Entry::new(Group::Tasks, format!("task/{}", card.id), &card.title, sign, choice);
                (!card.status.is_open(), entry.found_by(format!("{} {}", card.id, state.label())).with_detail(card.id.as_str()))
            };
            cards.iter().rev().map(of).collect()
        });
        // Open tasks before finished ones, then the newest first.
        entries.sort_by_key(|(finished, _)| *finished);
        entries.into_iter().map(|(_, entry)| entry).collect()
    }

    fn actions(self) -> Vec<Entry> {
        let (reader, icon) = (Reader::current(), Sign::Icon);
        let mut entries = Vec::new();
        let all_paused = self.status.server.with(|server| server.as_ref().is_some_and(|server| server.paused_at.is_some()));
        for summary in self.overview.projects.value.get().unwrap_or_default().iter().filter(|summary| summary.planned_tasks > 0) {
            let (id, title) = (&summary.project.id, &summary.project.title);
            let choice = Choice::Go(Route::Plan { project: id.clone() });
            entries.push(
                Entry::new(Group::Actions, format!("plan/{id}"), format!("Review the plan of {title}"), icon(INBOX), choice).found_by("approve"),
            );
        }
        if reader.may(Right::Work) {
            if let Some((store, _)) = self.project {
                entries
                    .push(Entry::new(Group::Actions, "new-task", "New task", icon(PLUS), Choice::NewTask).found_by("create add").with_shortcut("n"));
                let paused = store.project.with(|project| project.as_ref().is_some_and(|project| project.paused_at.is_some()));
                let (title, drawing) = if paused { ("Resume the project", TRIANGLE) } else { ("Pause the project", BARS) };
                entries.push(Entry::new(Group::Actions, "pause", title, icon(drawing), Choice::PauseProject(!paused)).found_by("stop start"));
                let archived = store.project.with(|project| project.as_ref().is_some_and(|project| project.archived_at.is_some()));
                let title = if archived { "Restore the project" } else { "Archive the project" };
                entries.push(Entry::new(Group::Actions, "archive", title, icon(FOLDER), Choice::ArchiveProject(!archived)).found_by("hide"));
            }
            entries.push(Entry::new(Group::Actions, "new-project", "New project", icon(PLUS), Choice::NewProject).found_by("create add"));
            let (title, drawing) = if all_paused { ("Resume all projects", TRIANGLE) } else { ("Pause all projects", BARS) };
            entries.push(Entry::new(Group::Actions, "pause-all", title, icon(drawing), Choice::PauseAll(!all_paused)).found_by("stop start"));
        }
        let density = if self.density.is_comfortable() { "Compact cards" } else { "Comfortable cards" };
        entries.extend([
            Entry::new(Group::Actions, "theme", "Switch between light and dark", icon(SUN), Choice::Theme).found_by("theme mode"),
            Entry::new(Group::Actions, "density", density, icon(ROWS), Choice::Density).found_by("density"),
            Entry::new(Group::Actions, "help", "Keyboard shortcuts", icon(QUESTION), Choice::Help).found_by("help keys").with_shortcut("?"),
        ]);
        entries
    }

    fn projects(self) -> Vec<Entry> {
        let projects = self.overview.projects.value.get().unwrap_or_default();
        let entry = |summary: &ProjectSummary| {
            let project = &summary.project;
            let choice = Choice::Go(Route::Board { project: project.id.clone(), task: None });
            Entry::new(Group::Projects, format!("project/{}", project.id), &project.title, Sign::Icon(GRID), choice)
                .found_by(project.id.as_str())
                .with_detail(state(summary))
        };
        projects.iter().map(entry).collect()
    }

    /// Managed agents at work on all projects, and the external agents of this one.
    fn agents(self) -> Vec<Entry> {
        let mut entries = Vec::new();
        let working = CardState::Working;
        let working = Sign::State(working.glyph(), working.tone(), working.label());
        for summary in self.overview.projects.value.get().unwrap_or_default() {
            for agent in summary.agents {
                let choice = Choice::Go(Route::Board { project: summary.project.id.clone(), task: Some(agent.task_id.clone()) });
                let title = format!("{}: {}", phase_label(agent.phase), agent.title);
                let entry = Entry::new(Group::Agents, format!("run/{}", agent.run_id), title, working, choice);
                entries.push(entry.found_by(format!("{} {} agent", agent.task_id, agent.run_id)).with_detail(agent.task_id.as_str()));
            }
        }
        let Some((_, data)) = self.project else { return entries };
        let external = data.agents.value.get().unwrap_or_default().into_iter().filter(|agent| agent.run_id.is_none() && agent.left_at.is_none());
        entries.extend(external.map(|agent| {
            let choice = Choice::Go(Section::Team.route(data.project()));
            let task = agent.task_id.as_ref().map_or("", TaskId::as_str).to_owned();
            Entry::new(Group::Agents, format!("agent/{}", agent.name), agent.name, Sign::Icon(PLUG), choice).found_by("agent team").with_detail(task)
        }));
        entries
    }

    fn pages(self) -> Vec<Entry> {
        let page =
            |key: &str, title: &str, drawing, route| Entry::new(Group::Pages, format!("page/{key}"), title, Sign::Icon(drawing), Choice::Go(route));
        let mut entries = vec![
            page("needs-you", "Needs you", INBOX, Route::NeedsYou).found_by("inbox decisions questions"),
            page("projects", "All projects", GRID, Route::Projects).found_by("home list"),
            page("all-tasks", "All tasks", COLUMNS, Route::AllTasks).found_by("board open cards of all projects"),
            page("settings", "Settings", SLIDERS, Route::Settings { tab: SettingsTab::Browser }).found_by("preferences theme").with_shortcut("s"),
        ];
        entries.extend(SettingsTab::ALL.into_iter().skip(1).map(|tab| {
            let title = format!("Settings: {}", tab_label(tab));
            page(&title, &title, SLIDERS, Route::Settings { tab }).found_by("phone sessions persons configuration models budget")
        }));
        if Reader::current().may(Right::Administer) {
            let route = Route::Audit { filter: AuditFilter::default() };
            entries.push(page("audit", "Settings: Audit log", SLIDERS, route).found_by("history refusals tokens credentials"));
        }
        if let Some((_, data)) = self.project {
            entries.extend(Section::ALL.into_iter().zip(SECTION_KEYS).map(|(section, shortcut)| {
                let title = section_nav::label(section);
                page(title, title, GRID, section.route(data.project())).with_shortcut(shortcut)
            }));
        }
        entries
    }

    /// Does what an entry says. The palette is closed by then.
    pub(crate) fn act(self, choice: Choice) {
        match choice {
            Choice::Go(route) => self.navigation.go(route),
            Choice::NewTask => {
                if let Some((_, data)) = self.project {
                    data.dialog.set(OpenDialog::NewTask);
                }
            }
            Choice::NewProject => self.palette.show(Overlay::NewProject),
            Choice::PauseProject(paused) => {
                if let Some((_, data)) = self.project {
                    self.client.act(self.client.set_paused(data.project(), paused), |_| {});
                }
            }
            Choice::ArchiveProject(archived) => {
                if let Some((_, data)) = self.project {
                    self.client.act(self.client.set_archived(data.project(), archived), |_| {});
                }
            }
            Choice::PauseAll(paused) => self.client.act(self.client.set_all_paused(paused), move |_| self.status.refresh()),
            Choice::Theme => switch_theme(),
            Choice::Density => self.density.switch(),
            Choice::Help => self.palette.show(Overlay::Help),
        }
    }
}
