//! A setting as a person reads it: its value, where that comes from, and what to write to change it.
//!
//! Must not know what a setting is for; the server sends the table.

use domain::config::origin::SettingSource;
use domain::config::setting::{Setting, SettingsView};
use domain::config::table::SettingsPage;
use leptos::prelude::*;

use crate::components::badge::{Badge, Tone};
use crate::components::copy_button::copy;
use crate::components::inline_code::{InlineCode, sentence};
use crate::components::toast::Toasts;
use crate::route::SettingsTab;

/// The keys with the models of each role.
const MODELS: &str = "model_restrictions.";

/// The name of a page of the settings.
/// The name of the page of the audit log.
pub(crate) const AUDIT_LABEL: &str = "Audit log";

pub(crate) const fn tab_label(tab: SettingsTab) -> &'static str {
    match tab {
        SettingsTab::Browser => "This browser",
        SettingsTab::Access => "Browsers and people",
        SettingsTab::Limits => "Limits",
        SettingsTab::Roles => "Roles and models",
        SettingsTab::Prompts => "Prompts",
        SettingsTab::Repositories => "Repositories",
        SettingsTab::Sandbox => "Sandbox",
    }
}

/// The settings of a page.
#[component]
pub(crate) fn SettingList(view: SettingsView, page: SettingsPage) -> impl IntoView {
    let rows = groups(&view.settings, page).into_iter().map(|group| view! { <SettingRow group=group /> });
    view! {
        <section class="section" aria-label="Configuration">
            <h2>"Configuration"</h2>
            <FileHint file=view.file is_named=view.file_is_named />
            <ul class="rows">{rows.collect_view()}</ul>
        </section>
    }
    .into_any()
}

/// Where to write a changed value, and when it applies.
#[component]
fn FileHint(file: Option<String>, is_named: bool) -> impl IntoView {
    let (place, named) = match file {
        Some(file) => (view! { <code class="path">{file}</code> }.into_any(), if is_named { ", given with --config" } else { "" }),
        None => (view! { <code class="path">"~/.config/vibe-relay/vibe-relay.config.json"</code> }.into_any(), ", which does not exist yet"),
    };
    view! {
        <p class="soft small-text">
            "To change a value, copy it into " {place} {named}
            ". The running board rereads the file at once; a value marked "
            <em>"restart"</em> " applies at the next start."
        </p>
    }
    .into_any()
}

/// A key, or the same key of each kind of agent.
#[component]
fn SettingRow(group: Vec<Setting>) -> impl IntoView {
    let Some(first) = group.first() else { return ().into_any() };
    let (key, meaning, needs_restart) = (general_key(&first.key), without_links(&first.meaning), first.needs_restart);
    let values = group.into_iter().map(|setting| view! { <SettingValue setting=setting /> });
    view! {
        <li class="entry setting">
            <div class="entry-main">
                <p class="row">
                    <code>{key}</code>
                    {needs_restart.then(|| view! { <Badge label="restart" tone=Tone::Neutral /> })}
                </p>
                <p class="soft small-text"><InlineCode text=sentence(&meaning) /></p>
            </div>
            <ul class="setting-values">{values.collect_view()}</ul>
        </li>
    }
    .into_any()
}

#[component]
fn SettingValue(setting: Setting) -> impl IntoView {
    let toasts = Toasts::from_context();
    let label = format!("Copy the line for {}", setting.key);
    let is_given = setting.source != SettingSource::Default;
    let value = shown_value(&setting);
    let phase = phase(&setting.key).map(str::to_owned);
    let snippet = setting.snippet;
    view! {
        <li class="row">
            {phase.map(|phase| view! { <span class="faint small-text phase">{phase}</span> })}
            <span class="setting-value" class:given=is_given><InlineCode text=value /></span>
            <span class="faint small-text">{source_words(setting.source)}</span>
            <button type="button" class="button quiet small" aria-label=label on:click=move |_| copy(toasts, snippet.clone())>"Copy"</button>
        </li>
    }
    .into_any()
}

/// The settings of a page, with the same key of all kinds of agent together.
fn groups(settings: &[Setting], page: SettingsPage) -> Vec<Vec<Setting>> {
    let mut groups: Vec<Vec<Setting>> = Vec::new();
    for setting in settings.iter().filter(|setting| setting.page == page) {
        match groups.last_mut() {
            Some(group) if group.first().is_some_and(|first| general_key(&first.key) == general_key(&setting.key)) => group.push(setting.clone()),
            _ => groups.push(vec![setting.clone()]),
        }
    }
    groups
}

/// The kind of agent or the role that a key belongs to.
fn phase(key: &str) -> Option<&str> {
    key.strip_prefix("agents.").and_then(|rest| rest.split('.').next()).or_else(|| key.strip_prefix(MODELS))
}

/// `agents.PHASE.model` for `agents.coder.model`.
fn general_key(key: &str) -> String {
    let word = if key.starts_with(MODELS) { "ROLE" } else { "PHASE" };
    phase(key).map_or_else(|| key.to_owned(), |phase| key.replacen(phase, word, 1))
}

/// The value for display: as code if it is JSON, and the default in words where nothing is set.
fn shown_value(setting: &Setting) -> String {
    match &setting.value {
        Some(value) if value.contains(" (") || value.ends_with("address") || value.ends_with("addresses") => value.clone(),
        Some(value) => format!("`{value}`"),
        None if setting.key.starts_with(MODELS) => "any".to_owned(),
        // Null in the file is the default, unless that is an amount.
        None if setting.source == SettingSource::Default || !is_amount(&setting.default) => without_links(&setting.default),
        None => "`null`".to_owned(),
    }
}

fn is_amount(default: &str) -> bool {
    default.starts_with(|first: char| first.is_ascii_digit() || first == '`')
}

const fn source_words(source: SettingSource) -> &'static str {
    match source {
        SettingSource::Default => "default",
        SettingSource::File => "from the file",
        SettingSource::Environment => "from an environment variable",
        SettingSource::Folder => "the folder of the server",
    }
}

/// Markdown without its links, which lead into the documentation.
fn without_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('[') {
        plain.push_str(before);
        match after.split_once("](").and_then(|(label, after)| Some((label, after.split_once(')')?.1))) {
            Some((label, after)) if !label.contains('[') => {
                plain.push_str(label);
                rest = after;
            }
            _ => {
                plain.push('[');
                rest = after;
            }
        }
    }
    plain.push_str(rest);
    plain.replace("*Allow once*", "Allow once").replace("*Deny*", "Deny").replace('*', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(key: &str, value: Option<&str>, source: SettingSource) -> Setting {
        Setting {
            key: key.to_owned(),
            page: SettingsPage::Roles,
            value: value.map(str::to_owned),
            default: "chosen, see [Sandbox](#sandbox)".to_owned(),
            meaning: String::new(),
            source,
            needs_restart: false,
            snippet: String::new(),
        }
    }

    #[test]
    fn keys_of_all_kinds_of_agent_are_one_row() {
        let all = ["agent_command", "agents.planner.model", "agents.coder.model", "agents.coder.env"];
        let all: Vec<Setting> = all.iter().map(|key| setting(key, None, SettingSource::Default)).collect();
        let lengths: Vec<usize> = groups(&all, SettingsPage::Roles).iter().map(Vec::len).collect();
        assert_eq!(lengths, [1, 2, 1]);
        assert_eq!(general_key("agents.coder.env"), "agents.PHASE.env");
        assert_eq!((general_key("model_restrictions.coder").as_str(), phase("model_restrictions.coder")), ("model_restrictions.ROLE", Some("coder")));
        assert!(groups(&all, SettingsPage::Limits).is_empty());
    }

    #[test]
    fn unset_value_is_the_default_in_words() {
        assert_eq!(shown_value(&setting("sandbox", None, SettingSource::Default)), "chosen, see Sandbox");
        assert_eq!(shown_value(&setting("sandbox", None, SettingSource::File)), "chosen, see Sandbox");
        let limit = Setting { default: "240".to_owned(), ..setting("limits.run_minutes", None, SettingSource::File) };
        assert_eq!(shown_value(&limit), "`null`");
        assert_eq!(shown_value(&setting("model_restrictions.coder", None, SettingSource::File)), "any");
        assert_eq!(shown_value(&setting("max_attempts", Some("3"), SettingSource::Default)), "`3`");
    }

    #[test]
    fn links_and_emphasis_are_left_out() {
        assert_eq!(without_links("`[4000, 4099]` see [Phone](#phone), *now*"), "`[4000, 4099]` see Phone, now");
        assert_eq!(without_links("a [b] c [d](e"), "a [b] c [d](e");
    }
}
