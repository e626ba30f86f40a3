//! The pages of the settings, and their addresses.

/// A page of the settings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum SettingsTab {
    /// The preferences of this browser.
    #[default]
    Browser,
    /// Browsers that are signed in, and the persons of the board.
    Access,
    Limits,
    Roles,
    Prompts,
    Repositories,
    Sandbox,
}

impl SettingsTab {
    pub(crate) const ALL: [Self; 7] = [Self::Browser, Self::Access, Self::Limits, Self::Roles, Self::Prompts, Self::Repositories, Self::Sandbox];

    /// The path segment in an address, empty for the first.
    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::Browser => "",
            Self::Access => "access",
            Self::Limits => "limits",
            Self::Roles => "roles",
            Self::Prompts => "prompts",
            Self::Repositories => "repositories",
            Self::Sandbox => "sandbox",
        }
    }
}
