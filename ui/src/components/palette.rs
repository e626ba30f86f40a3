//! The palette: one field that finds and does everything by keyboard, and searches the texts of all projects.
//!
//! Must not rank entries, and must not know what they do.

mod entries;
mod row;

use std::time::Duration;

use domain::board::search::SearchHit;
use gloo_timers::future::sleep;
use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos::wasm_bindgen::JsCast;
use web_sys::{HtmlElement, KeyboardEvent, ScrollIntoViewOptions, ScrollLogicalPosition};

use crate::client::Client;
use crate::components::dialog::{focused, restore_focus};
use crate::components::icon::{CLOSE, Icon, SEARCH};
use crate::lazy::lazy;
use crate::palette::{Group, rank, remember, step, without_known};
use crate::parts;
use crate::route::Navigation;
use crate::storage::storage;
use entries::{Entry, Sources};
use row::{Content, Row, RowView};

/// Time without typing before the server is asked.
const DEBOUNCE_INTERVAL: Duration = Duration::from_millis(120);
/// Shorter words are part of too many texts.
const MIN_LETTERS: usize = 2;
const RECENT: &str = "palette/recent";

/// The things that the palette finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    All,
    /// Only texts on the server.
    Texts,
}

/// A dialog above the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overlay {
    Palette(Mode),
    NewProject,
    Help,
}

#[derive(Clone, Copy)]
pub(crate) struct Palette(RwSignal<Option<Overlay>>);

impl Palette {
    /// Makes the closed palette available below the current owner.
    pub(crate) fn provide() -> Self {
        let palette = Self(RwSignal::new(None));
        provide_context(palette);
        palette
    }

    pub(crate) fn from_context() -> Self {
        expect_context()
    }

    pub(crate) fn is_open(self) -> bool {
        matches!(self.0.get_untracked(), Some(Overlay::Palette(_)))
    }

    /// Opens the palette, or closes it if it is open.
    pub(crate) fn toggle(self, mode: Mode) {
        self.0.set((!self.is_open()).then_some(Overlay::Palette(mode)));
    }

    pub(crate) fn show(self, overlay: Overlay) {
        self.0.set(Some(overlay));
    }

    fn close(self) {
        self.0.set(None);
    }
}

/// The keys that open the palette, as they are printed on the reader's keyboard.
pub(crate) fn palette_keys() -> &'static str {
    let is_mac = window().navigator().user_agent().is_ok_and(|agent| agent.contains("Mac"));
    if is_mac { "⌘ K" } else { "Ctrl K" }
}

/// The button that opens the palette.
#[component]
pub(crate) fn PaletteButton(class: &'static str, children: Children) -> impl IntoView {
    let palette = Palette::from_context();
    view! {
        <button type="button" class=class aria-haspopup="dialog" on:click=move |_| palette.toggle(Mode::All)>
            <Icon drawing=SEARCH />
            <span>"Search"</span>
            {children()}
        </button>
    }
}

/// Draws the open palette, with the entries of the page below which it stands.
#[component]
pub(crate) fn PaletteOutlet() -> impl IntoView {
    let palette = Palette::from_context();
    let close = Callback::new(move |()| palette.close());
    move || {
        palette.0.get().map(|overlay| match overlay {
            Overlay::Palette(mode) => lazy(move || parts::palette_dialog(mode)),
            Overlay::NewProject => lazy(move || parts::new_project_dialog(close)),
            Overlay::Help => lazy(move || parts::help_dialog(close)),
        })
    }
}

/// The texts that were found for `words`.
#[derive(Debug, Clone, Default, PartialEq)]
struct Answer {
    words: String,
    hits: Vec<SearchHit>,
    failed: bool,
}

#[component]
pub(crate) fn PaletteDialog(mode: Mode) -> impl IntoView {
    let (palette, sources, navigation) = (Palette::from_context(), Sources::from_context(), Navigation::from_context());
    let (dialog, input) = (NodeRef::<html::Dialog>::new(), NodeRef::<html::Input>::new());
    let before = StoredValue::new_local(focused());
    let (typed, selected) = (RwSignal::new(String::new()), RwSignal::new(0_usize));
    let answer = search(typed);
    // As they are now: a list that moves under the selection would be chosen from by mistake.
    let (entries, recent) = (StoredValue::new(if mode == Mode::All { sources.entries() } else { Vec::new() }), StoredValue::new(recent()));
    let rows = Memo::new(move |_| {
        let hits = answer.with(|answer| answer.hits.clone());
        entries.with_value(|entries| typed.with(|typed| recent.with_value(|recent| rows(entries, typed, recent, hits))))
    });
    let is_searching = move || typed.with(|typed| wants_search(typed)) && typed.with(|typed| answer.with(|answer| answer.words != typed.trim()));

    Effect::new(move || {
        if let Some(dialog) = dialog.get().filter(|dialog| !dialog.open()) {
            let _shown = dialog.show_modal();
        }
        if let Some(input) = input.get() {
            let _focused = input.focus();
        }
    });
    on_cleanup(move || {
        let before = before.try_get_value().flatten();
        request_animation_frame(move || restore_focus(before.as_ref()));
    });
    Effect::new(move || {
        let _rows = rows.with(Vec::len);
        let selected = selected.get();
        request_animation_frame(move || reveal(selected));
    });

    let choose = Callback::new(move |index: usize| {
        let Some(row) = rows.with_untracked(|rows| rows.get(index).cloned()) else { return };
        let seen = recent.get_value();
        palette.close();
        match row.content {
            Content::Entry { key, choice, .. } => {
                store_recent(&remember(&seen, &key));
                sources.act(choice);
            }
            Content::Hit(hit) => navigation.go(crate::palette::route_of(&hit)),
        }
    });
    let on_key = move |event: KeyboardEvent| {
        let count = rows.with_untracked(Vec::len);
        match event.key().as_str() {
            "ArrowDown" | "ArrowUp" => selected.update(|selected| *selected = step(*selected, count, event.key() == "ArrowDown")),
            "Enter" if !event.is_composing() => choose.run(selected.get_untracked()),
            _ => return,
        }
        event.prevent_default();
        event.stop_propagation();
    };
    let placeholder = match mode {
        Mode::All => "Search, open or do…",
        Mode::Texts => "Search tasks, comments, messages, findings and runs…",
    };
    let status = move || {
        if is_searching() {
            return "Searching…".to_owned();
        }
        match (rows.with(Vec::len), typed.with(|typed| wants_search(typed))) {
            (_, true) if answer.with(|answer| answer.failed) => "The server did not answer the search.".to_owned(),
            (0, true) => "Nothing found. Try fewer or other words.".to_owned(),
            (0, false) => "Type at least two letters.".to_owned(),
            (_, false) if typed.with(|typed| typed.trim().is_empty()) => "Type to find more.".to_owned(),
            (1, _) => "1 result".to_owned(),
            (count, _) => format!("{count} results"),
        }
    };
    view! {
        <dialog
            class="palette"
            node_ref=dialog
            aria-label="Search and commands"
            on:cancel=move |event: web_sys::Event| {
                event.prevent_default();
                palette.close();
            }
            on:mousedown=move |event| {
                // A press on the backdrop targets the dialog element itself.
                let hit = event.target().and_then(|target| target.dyn_into::<web_sys::HtmlDialogElement>().ok());
                if hit.is_some() {
                    palette.close();
                }
            }
        >
            <div class="palette-body">
                <div class="palette-field">
                    <Icon drawing=SEARCH />
                    <input
                        node_ref=input
                        type="text"
                        role="combobox"
                        autocomplete="off"
                        autocapitalize="off"
                        spellcheck="false"
                        enterkeyhint="go"
                        aria-expanded="true"
                        aria-autocomplete="list"
                        aria-controls="palette-list"
                        aria-activedescendant=move || rows.with(|rows| (!rows.is_empty()).then(|| row::id(selected.get())))
                        aria-label=match mode {
                            Mode::All => "Search or do",
                            Mode::Texts => "Search the texts of all projects",
                        }
                        placeholder=placeholder
                        maxlength="128"
                        on:input:target=move |event| {
                            selected.set(0);
                            typed.set(event.target().value());
                        }
                        on:keydown=on_key
                    />
                    <button type="button" class="button quiet icon small" aria-label="Close" on:click=move |_| palette.close()>
                        <Icon drawing=CLOSE />
                    </button>
                </div>
                <div id="palette-list" class="palette-list" role="listbox" aria-label="Results">
                    {move || {
                        let mut groups: Vec<(Group, Vec<(usize, Row)>)> = Vec::new();
                        for (index, row) in rows.get().into_iter().enumerate() {
                            match groups.last_mut().filter(|(group, _)| *group == row.group) {
                                Some((_, rows)) => rows.push((index, row)),
                                None => groups.push((row.group, vec![(index, row)])),
                            }
                        }
                        groups.into_iter().map(|(group, rows)| view! {
                            <div role="group" aria-label=group.label()>
                                <div class="palette-heading" aria-hidden="true">{group.label()}</div>
                                {rows.into_iter().map(|(index, row)| view! {
                                    <RowView index=index row=row selected=selected choose=choose />
                                }).collect_view()}
                            </div>
                        }).collect_view()
                    }}
                </div>
                <div class="palette-foot">
                    <span role="status">{status}</span>
                    <span class="hints" aria-hidden="true">
                        <span><kbd>"↑"</kbd> <kbd>"↓"</kbd> " choose"</span>
                        <span><kbd>"↵"</kbd> " open"</span>
                        <span><kbd>"Esc"</kbd> " close"</span>
                    </span>
                </div>
            </div>
        </dialog>
    }
}

/// Asks the server for texts while someone types. An answer to older words is dropped.
fn search(typed: RwSignal<String>) -> RwSignal<Answer> {
    let client = Client::from_context();
    let (answer, newest) = (RwSignal::new(Answer::default()), StoredValue::new(0_u32));
    Effect::new(move || {
        let words = typed.with(|typed| typed.trim().to_owned());
        newest.update_value(|newest| *newest = newest.wrapping_add(1));
        let own = newest.get_value();
        if !wants_search(&words) {
            answer.set(Answer::default());
            return;
        }
        spawn_local(async move {
            let is_newest = move || newest.try_get_value() == Some(own);
            sleep(DEBOUNCE_INTERVAL).await;
            if !is_newest() {
                return;
            }
            let found = client.search(&words).await;
            if is_newest() {
                let failed = found.is_err();
                let _closed = answer.try_set(Answer { words, hits: found.map(|list| list.items).unwrap_or_default(), failed });
            }
        });
    });
    answer
}

fn wants_search(words: &str) -> bool {
    words.trim().chars().count() >= MIN_LETTERS || !words.trim().is_ascii()
}

/// The rows for the typed words: entries, then texts.
fn rows(entries: &[Entry], typed: &str, recent: &[String], hits: Vec<SearchHit>) -> Vec<Row> {
    let ranked = rank(entries.iter().map(|entry| &entry.words), typed, recent);
    let mut rows: Vec<Row> = ranked.into_iter().filter_map(|ranked| Some(Row::of_entry(entries.get(ranked.entry)?, &ranked))).collect();
    let known: Vec<String> = rows.iter().filter(|row| row.group == Group::Tasks).filter_map(Row::task).collect();
    rows.extend(without_known(hits, &known).into_iter().map(|hit| Row { group: Group::Texts, content: Content::Hit(hit) }));
    rows
}

/// Scrolls the selected row into view.
fn reveal(selected: usize) {
    let Some(row) = document().get_element_by_id(&row::id(selected)).and_then(|row| row.dyn_into::<HtmlElement>().ok()) else { return };
    let options = ScrollIntoViewOptions::new();
    options.set_block(ScrollLogicalPosition::Nearest);
    row.scroll_into_view_with_scroll_into_view_options(&options);
}

/// The keys of the last choices, the newest first.
fn recent() -> Vec<String> {
    let stored = storage().and_then(|storage| storage.get_item(RECENT).ok()?);
    stored.and_then(|stored| serde_json::from_str(&stored).ok()).unwrap_or_default()
}

fn store_recent(recent: &[String]) {
    let text = serde_json::to_string(recent).unwrap_or_default();
    let _stored = storage().map(|storage| storage.set_item(RECENT, &text));
}
