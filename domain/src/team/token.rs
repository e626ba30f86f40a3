//! Tokens of participants. Their values are not part of them.

use crate::event::kinds::events;

events! {
    /// A change of the tokens of agents or persons.
    TokenEvent {
        Created "token_made" {}
    }
}
