//! Maps each event to the lists that it makes stale. Must not request anything: `live_list` does.

use domain::board::project::ProjectEvent;
use domain::board::task::event::TaskEvent;
use domain::event::Event;
use domain::runs::run::RunChange;
use domain::team::agent::AgentEvent;

/// A list that is requested on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListKind {
    Team,
    Messages,
    Goals,
    Contracts,
    Handshakes,
    Minions,
    Usage,
}

impl ListKind {
    pub(crate) const ALL: [Self; 7] = [Self::Team, Self::Messages, Self::Goals, Self::Contracts, Self::Handshakes, Self::Minions, Self::Usage];
}

/// The lists that an event makes stale. Heartbeats record no event, so the team page polls for liveness.
pub(crate) const fn stale_lists(event: &Event) -> &'static [ListKind] {
    use ListKind::{Contracts, Goals, Handshakes, Messages, Minions, Team, Usage};
    match event {
        Event::Message(_) => &[Messages, Team],
        Event::Agent(AgentEvent::Left { .. }) => &[Team, Handshakes],
        Event::Agent(_) | Event::Token(_) => &[Team],
        Event::Task(TaskEvent::Assigned { .. } | TaskEvent::Moved { .. }) | Event::Run(RunChange::Started { .. }) => &[Team],
        // The helpers of a run end with it.
        Event::Run(RunChange::Ended { .. }) => &[Team, Minions, Usage],
        Event::Run(RunChange::UsageReported { .. }) | Event::Limit(_) | Event::Project(ProjectEvent::Edited {}) => &[Usage],
        Event::Goal(_) => &[Goals],
        Event::Contract(_) => &[Contracts],
        Event::Handshake(_) => &[Handshakes],
        Event::Minion(_) => &[Minions],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use domain::team::handshake::HandshakeEvent;
    use domain::team::message::MessageEvent;

    use super::*;

    #[test]
    fn team_events_make_their_lists_stale() {
        let sent = MessageEvent::Sent { message: 1, from: "mara".to_owned(), to: "human".to_owned(), is_cc: false }.into();
        assert_eq!(stale_lists(&sent), [ListKind::Messages, ListKind::Team]);
        assert_eq!(
            stale_lists(&MessageEvent::InboxDelivered { agent: "human".to_owned(), messages: 1 }.into()),
            [ListKind::Messages, ListKind::Team]
        );
        assert_eq!(stale_lists(&AgentEvent::Left { agent: "mara".to_owned() }.into()), [ListKind::Team, ListKind::Handshakes]);
        assert_eq!(stale_lists(&HandshakeEvent::Completed { handshake: 1 }.into()), [ListKind::Handshakes]);
    }

    #[test]
    fn card_events_make_no_list_stale() {
        assert!(stale_lists(&TaskEvent::Created {}.into()).is_empty());
        assert!(stale_lists(&TaskEvent::AttentionCleared {}.into()).is_empty());
    }
}
