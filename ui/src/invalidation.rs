//! Maps each event to the lists that it makes stale. Must not request anything: `live_list` does.

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
    Sessions,
    Memory,
    Claims,
    BattlePlans,
    RaidLog,
    Handovers,
    Triggers,
    Zones,
    Knowledge,
    Questions,
}

impl ListKind {
    pub(crate) const ALL: [Self; 17] = [
        Self::Team,
        Self::Messages,
        Self::Goals,
        Self::Contracts,
        Self::Handshakes,
        Self::Minions,
        Self::Usage,
        Self::Sessions,
        Self::Memory,
        Self::Claims,
        Self::BattlePlans,
        Self::RaidLog,
        Self::Handovers,
        Self::Triggers,
        Self::Zones,
        Self::Knowledge,
        Self::Questions,
    ];
}

use ListKind::{
    BattlePlans, Claims, Contracts, Goals, Handovers, Handshakes, Knowledge, Memory, Messages, Minions, Questions, RaidLog, Sessions, Team, Triggers,
    Usage, Zones,
};

/// The lists that a kind of event makes stale. Heartbeats record no event, so the team page polls for liveness.
const STALE: [(&str, &[ListKind]); 50] = [
    ("message_sent", &[Messages, Team]),
    ("inbox_read", &[Messages, Team]),
    ("message_read", &[Messages, Team]),
    ("agent_registered", &[Team]),
    ("agent_status", &[Team]),
    ("agent_context", &[Team]),
    ("agent_left", &[Team, Handshakes]),
    ("agent_renamed", &[Team, Handshakes, Claims, Handovers, Triggers, Contracts, Memory, Minions, Knowledge, Zones, Questions]),
    ("token_made", &[Team]),
    ("task_assigned", &[Team]),
    ("task_moved", &[Team]),
    // Orders to stop show how many agents are still at work.
    ("run_started", &[Team, Triggers]),
    // The helpers of a run end with it.
    ("run_ended", &[Team, Minions, Usage, Triggers]),
    ("run_usage", &[Usage]),
    ("limit_near", &[Usage]),
    ("limit_raised", &[Usage]),
    ("project_edited", &[Usage]),
    ("goal_created", &[Goals]),
    ("goal_moved", &[Goals]),
    ("contract_declared", &[Contracts]),
    ("handshake_begun", &[Handshakes]),
    ("handshake_acknowledged", &[Handshakes]),
    ("handshake_completed", &[Handshakes]),
    ("spawn_policy_set", &[Minions]),
    ("minion_logged", &[Minions]),
    // Reading the notes of others makes nothing stale: a page that asked again because of it would never end.
    ("session_created", &[Sessions]),
    ("session_closed", &[Sessions]),
    ("session_message_added", &[Sessions]),
    ("memory_set", &[Memory]),
    ("memory_deleted", &[Memory]),
    ("claim_granted", &[Claims]),
    ("claim_queued", &[Claims]),
    ("claim_released", &[Claims]),
    ("battle_plan_set", &[BattlePlans]),
    ("battle_plan_ended", &[BattlePlans]),
    ("raid_logged", &[RaidLog]),
    ("trigger_given", &[Triggers]),
    ("trigger_ended", &[Triggers]),
    ("handover_recorded", &[Handovers]),
    ("handover_continued", &[Handovers]),
    ("zone_set", &[Zones]),
    ("zone_removed", &[Zones]),
    ("intel_written", &[Knowledge]),
    ("trap_written", &[Knowledge]),
    ("note_written", &[Knowledge]),
    ("intel_archived", &[Knowledge]),
    ("trap_resolved", &[Knowledge]),
    ("oracle_asked", &[Questions]),
    ("oracle_answered", &[Questions]),
    // Routine entries are removed then.
    ("project_completed", &[RaidLog]),
];

/// The lists that an event of this kind makes stale.
pub(crate) fn stale_lists(kind: &str) -> &'static [ListKind] {
    STALE.iter().find(|(known, _)| *known == kind).map_or(&[], |(_, lists)| lists)
}

#[cfg(test)]
mod tests {
    use domain::event::Event;

    use super::*;

    #[test]
    fn table_names_kinds_of_events() {
        for (kind, _) in STALE {
            assert!(Event::kinds().contains(&kind), "{kind}");
        }
    }

    #[test]
    fn events_of_the_team_make_their_lists_stale() {
        assert_eq!(stale_lists("message_sent"), [Messages, Team]);
        assert_eq!(stale_lists("inbox_read"), [Messages, Team]);
        assert_eq!(stale_lists("agent_left"), [Team, Handshakes]);
        assert_eq!(stale_lists("handshake_completed"), [Handshakes]);
    }

    #[test]
    fn reading_private_notes_makes_no_list_stale() {
        assert!(stale_lists("session_private_read").is_empty());
        assert_eq!((stale_lists("session_message_added"), stale_lists("memory_set")), (&[Sessions][..], &[Memory][..]));
    }

    #[test]
    fn events_of_the_war_room_make_their_own_list_stale() {
        let lists = [
            ("claim_queued", Claims),
            ("claim_released", Claims),
            ("battle_plan_set", BattlePlans),
            ("raid_logged", RaidLog),
            ("trigger_given", Triggers),
            ("zone_removed", Zones),
            ("trap_resolved", Knowledge),
            ("oracle_answered", Questions),
        ];
        for (kind, list) in lists {
            assert_eq!(stale_lists(kind), [list], "{kind}");
        }
    }

    #[test]
    fn events_of_cards_make_no_list_stale() {
        assert!(stale_lists("task_created").is_empty() && stale_lists("task_settled").is_empty());
    }
}
