//! The table of all settings: the page of the configuration and the settings of the board repeat it.
//!
//! Must not know a value; the configuration has those.

use SettingsPage as Page;

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
    /// The default in words, as Markdown.
    pub default: &'static str,
    /// Markdown.
    pub meaning: &'static str,
    /// Whether a change applies at the next start only.
    pub needs_restart: bool,
}

impl Row {
    /// The row of the page.
    pub fn to_markdown(self) -> String {
        let restart = if self.needs_restart { " (*restart*)" } else { "" };
        format!("| `{}` | {} | {}{restart} |", self.key, self.default, self.meaning)
    }
}

const fn row(key: &'static str, page: Page, default: &'static str, meaning: &'static str) -> Row {
    Row { key, page, default, meaning, needs_restart: false }
}

const fn restart(key: &'static str, page: Page, default: &'static str, meaning: &'static str) -> Row {
    Row { key, page, default, meaning, needs_restart: true }
}

/// All settings, in the order of the example.
pub const TABLE: &[Row] = &[
    row("repo_path", Page::Repositories, "none", "the repository for new projects; without it, the one of the folder where `serve` starts"),
    row("base_branch", Page::Repositories, "the checked-out branch", "the base branch of new projects on that repository"),
    restart("worktrees_path", Page::Repositories, "`~/.vibe-relay/worktrees`", "the folder of the agents' checkouts"),
    restart("db_path", Page::Limits, "`~/.vibe-relay/vibe-relay.db`", "the database; the token and the folders of runs are beside it"),
    restart("port", Page::Limits, "the last one, or the first free one from 9400 on", "the port of the board; `--port` overrides it"),
    row("max_parallel_agents", Page::Limits, "3", "agents that run at the same time, of all kinds"),
    row("max_attempts", Page::Limits, "3", "failed attempts by one kind of agent before a card needs you"),
    row("max_review_rounds", Page::Limits, "4", "rejections before a card needs you"),
    row("max_repeated_rounds", Page::Limits, "2", "rejections of the same changes with the same findings before a card needs you"),
    restart("max_orchestrator_rounds", Page::Limits, "3", "orchestrator runs for one plan"),
    row("limits.run_minutes", Page::Limits, "240", "how long one run may work; time while the machine is suspended does not count"),
    row("limits.run_turns", Page::Limits, "1000", "requests of one run to its model"),
    row("limits.run_cost_usd", Page::Limits, "25", "money for one run, in US dollars. `null` means no limit, as for all limits"),
    row("limits.run_tokens", Page::Limits, "50000000", "tokens for one run; they count only where no price is known, here and below"),
    row(
        "limits.run_context_percent",
        Page::Limits,
        "75",
        "how full the conversation of a run may become, in percent of its model's context window; then the agent writes down where it stands, and a new conversation continues",
    ),
    row("limits.task_cost_usd", Page::Limits, "50", "money for all runs of a task"),
    row("limits.task_tokens", Page::Limits, "100000000", "tokens for all runs of a task"),
    row("limits.project_cost_usd", Page::Limits, "100", "money for a project that has no budget of its own"),
    row("limits.project_tokens", Page::Limits, "200000000", "tokens for a project"),
    row("limits.day_cost_usd", Page::Limits, "200", "money for all projects on one day in UTC"),
    row("limits.day_tokens", Page::Limits, "400000000", "tokens for all projects on one day in UTC"),
    row(
        "min_free_disk_mib",
        Page::Limits,
        "2048, or 5 % of a small disk",
        "free space below which no agent starts, on the disks of `worktrees_path` and `db_path`; the board says how much is left",
    ),
    restart(
        "protected_paths",
        Page::Repositories,
        "`[\"CLAUDE.md\", \"AGENTS.md\", \".claude/**\", \".github/workflows/**\"]`",
        "paths, relative to the root of the repository; if an agent changes one, the card is marked and the reviewer is told. `*` and `?` match within a name, `**` matches any folders, a name without `/` matches at any depth, and a folder stands for everything in it",
    ),
    row("protected_paths_need_human", Page::Repositories, "`false`", "whether you must approve such a change, after the review, before it is merged"),
    row("port_range", Page::Limits, "`[4000, 4099]`", "ports for agents, one each, in the variable `PORT`"),
    row(
        "allowed_hosts",
        Page::Access,
        "`[]`",
        "host names (with a port unless it is 443) under which a proxy on this machine forwards the requests of your phone over HTTPS, see [Phone](#phone)",
    ),
    restart(
        "durability",
        Page::Limits,
        "`full`",
        "`full`: a write is on the disk before it is acknowledged. `normal`: an acknowledged write survives a crash of the program, but perhaps not of the machine",
    ),
    row(
        "keep_events_days",
        Page::Limits,
        "90",
        "days after which events are removed, with the messages, questions and deliveries that only agents needed; what you wrote is never removed",
    ),
    row("keep_audit_days", Page::Access, "365", "days after which rows of the audit log are removed"),
    restart(
        "rate_limits.writes_per_minute",
        Page::Access,
        "3000",
        "requests of one token or browser that change something; the server's own work does not count. `null`: no limit",
    ),
    restart("rate_limits.searches_per_minute", Page::Access, "1200", "searches of one token or browser"),
    restart("rate_limits.bytes_per_minute", Page::Access, "268435456", "bytes that one token or browser sends"),
    restart(
        "log",
        Page::Limits,
        "`info`",
        "the levels of the log, which is in the folder `logs` beside the database and on standard error: `error`, `warn`, `info`, `debug`, and `info,runner=debug` for one part; the variable `RUST_LOG` replaces it",
    ),
    row("sandbox", Page::Sandbox, "chosen by what works, see [Sandbox](#sandbox)", "`none`, `jail` or `jail+net`"),
    row("sandbox_min", Page::Sandbox, "`none`", "agents never start in a weaker sandbox"),
    row("agent_command", Page::Roles, "`[\"claude\"]`", "a program that supports Claude Code's JSON streams, and its first arguments"),
    row("agents.PHASE.model", Page::Roles, "chosen by Claude Code", "the model; PHASE is `planner`, `coder`, `reviewer`, `orchestrator` or `oracle`"),
    row("agents.PHASE.system_prompt_file", Page::Roles, "built in, see `agents/`", "a file that replaces the prompt"),
    row(
        "agents.PHASE.max_parallel",
        Page::Roles,
        "no limit",
        "agents of this kind that run at the same time. Without a limit, reviewers take up to half of the slots while other work waits, and more when none waits",
    ),
    row(
        "agents.PHASE.stall_minutes",
        Page::Roles,
        "30",
        "minutes without output, CPU time or a running tool after which the runner ends an agent and tries again. The card says so after five minutes. `null`: never",
    ),
    row("agents.PHASE.env", Page::Roles, "`{}`", "environment variables for agents of this kind"),
    row(
        "agents.PHASE.permission_mode",
        Page::Roles,
        "`auto`",
        "`auto`: agents use their tools without asking. `ask`: each use of a tool that Claude Code or your own settings do not allow waits on the card for *Allow once*, *Deny* with a reason, or *Allow … in this task*. Agents never ask before they use the tools of the board",
    ),
    row(
        "agents.PHASE.settings",
        Page::Roles,
        "`user`",
        "`user`: your own Claude Code settings, hooks and `~/.claude/CLAUDE.md` apply to the agents. `none`: they do not",
    ),
    restart(
        "model_restrictions.ROLE",
        Page::Roles,
        "any, except `[\"opus\", \"sonnet\", \"gemini pro\"]` for `commander`, `zone_lead` and `coder`",
        "the models that agents of yours may name when they register as ROLE, which is `general`, `commander`, `zone_lead`, `oracle`, `recon`, `coder` or `builder`. A model is allowed if its name contains all words of an entry. `null`: any",
    ),
    row("webhooks", Page::Access, "`[]`", "addresses that are notified of what needs you, see [Webhooks](#webhooks)"),
];
