//! The choice of the commit at which a new project begins, if there is more than one.

use domain::runs::branch_start::BranchStart;
use domain::runs::evidence::RepositoryInfo;
use leptos::prelude::*;

use crate::moves::Choice;

/// The commits that a project on this repository can begin at.
pub(crate) fn offered(probe: &RepositoryInfo, uncommitted: u32) -> Vec<BranchStart> {
    // A branch that does not exist yet is checked out nowhere.
    let snapshot = (uncommitted > 0 && probe.base_made_from.is_none()).then_some(BranchStart::Snapshot);
    let upstream = probe.newer_upstream.as_ref().map(|_| BranchStart::Upstream);
    [BranchStart::Base].into_iter().chain(snapshot).chain(upstream).collect()
}

#[component]
pub(crate) fn BranchStartField(#[prop(into)] offered: Signal<Vec<BranchStart>>, picked: RwSignal<BranchStart>) -> impl IntoView {
    let choices = move || {
        offered.get().into_iter().map(|start| {
            let (title, detail) = match start {
                BranchStart::Base => ("At the base branch", "Agents start from what is committed on it."),
                BranchStart::Snapshot => (
                    "With a snapshot of your files",
                    "Your uncommitted files are committed to the project branch, except ignored ones and those with secrets. Your checkout stays as it is.",
                ),
                BranchStart::Upstream => ("At the upstream", "Agents start from its newest fetched commit. Your branch stays where it is until you land."),
            };
            view! { <Choice name="branch-start" title=title detail=detail value=start picked=picked /> }
        })
        .collect_view()
    };
    view! {
        <Show when=move || offered.with(|offered| offered.len() > 1)>
            <div class="choices" role="radiogroup" aria-label="Starting point">{choices}</div>
        </Show>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_possible_starts_are_offered() {
        let plain = RepositoryInfo::default();
        let behind = RepositoryInfo { newer_upstream: Some("origin/main".to_owned()), ..plain.clone() };
        let made = RepositoryInfo { base_made_from: Some("origin/next".to_owned()), ..plain.clone() };
        assert_eq!(offered(&plain, 0), [BranchStart::Base]);
        assert_eq!(offered(&plain, 2), [BranchStart::Base, BranchStart::Snapshot]);
        assert_eq!(offered(&behind, 1), [BranchStart::Base, BranchStart::Snapshot, BranchStart::Upstream]);
        assert_eq!(offered(&made, 2), [BranchStart::Base], "the files belong to another branch");
    }
}
