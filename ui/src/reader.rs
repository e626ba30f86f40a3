//! The person who reads this page: which participant they are, what they may do, and what persons are called on it.
//!
//! Must not request anything: `app` does. Must not know what a role may do: `domain` does, and the server decides.

use domain::team::agent::HUMAN;
use domain::team::person::{OWNER, Person, PersonRole, Right, further_name, is_person, participant};
use leptos::prelude::*;

/// Shown to a reader where others have the controls that change the board.
pub(crate) const READ_ONLY: &str = "You can only view this board. To change it, ask the owner for another role.";

/// The reader, and what they call the owner. The owner reads the page unless the server says otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reader {
    own: String,
    role: PersonRole,
    owner_name: String,
}

impl Default for Reader {
    fn default() -> Self {
        Self { own: HUMAN.to_owned(), role: PersonRole::Owner, owner_name: String::new() }
    }
}

impl Reader {
    pub(crate) fn new(person: &Person, all: &[Person]) -> Self {
        let owner = all.iter().find(|person| person.id == OWNER);
        let owner_name = owner.filter(|_| person.role != PersonRole::Owner).map_or_else(String::new, |owner| owner.name.clone());
        Self { own: participant(person.role, &person.name), role: person.role, owner_name }
    }

    /// Makes the reader available below the current owner.
    pub(crate) fn provide() -> RwSignal<Self> {
        let reader = RwSignal::new(Self::default());
        provide_context(reader);
        reader
    }

    /// The reader of this page. A page is drawn again when it changes.
    pub(crate) fn current() -> Self {
        use_context::<RwSignal<Self>>().map_or_else(Self::default, |reader| reader.get_untracked())
    }

    /// Whether the reader of this page may change the board. A page asks this before it offers a control.
    pub(crate) fn may_write() -> bool {
        Self::current().may(Right::Work)
    }

    pub(crate) fn may(&self, right: Right) -> bool {
        self.role.may(right)
    }

    /// The reader and the owner, as participants.
    pub(crate) fn persons(&self) -> Vec<String> {
        let owner = (!self.is(HUMAN)).then(|| HUMAN.to_owned());
        [self.own.clone()].into_iter().chain(owner).collect()
    }

    /// Whether a participant is the reader.
    pub(crate) fn is(&self, name: &str) -> bool {
        self.own == name
    }

    /// The display name of a person: `you`, or a name.
    pub(crate) fn person_label(&self, name: &str) -> Option<String> {
        if !is_person(name) {
            return None;
        }
        Some(if self.is(name) { "you".to_owned() } else { further_name(name).unwrap_or(&self.owner_name).to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use domain::time::Timestamp;

    use super::*;

    fn person(id: i64, name: &str, role: PersonRole) -> Person {
        Person { id, name: name.to_owned(), role, created_at: Timestamp::from_milliseconds(0), removed_at: None }
    }

    #[test]
    fn reader_has_the_rights_of_their_role_and_owner_reads_first() {
        let may = |reader: &Reader| [Right::Read, Right::Work, Right::Administer].map(|right| reader.may(right));
        let reader = |role| Reader::new(&person(2, "ann", role), &[]);
        assert_eq!(may(&Reader::default()), [true; 3]);
        assert_eq!(may(&reader(PersonRole::Member)), [true, true, false]);
        assert_eq!(may(&reader(PersonRole::Viewer)), [true, false, false]);
        assert_ne!(reader(PersonRole::Viewer), reader(PersonRole::Member), "the page is drawn again");
    }

    #[test]
    fn persons_have_names_for_others_and_are_you_for_themselves() {
        let all = [person(1, "Olga", PersonRole::Owner), person(2, "ann", PersonRole::Member)];
        let labels = |reader: &Reader| ["human", "human/ann", "human/ben", "mara"].map(|name| reader.person_label(name));
        let some = |name: &str| Some(name.to_owned());
        assert_eq!(labels(&Reader::default()), [some("you"), some("ann"), some("ben"), None]);
        assert_eq!(Reader::new(&all[0], &all), Reader::default());
        assert_eq!(
            (Reader::default().persons(), Reader::new(&all[1], &all).persons()),
            (vec!["human".to_owned()], vec!["human/ann".to_owned(), "human".to_owned()])
        );
        assert_eq!(labels(&Reader::new(&all[1], &all)), [some("Olga"), some("you"), some("ben"), None]);
    }
}
