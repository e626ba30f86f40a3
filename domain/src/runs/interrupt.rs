//! Interrupts: a person ends what an agent does right now. Its session continues with that person's message.
//!
//! Must not know how an agent program is told.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::board::attention::{Attention, AttentionKind};
use crate::event::kinds::events;
use crate::time::Timestamp;

/// An interrupt that the agent's next turn ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Interrupt {
    /// Under this id the agent program confirms it.
    pub id: String,
    pub at: Timestamp,
    /// The name of the person.
    pub by: String,
}

impl Interrupt {
    /// The attention for an agent that waits, because its interrupt came without a message.
    pub fn attention(&self) -> Attention {
        let detail = format!("{} interrupted its agent, which waits for a message. Write to the agent, or press Stop.", self.by);
        Attention::new(AttentionKind::Interrupted, detail)
    }

    /// Describes why its run ended before someone wrote to it.
    pub fn end_sentence(&self) -> String {
        format!("{} interrupted it at {}, and it ended before anyone wrote to it", self.by, self.at.clock())
    }
}

events! {
    /// A change of an interrupt.
    InterruptEvent {
        /// A person wants the agent to end its turn now.
        Requested "run_interrupted" {}
        /// The agent continued with a new turn.
        Over "run_interrupt_over" {}
    }
}
