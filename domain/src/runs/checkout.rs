//! Checkouts: the working trees of agents. Must not know where they are.

use crate::event::kinds::events;

/// The work that was kept from a checkout before its removal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeptWork {
    /// The reference that keeps the task's own unmerged work.
    pub own: Option<String>,
    pub nested: Vec<KeptNested>,
}

/// Commits of a nested repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptNested {
    /// The folder of the nested repository in the checkout.
    pub path: String,
    pub reference: String,
}

impl KeptWork {
    /// Says on the card where the work is; none if nothing was kept.
    pub fn note(&self) -> Option<String> {
        let own =
            self.own.as_ref().map(|reference| format!("The unmerged work is kept in `{reference}`; restore it with `git branch NAME {reference}`."));
        let nested = self.nested.iter().map(|KeptNested { path, reference }| {
            format!("The commits of the nested repository `{path}` are kept in `{reference}`; fetch them with `git fetch REPOSITORY {reference}`.")
        });
        let notes: Vec<String> = own.into_iter().chain(nested).collect();
        (!notes.is_empty()).then(|| notes.join("\n\n"))
    }
}

events! {
    /// A change of a task's checkout.
    CheckoutEvent {
        Created "checkout_made" { branch: String }
        Removed "checkout_removed" {
            /// The rescue ref that keeps unmerged work.
            rescue: Option<String>
        }
    }
}
