//! Permissions: what the holder of a token may do with it. Only a person gives them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::vocabulary::{UnknownValue, vocabulary};

vocabulary! {
    /// A permission of a token.
    Permission, "permission" {
        /// Every token has it.
        Read = "read",
        /// Call the tools that change something.
        Write = "write",
        /// Read and write the messages for readers with this permission. It gives no right of a person.
        Admin = "admin",
    }
}

/// The permissions of a token. Reading is always among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "Vec<Permission>", into = "Vec<Permission>")]
pub struct Permissions {
    pub write: bool,
    pub admin: bool,
}

impl Permissions {
    pub const READ: Self = Self { write: false, admin: false };
    pub const ALL: Self = Self { write: true, admin: true };

    pub const fn has(self, permission: Permission) -> bool {
        match permission {
            Permission::Read => true,
            Permission::Write => self.write,
            Permission::Admin => self.admin,
        }
    }

    /// Returns those that are requested and held, in their order. A request adds none.
    pub fn held_of(self, requested: &[Permission]) -> Vec<Permission> {
        Permission::ALL.iter().copied().filter(|permission| requested.contains(permission) && self.has(*permission)).collect()
    }
}

impl Default for Permissions {
    /// Reading and writing.
    fn default() -> Self {
        Self { write: true, admin: false }
    }
}

impl From<Vec<Permission>> for Permissions {
    fn from(given: Vec<Permission>) -> Self {
        Self { write: given.contains(&Permission::Write), admin: given.contains(&Permission::Admin) }
    }
}

impl From<Permissions> for Vec<Permission> {
    fn from(held: Permissions) -> Self {
        held.held_of(Permission::ALL)
    }
}

/// The words with spaces between them, as they are stored.
impl fmt::Display for Permissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<&str> = Vec::from(*self).into_iter().map(Permission::as_str).collect();
        f.write_str(&words.join(" "))
    }
}

impl FromStr for Permissions {
    type Err = UnknownValue;

    fn from_str(given: &str) -> Result<Self, UnknownValue> {
        given.split_whitespace().map(str::parse).collect::<Result<Vec<Permission>, _>>().map(Self::from)
    }
}
