//! The table of all settings: the page of the configuration and the settings of the board repeat it.
//!
//! Must not know a value; the configuration has those.

use SettingsPage as Page;

pub use super::values::{Form, Values};
use super::values::{or_null, values};
use crate::vocabulary::vocabulary;

vocabulary! {
    /// The page that shows a setting.
    SettingsPage, "page of settings" {
        Limits = "limits",
        Roles = "roles",
        Repositories = "repositories",
        Sandbox = "sandbox",
        Access = "access",
    }
}

/// A key of the configuration, or the same key of each kind of agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// With dots; `PHASE` stands for each kind of agent, and `ROLE` for each role with a list of models.
    pub key: &'static str,
    pub page: Page,
    pub values: Values,
    /// The default in words, as Markdown.
    pub default: &'static str,
    /// Markdown.
    pub meaning: &'static str,
    /// Whether a change applies at the next start only.
    pub needs_restart: bool,
}

impl Row {
    /// The row in the second table of the page: type, unit and limits.
    pub fn limits_to_markdown(self) -> String {
        format!("| `{}` | {} | {} | {} |", self.key, self.values.to_markdown(), self.values.unit, self.values.allowed)
    }

    /// The row in the first table of the page.
    pub fn to_markdown(self) -> String {
        let restart = if self.needs_restart { " (*restart*)" } else { "" };
        format!("| `{}` | {} | {}{restart} |", self.key, self.default, self.meaning)
    }
}

const fn row(key: &'static str, page: Page, values: Values, default: &'static str, meaning: &'static str) -> Row {
    Row { key, page, values, default, meaning, needs_restart: false }
}

const fn restart(key: &'static str, page: Page, values: Values, default: &'static str, meaning: &'static str) -> Row {
    Row { key, page, values, default, meaning, needs_restart: true }
}

/// Returns the row of a key of the file, and whether the key is only a part of its value, such as `agents.coder.env.PORT` or
/// `protected_paths[1]`.
pub fn row_of(key: &str) -> Option<(&'static Row, bool)> {
    let parts: Vec<&str> = key.split(['.', '[']).collect();
    TABLE.iter().find_map(|row| {
        let expected: Vec<&str> = row.key.split('.').collect();
        let is_same = |(expected, part): (&&str, &&str)| matches!(*expected, "PHASE" | "ROLE") || expected == part;
        let is_start = expected.len() <= parts.len() && expected.iter().zip(&parts).all(is_same);
        is_start.then_some((row, expected.len() < parts.len()))
    })
}

/// Whether the value could be secret.
pub(super) fn is_hidden(key: &str) -> bool {
    key.ends_with(".env") || matches!(key, "webhooks" | "agent_command")
}

/// All settings, in the order of the example.
pub const TABLE: &[Row] = &[
    row(
        "repo_path",
        Page::Repositories,
        or_null(Form::String, "path", "any folder of a git checkout"),
        "none",
        "the repository for new projects; without it, the one of the folder where `serve` starts",
    ),
    row(
        "base_branch",
        Page::Repositories,
        or_null(Form::String, "name", "a local branch"),
        "the checked-out branch",
        "the base branch of new projects on that repository",
    ),
    restart(
        "worktrees_path",
        Page::Repositories,
        values(Form::String, "path", "a folder that you may write to"),
        "`worktrees` in the [state folder](maintenance.md#what-is-where)",
        "the folder of the agents' checkouts",
    ),
    restart(
        "db_path",
        Page::Limits,
        values(Form::String, "path", "on a local disk, in a folder that you may write to"),
        "`vibe-relay.db` in the [data folder](maintenance.md#what-is-where)",
        "the database; the token and the folders of runs are beside it",
    ),
    restart(
        "port",
        Page::Limits,
        or_null(Form::Integer, "port", "1 to 65535; `null` is the port that the board had last, or the first free one from 9400 to 9499"),
        "the last one, or the first free one from 9400 on",
        "the port of the board; `--port` overrides it",
    ),
    row("max_parallel_agents", Page::Limits, values(Form::Integer, "agents", "1 to 64"), "3", "agents that run at the same time, of all kinds"),
    row(
        "max_attempts",
        Page::Limits,
        values(Form::Integer, "failures", "1 to 20"),
        "3",
        "failed attempts by one kind of agent before a card needs you",
    ),
    row("max_review_rounds", Page::Limits, values(Form::Integer, "rejections", "1 to 50"), "4", "rejections before a card needs you"),
    row(
        "max_repeated_rounds",
        Page::Limits,
        values(Form::Integer, "rejections", "2 to 50"),
        "2",
        "rejections of the same changes with the same findings before a card needs you",
    ),
    restart(
        "max_orchestrator_rounds",
        Page::Limits,
        values(Form::Integer, "runs", "0 to 50; with 0 no orchestrator starts"),
        "3",
        "orchestrator runs for one plan",
    ),
    row(
        "limits.run_minutes",
        Page::Limits,
        or_null(Form::Integer, "minutes", "more than 0"),
        "240",
        "how long one run may work; time while the machine is suspended does not count",
    ),
    row("limits.run_turns", Page::Limits, or_null(Form::Integer, "requests", "more than 0"), "1000", "requests of one run to its model"),
    row(
        "limits.run_cost_usd",
        Page::Limits,
        or_null(Form::Number, "US dollars", "more than 0"),
        "25",
        "money for one run, in US dollars. `null` means no limit, as for all limits",
    ),
    row(
        "limits.run_tokens",
        Page::Limits,
        or_null(Form::Integer, "tokens", "more than 0"),
        "50000000",
        "tokens for one run; they count only where no price is known, here and below",
    ),
    row(
        "limits.run_context_percent",
        Page::Limits,
        or_null(Form::Integer, "percent", "1 to 100"),
        "75",
        "how full the conversation of a run may become, in percent of its model's context window; then the agent writes down where it stands, and a new conversation continues",
    ),
    row("limits.task_cost_usd", Page::Limits, or_null(Form::Number, "US dollars", "more than 0"), "50", "money for all runs of a task"),
    row("limits.task_tokens", Page::Limits, or_null(Form::Integer, "tokens", "more than 0"), "100000000", "tokens for all runs of a task"),
    row(
        "limits.project_cost_usd",
        Page::Limits,
        or_null(Form::Number, "US dollars", "more than 0"),
        "100",
        "money for a project that has no budget of its own",
    ),
    row("limits.project_tokens", Page::Limits, or_null(Form::Integer, "tokens", "more than 0"), "200000000", "tokens for a project"),
    row("limits.day_cost_usd", Page::Limits, or_null(Form::Number, "US dollars", "more than 0"), "200", "money for all projects on one day in UTC"),
    row("limits.day_tokens", Page::Limits, or_null(Form::Integer, "tokens", "more than 0"), "400000000", "tokens for all projects on one day in UTC"),
    row(
        "min_free_disk_mib",
        Page::Limits,
        or_null(Form::Integer, "MiB", "0 or more; `null` is 2048 or 5 % of the disk, whichever is less"),
        "2048, or 5 % of a small disk",
        "free space below which no agent starts, on the disks of `worktrees_path` and `db_path`; the board says how much is left",
    ),
    restart(
        "protected_paths",
        Page::Repositories,
        values(Form::Strings, "globs", "below the root of the repository, without `..`"),
        "`[\"CLAUDE.md\", \"AGENTS.md\", \".claude/**\", \".github/workflows/**\"]`",
        "paths, relative to the root of the repository; if an agent changes one, the card is marked and the reviewer is told. `*` and `?` match within a name, `**` matches any folders, a name without `/` matches at any depth, and a folder stands for everything in it",
    ),
    row(
        "protected_paths_need_human",
        Page::Repositories,
        values(Form::Boolean, "yes or no", "`true`, `false`"),
        "`false`",
        "whether you must approve such a change, after the review, before it is merged",
    ),
    row(
        "port_range",
        Page::Limits,
        values(Form::TwoIntegers, "ports", "1024 to 65535, the lower one first"),
        "`[4000, 4099]`",
        "ports for agents, one each, in the variable `PORT`",
    ),
    row(
        "allowed_hosts",
        Page::Access,
        values(Form::Strings, "host, or host and port", "names without a scheme or a path"),
        "`[]`",
        "host names (with a port unless it is 443) under which a proxy on this machine forwards the requests of your phone over HTTPS, see [Phone](#phone)",
    ),
    restart(
        "durability",
        Page::Limits,
        values(Form::String, "name", "`full`, `normal`"),
        "`full`",
        "`full`: a write is on the disk before it is acknowledged. `normal`: an acknowledged write survives a crash of the program, but perhaps not of the machine",
    ),
    row(
        "keep_events_days",
        Page::Limits,
        values(Form::Integer, "days", "1 to 3650"),
        "90",
        "days after which events are removed, with the messages, questions and deliveries that only agents needed; what you wrote is never removed. At most the newest 1,000,000 events are kept",
    ),
    row("keep_audit_days", Page::Access, values(Form::Integer, "days", "1 to 3650"), "365", "days after which rows of the audit log are removed"),
    restart(
        "rate_limits.writes_per_minute",
        Page::Access,
        or_null(Form::Integer, "requests", "more than 0"),
        "3000",
        "requests that change something, of one agent, or of one token or browser of a person; the server's own work does not count. `null`: no limit",
    ),
    restart(
        "rate_limits.searches_per_minute",
        Page::Access,
        or_null(Form::Integer, "requests", "more than 0"),
        "1200",
        "searches of one agent, or of one token or browser of a person",
    ),
    restart(
        "rate_limits.bytes_per_minute",
        Page::Access,
        or_null(Form::Integer, "bytes", "more than 0"),
        "268435456",
        "bytes that one agent, or one token or browser of a person, sends",
    ),
    restart(
        "log",
        Page::Limits,
        values(Form::String, "levels", "levels such as `info` or `info,runner=debug`"),
        "`info`",
        "the levels of the log, which is in the folder `logs` and on standard error: `error`, `warn`, `info`, `debug`, and `info,runner=debug` for one part; the variable `RUST_LOG` replaces it",
    ),
    row(
        "sandbox",
        Page::Sandbox,
        or_null(Form::String, "name", "`none`, `jail`, `jail+net`; not weaker than `sandbox_min`"),
        "chosen by what works, see [Sandbox](#sandbox)",
        "`none`, `jail` or `jail+net`",
    ),
    row("sandbox_min", Page::Sandbox, values(Form::String, "name", "`none`, `jail`, `jail+net`"), "`none`", "agents never start in a weaker sandbox"),
    row(
        "agent_command",
        Page::Roles,
        values(Form::Strings, "words", "the first is a program"),
        "`[\"claude\"]`",
        "a program that supports Claude Code's JSON streams, and its first arguments",
    ),
    row(
        "agents.PHASE.model",
        Page::Roles,
        or_null(Form::String, "name", "a model name that the agent program accepts"),
        "chosen by Claude Code",
        "the model; PHASE is `planner`, `coder`, `reviewer`, `orchestrator` or `oracle`",
    ),
    row(
        "agents.PHASE.system_prompt_file",
        Page::Roles,
        or_null(Form::String, "path", "a readable file with 1 byte to 64 KiB"),
        "built in, see `agents/`",
        "a file that replaces the system prompt, even one from `prompts_path`",
    ),
    row(
        "agents.PHASE.max_parallel",
        Page::Roles,
        or_null(Form::Integer, "agents", "1 to 64"),
        "no limit",
        "agents of this kind that run at the same time. Without a limit, reviewers take up to half of the slots while other work waits, and more when none waits",
    ),
    row(
        "agents.PHASE.stall_minutes",
        Page::Roles,
        or_null(Form::Integer, "minutes", "more than 0"),
        "30",
        "minutes without output, CPU time or a running tool after which the runner ends an agent and tries again. The card says so after five minutes. `null`: never",
    ),
    row(
        "agents.PHASE.env",
        Page::Roles,
        values(Form::Variables, "variables", "names that begin with `VIBE_RELAY_`, and a few of Claude Code's own, are ignored"),
        "`{}`",
        "environment variables for agents of this kind",
    ),
    row(
        "agents.PHASE.permission_mode",
        Page::Roles,
        values(Form::String, "name", "`auto`, `ask`"),
        "`auto`",
        "`auto`: agents use their tools without asking. `ask`: each use of a tool that Claude Code or your own settings do not allow waits on the card for *Allow once*, *Deny* with a reason, or *Allow … in this task*. Agents never ask before they use the tools of the board",
    ),
    row(
        "agents.PHASE.settings",
        Page::Roles,
        values(Form::String, "name", "`user`, `none`"),
        "`user`",
        "`user`: your own Claude Code settings, hooks and `~/.claude/CLAUDE.md` apply to the agents. `none`: they do not",
    ),
    row(
        "prompts_path",
        Page::Roles,
        or_null(Form::String, "path", "an existing folder"),
        "none",
        "a folder whose files replace the texts for agents: roles, reminders, protocol and the rest, each named as in `agents/`, see [Prompts](environment.md#prompts)",
    ),
    restart(
        "model_restrictions.ROLE",
        Page::Roles,
        or_null(Form::Strings, "names", "one or more, each not empty"),
        "any, except `[\"opus\", \"sonnet\", \"gemini pro\"]` for `commander`, `zone_lead` and `coder`",
        "the models that external agents may name when they register as ROLE, which is `general`, `commander`, `zone_lead`, `oracle`, `recon`, `coder` or `builder`. A model is allowed if its name contains all words of an entry. `null`: any",
    ),
    row(
        "webhooks",
        Page::Access,
        values(Form::Objects, "addresses", "see [Webhooks](#webhooks); each address once"),
        "`[]`",
        "addresses that are notified of what needs you, see [Webhooks](#webhooks)",
    ),
];

#[cfg(test)]
mod tests;
