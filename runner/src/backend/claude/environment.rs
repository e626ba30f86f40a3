//! Environment variables of Claude Code. Pure.

/// Variables that every agent gets besides the inherited ones.
pub(super) const ADDED_VARIABLES: &[(&str, &str)] = &[
    // A background command would keep the program alive after its last turn.
    ("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1"),
    // Reads the repository's CLAUDE.md, which `--setting-sources user` skips along with the repository's hooks.
    ("CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD", "1"),
    // The program would share one memory among all who work in the repository: a coder could instruct its reviewer, and the human's agents.
    ("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1"),
    // A build or a test suite takes longer than the program's limits of two and ten minutes.
    ("BASH_DEFAULT_TIMEOUT_MS", "600000"),
    ("BASH_MAX_TIMEOUT_MS", "3600000"),
];

/// Variables of the user that an agent inherits: the user's own sign-in and settings.
pub const INHERITED_VARIABLES: &[&str] = &[
    CONFIG_VARIABLE,
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_MAX_RETRIES",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "DISABLE_AUTOUPDATER",
    // Only when the user sets it: it claims that a sandbox is around the agent.
    SANDBOX,
];

pub const INHERITED_PREFIXES: &[&str] = &["ANTHROPIC_", PROVIDER_PREFIX];

/// Variables that choose a cloud provider as the model's host. The provider's own variables pass only when one of them is set.
pub const PROVIDER_PREFIX: &str = "CLAUDE_CODE_USE_";
/// Those that Claude Code documents.
pub(super) const PROVIDERS: &[&str] = &["CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"];
pub const PROVIDER_VARIABLE_PREFIXES: &[&str] = &["AWS_", "GOOGLE_", "GCLOUD_", "CLOUD_ML_", "AZURE_"];

/// The folder of the program's files, if it is not the usual one.
pub const CONFIG_VARIABLE: &str = "CLAUDE_CONFIG_DIR";

/// The URL of the model's service, if it is not the usual one.
pub const SERVICE_VARIABLE: &str = "ANTHROPIC_BASE_URL";
pub const SERVICE_URL: &str = "https://api.anthropic.com";

/// Declares that a sandbox is around the agent, so that it may run as root.
pub const SANDBOX: &str = "IS_SANDBOX";

/// Variables that sign an agent in without the program's own sign-in.
pub(super) const CREDENTIALS: &[&str] = &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"];

/// Whether a running agent sets the variable for its children. The configuration must not set it.
pub fn is_reserved_variable(name: &str) -> bool {
    matches!(name, "CLAUDECODE" | "CLAUDE_CODE_SESSION_ID" | "CLAUDE_CODE_CHILD_SESSION" | "CLAUDE_CODE_ENTRYPOINT")
        || name.starts_with("CLAUDE_CODE_MESSAGING_")
}
