//! The menu of a project: its sections without a tab, and what can be done with the whole project.

use domain::board::project::Project;
use domain::team::person::Right;
use leptos::prelude::*;

use crate::client::Client;
use crate::components::icon::MORE;
use crate::components::menu::{MenuButton, MenuItem};
use crate::components::section_nav::{label, purpose};
use crate::lazy::lazy;
use crate::parts;
use crate::project_data::ProjectData;
use crate::reader::Reader;
use crate::route::{Navigation, Section};
use crate::store::Store;

/// An entry that changes the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deed {
    Edit,
    KeptWork,
    Archive,
    Restore,
    Delete,
}

impl Deed {
    const fn label(self) -> (&'static str, &'static str) {
        match self {
            Self::Edit => ("Rename or edit…", "title, goal, branch"),
            Self::KeptWork => ("Kept work…", "unmerged work of removed branches"),
            Self::Archive => ("Archive", "hide, start no agent"),
            Self::Restore => ("Restore", "from the archive"),
            Self::Delete => ("Delete…", "permanently"),
        }
    }

    /// The entries that the reader may use.
    fn of(project: &Project, reader: &Reader) -> Vec<Self> {
        if project.deleted_at.is_some() || !reader.may(Right::Work) {
            return Vec::new();
        }
        let archive = if project.archived_at.is_some() { Self::Restore } else { Self::Archive };
        let mut deeds = vec![Self::Edit, Self::KeptWork, archive];
        deeds.extend(reader.may(Right::Administer).then_some(Self::Delete));
        deeds
    }
}

#[component]
pub(crate) fn ProjectMenu() -> impl IntoView {
    let (client, store, navigation) = (Client::from_context(), Store::from_context(), Navigation::from_context());
    let data = ProjectData::from_context();
    // Outside of what each event redraws, so that the dialogs keep the typed text.
    let [editing, kept_work, deleting] = [(); 3].map(|()| RwSignal::new(None::<Project>));
    let act = move |deed: Deed| {
        let Some(project) = store.project.get_untracked() else { return };
        match deed {
            Deed::Edit => editing.set(Some(project)),
            Deed::KeptWork => kept_work.set(Some(project)),
            Deed::Archive | Deed::Restore => client.act(client.set_archived(project.id, deed == Deed::Archive), |_| {}),
            Deed::Delete => deleting.set(Some(project)),
        }
    };
    let items = move || {
        let sections = Section::ALL.into_iter().filter(|section| !data.is_used(*section));
        let mut items: Vec<AnyView> = sections
            .map(|section| {
                let go = move |()| navigation.go(section.route(data.project()));
                view! { <MenuItem label=label(section) note=purpose(section) act=go /> }.into_any()
            })
            .collect();
        let deeds = store.project.with(|project| project.as_ref().map(|project| Deed::of(project, &Reader::current()))).unwrap_or_default();
        items.extend(deeds.into_iter().map(|deed| {
            let (label, note) = deed.label();
            view! { <MenuItem label=label note=note act=move |()| act(deed) /> }.into_any()
        }));
        items
    };
    view! {
        <MenuButton label="More about the project" drawing=MORE items=items />
        {move || editing.get().map(|project| {
            let close = Callback::new(move |()| editing.set(None));
            lazy(move || parts::edit_project_dialog(project.clone(), close))
        })}
        {move || kept_work.get().map(|project| {
            let close = Callback::new(move |()| kept_work.set(None));
            lazy(move || parts::rescues_dialog(project.clone(), close))
        })}
        {move || deleting.get().map(|project| {
            let close = Callback::new(move |()| deleting.set(None));
            lazy(move || parts::delete_project_dialog(project.clone(), close))
        })}
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use domain::time::Timestamp;

    use super::*;
    use crate::testing::board;

    #[test]
    fn menu_offers_what_the_state_of_the_project_allows() {
        let project = board(Vec::new()).board.project;
        let at = Some(Timestamp::from_milliseconds(1));
        let archived = Project { archived_at: at, ..project.clone() };
        let deleted = Project { deleted_at: at, ..archived.clone() };
        let deeds = |project: &Project| Deed::of(project, &Reader::default());
        assert_eq!(deeds(&project), [Deed::Edit, Deed::KeptWork, Deed::Archive, Deed::Delete]);
        assert_eq!(deeds(&archived), [Deed::Edit, Deed::KeptWork, Deed::Restore, Deed::Delete]);
        assert!(deeds(&deleted).is_empty());
    }
}
