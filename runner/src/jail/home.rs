//! The parts of a home folder that every agent may use: tools to read, and caches to write. Everything else in it is hidden.
//!
//! Pure lists. A folder that is not here can be allowed for a project.

/// Programs, toolchains and settings without secrets.
pub(super) const TOOLS: &[&str] = &[
    ".asdf",
    ".bun/bin",
    ".cargo/bin",
    ".cargo/config.toml",
    ".cargo/env",
    ".config/git",
    ".deno/bin",
    ".gitconfig",
    ".gitignore_global",
    ".local/bin",
    ".local/share/mise",
    ".local/share/pnpm",
    ".local/share/uv",
    ".nvm",
    ".nix-profile",
    ".pyenv",
    ".rbenv",
    ".rustup",
    ".sdkman",
    ".volta",
    "go/bin",
];

/// Downloads and build results that tools share between projects. An agent can spoil them for others.
pub(super) const CACHES: &[&str] = &[
    ".bun/install/cache",
    ".cache/go-build",
    ".cache/pip",
    ".cache/pnpm",
    ".cache/uv",
    ".cache/yarn",
    ".cargo/git",
    ".cargo/registry",
    ".gradle/caches",
    ".local/share/pnpm/store",
    ".m2/repository",
    ".npm",
    "go/pkg/mod",
];

/// A private folder for all other caches.
pub(super) const SCRATCH: &str = ".cache";
