//! Maps each event to the lists that it makes stale. Must not request anything: `live_list` does.

use domain::event::Event;

/// A list that is requested on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListKind {
    Team,
    Messages,
    Goals,
    Contracts,
    Handshakes,
    Minions,
}

impl ListKind {
    pub(crate) const ALL: [Self; 6] = [Self::Team, Self::Messages, Self::Goals, Self::Contracts, Self::Handshakes, Self::Minions];
}

/// The lists that an event makes stale. Heartbeats record no event, so the team page polls for liveness.
pub(crate) const fn stale_lists(event: &Event) -> &'static [ListKind] {
    use ListKind::{Contracts, Goals, Handshakes, Messages, Minions, Team};
    match event {
        Event::MessageSent { .. } | Event::InboxDelivered { .. } => &[Messages, Team],
        Event::AgentLeft { .. } => &[Team, Handshakes],
        Event::AgentRegistered { .. }
        | Event::AgentStatus { .. }
        | Event::TokenCreated {}
        | Event::TaskAssigned { .. }
        | Event::TaskMoved { .. }
        | Event::RunStarted { .. } => &[Team],
        // The helpers of a run end with it.
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
    fn team_events_make_their_lists_stale() {
        let sent = Event::MessageSent { message: 1, from: "mara".to_owned(), to: "human".to_owned(), is_cc: false };
        assert_eq!(stale_lists(&sent), [ListKind::Messages, ListKind::Team]);
        assert_eq!(stale_lists(&Event::InboxDelivered { agent: "human".to_owned(), messages: 1 }), [ListKind::Messages, ListKind::Team]);
        assert_eq!(stale_lists(&Event::AgentLeft { agent: "mara".to_owned() }), [ListKind::Team, ListKind::Handshakes]);
        assert_eq!(stale_lists(&Event::HandshakeCompleted { handshake: 1 }), [ListKind::Handshakes]);
    }

    #[test]
    fn card_events_make_no_list_stale() {
        assert!(stale_lists(&Event::TaskCreated {}).is_empty());
        assert!(stale_lists(&Event::AttentionCleared {}).is_empty());
    }
}
