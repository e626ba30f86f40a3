//! The checks of a profile: the commands that judge work, before its review and before its merge.
//!
//! Must not know results, which are in `check`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Minutes for a command of which a person said nothing.
const DEFAULT_MINUTES: u32 = 30;

/// The commands that judge the work on a project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Checks {
    /// Run on submitted work. Its reviewer starts when all have passed.
    pub quick: CheckList,
    /// Run on the merge of approved work. It is merged when all have passed.
    pub full: CheckList,
}

/// Commands with their limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CheckList {
    /// Lines of shell, for example `npm test`. One that ends with another exit code than 0 has failed.
    pub commands: Vec<String>,
    /// Minutes after which a command is ended.
    pub minutes: u32,
}

impl Default for CheckList {
    fn default() -> Self {
        Self { commands: Vec::new(), minutes: DEFAULT_MINUTES }
    }
}

impl Checks {
    /// Whether nobody changed them.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
