//! Checkouts: the working trees of agents. Must not know where they are.

use crate::event::kinds::events;

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
