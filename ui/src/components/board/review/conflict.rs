//! The conflicts of a work with merged work: the parts of each file that both sides changed.

use domain::runs::diff::Conflict;
use leptos::prelude::*;

use crate::components::diff_view::Hunks;

#[component]
pub(crate) fn Conflicts(conflicts: Vec<Conflict>) -> impl IntoView {
    if conflicts.is_empty() {
        return ().into_any();
    }
    let files = conflicts.into_iter().map(|conflict| view! { <ConflictFile conflict=conflict /> });
    view! {
        <section class="conflicts" aria-label="Conflicting lines">
            <p class="soft small-text"><span class="removed">"−"</span> " is merged work, " <span class="added">"+"</span> " is this work."</p>
            {files.collect_view()}
        </section>
    }
    .into_any()
}

#[component]
fn ConflictFile(conflict: Conflict) -> impl IntoView {
    let Conflict { path, hunks, why } = conflict;
    let label = format!("Conflicts in {path}");
    let has_hunks = !hunks.is_empty();
    view! {
        <details class="diff-file" open>
            <summary>
                <span class="path">{path}</span>
                <span class="faint small-text">{if hunks.len() > 1 { format!("{} conflicts", hunks.len()) } else { "conflict".to_owned() }}</span>
            </summary>
            {why.map(|why| view! { <p class="small-text soft pad">{why}</p> })}
            {has_hunks.then(|| view! { <Hunks hunks=hunks label=label /> })}
        </details>
    }
    .into_any()
}
