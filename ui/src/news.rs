//! Which of the lists beside the board an event makes old. Must not read anything: whoever shows a list asks the server again.

use domain::event::Event;

/// A list that is read on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Topic {
    Team,
    Messages,
    Goals,
    Contracts,
    Handshakes,
    Minions,
}

impl Topic {
    pub(crate) const ALL: [Self; 6] = [Self::Team, Self::Messages, Self::Goals, Self::Contracts, Self::Handshakes, Self::Minions];
}

/// What must be read again after an event. Signs of life are no events: who shows health asks now and then.
pub(crate) const fn outdated(event: &Event) -> &'static [Topic] {
    use Topic::{Contracts, Goals, Handshakes, Messages, Minions, Team};
    match event {
        Event::MessageSent { .. } | Event::InboxDelivered { .. } => &[Messages, Team],
        Event::AgentLeft { .. } => &[Team, Handshakes],
        Event::AgentRegistered { .. }
        | Event::AgentStatus { .. }
        | Event::TokenCreated {}
        | Event::TaskAssigned { .. }
        | Event::TaskMoved { .. }
        | Event::RunStarted { .. } => &[Team],
        // With a run, its minions end.
        Event::RunEnded { .. } => &[Team, Minions],
        Event::GoalCreated { .. } | Event::GoalMoved { .. } => &[Goals],
        Event::ContractDeclared { .. } => &[Contracts],
        Event::HandshakeInitiated { .. } | Event::HandshakeAcknowledged { .. } | Event::HandshakeCompleted { .. } => &[Handshakes],
        Event::SpawnPolicySet { .. } | Event::MinionLogged { .. } => &[Minions],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_among_agents_outdates_what_shows_it() {
        let sent = Event::MessageSent { message: 1, from: "mara".to_owned(), to: "human".to_owned(), is_cc: false };
        assert_eq!(outdated(&sent), [Topic::Messages, Topic::Team]);
        assert_eq!(outdated(&Event::InboxDelivered { agent: "human".to_owned(), messages: 1 }), [Topic::Messages, Topic::Team]);
        assert_eq!(outdated(&Event::AgentLeft { agent: "mara".to_owned() }), [Topic::Team, Topic::Handshakes]);
        assert_eq!(outdated(&Event::HandshakeCompleted { handshake: 1 }), [Topic::Handshakes]);
    }

    #[test]
    fn an_event_about_a_card_alone_outdates_nothing() {
        assert!(outdated(&Event::TaskCreated {}).is_empty());
        assert!(outdated(&Event::AttentionCleared {}).is_empty());
    }
}
