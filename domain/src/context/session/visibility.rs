//! Visibility: which messages of a session a reader may read. No other place decides it.
//!
//! A message has one audience, and a reader belongs to a few. The reader may read the message if its audience is among them, so a store can
//! compare the two without knowing the rule.

use crate::context::reader::Reader;
use crate::id::ProjectId;
use crate::vocabulary::vocabulary;

vocabulary! {
    /// The visibility of a message in a session.
    Visibility, "visibility" {
        /// Everyone who may read the session.
        Public = "public",
        /// The sender alone: its run, or the external agent.
        Private = "private",
        /// The sender's lasting identity: also its successors.
        AgentOnly = "agent_only",
        /// Readers with the admin permission.
        AdminOnly = "admin_only",
    }
}

/// The readers of a message.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Audience {
    pub visibility: Visibility,
    key: String,
}

impl Audience {
    /// Returns the audience of a message of `sender`.
    pub fn of_message(visibility: Visibility, sender: &Reader) -> Self {
        let key = match visibility {
            Visibility::Public | Visibility::AdminOnly => String::new(),
            Visibility::Private => sender.own_key(),
            Visibility::AgentOnly => sender.identity_key(),
        };
        Self { visibility, key }
    }

    /// Returns it as one word of text, which differs from that of every other audience in its session.
    pub fn as_text(&self) -> String {
        format!("{}:{}", self.visibility, self.key)
    }
}

/// Returns the audiences to which `reader` belongs in a session of `project`, or in one without a project. There are none if it may not read
/// the session.
pub fn audiences(reader: &Reader, project: Option<&ProjectId>) -> Vec<Audience> {
    let may_read_session = match reader.project() {
        Some(own) => project == Some(own),
        None => true,
    };
    if !may_read_session {
        return Vec::new();
    }
    let has = |visibility: &Visibility| *visibility != Visibility::AdminOnly || reader.is_admin();
    Visibility::ALL.iter().copied().filter(has).map(|visibility| Audience::of_message(visibility, reader)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::id::{RunId, TaskId};
    use crate::runs::agent_kind::AgentKind;
    use crate::team::person::PersonRole;

    fn any_reader() -> impl Strategy<Value = Reader> {
        let project = || (1..3_u64).prop_map(ProjectId::new);
        let run = (project(), 1..5_u64, 0..4_usize, 1..4_u64).prop_map(|(project, run, kind, task)| Reader::Run {
            project,
            run: RunId::new(run),
            kind: AgentKind::ALL[kind],
            task: TaskId::new(task),
        });
        // Names that look like the keys of other readers.
        let names = prop_oneof![Just("mara"), Just("ann"), Just("RUN-001"), Just("coder"), Just("reviewer"), Just("coder-TASK-001")];
        let agent = (project(), names, any::<bool>()).prop_map(|(project, name, admin)| Reader::Agent { project, name: name.to_owned(), admin });
        let roles = prop_oneof![Just(PersonRole::Owner), Just(PersonRole::Member), Just(PersonRole::Viewer)];
        let person = (prop_oneof![Just("ann"), Just("bea")], roles).prop_map(|(name, role)| Reader::Person { name: name.to_owned(), role });
        prop_oneof![run, agent, person]
    }

    /// The rule in other words, case by case.
    fn expected(reader: &Reader, project: Option<&ProjectId>, sender: &Reader, visibility: Visibility) -> bool {
        let shares_project = match reader {
            Reader::Run { project: own, .. } | Reader::Agent { project: own, .. } => Some(own) == project,
            Reader::Person { .. } => true,
        };
        let is_same_agent = match (reader, sender) {
            (Reader::Agent { name, .. }, Reader::Agent { name: other, .. }) => name == other,
            (Reader::Person { name, role }, Reader::Person { name: other, role: role_of_other }) => {
                // The board has one owner, whatever the name.
                (*role == PersonRole::Owner && *role_of_other == PersonRole::Owner)
                    || (*role != PersonRole::Owner && *role_of_other != PersonRole::Owner && name == other)
            }
            _ => false,
        };
        shares_project
            && match (visibility, reader, sender) {
                (Visibility::Public, ..) => true,
                (Visibility::AdminOnly, reader, _) => {
                    matches!(reader, Reader::Person { role: PersonRole::Owner, .. } | Reader::Agent { admin: true, .. })
                }
                (Visibility::Private, Reader::Run { run, .. }, Reader::Run { run: other, .. }) => run == other,
                (Visibility::AgentOnly, Reader::Run { kind, task, .. }, Reader::Run { kind: other, task: task_of_other, .. }) => {
                    kind == other && (*kind != AgentKind::Coder || task == task_of_other)
                }
                (Visibility::Private | Visibility::AgentOnly, ..) => is_same_agent,
            }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

        #[test]
        fn message_is_visible_to_its_audience_alone(
            reader in any_reader(), sender in any_reader(), visibility in 0..4_usize, standalone in any::<bool>()
        ) {
            let visibility = Visibility::ALL[visibility];
            // A sender writes into sessions that it may read.
            let project = sender.project().cloned().or_else(|| (!standalone).then(|| ProjectId::new(1)));
            let audience = Audience::of_message(visibility, &sender);
            let mine = audiences(&reader, project.as_ref());
            let seen = mine.contains(&audience);
            prop_assert_eq!(seen, expected(&reader, project.as_ref(), &sender, visibility));
            let word = audience.as_text();
            prop_assert_eq!(seen, mine.iter().any(|own| own.as_text() == word), "the words say the same");
        }
    }
}
