//! The list of what is unusual about a repository, each with its consequence and the step that changes it.

use domain::runs::repository_finding::{RepositoryFinding, Severity};
use leptos::prelude::*;

use crate::components::badge::Tone;
use crate::components::inline_code::InlineCode;

#[component]
pub(crate) fn RepositoryFindings(#[prop(into)] findings: Signal<Vec<RepositoryFinding>>) -> impl IntoView {
    let list = move || findings.get().into_iter().map(|finding| view! { <Finding finding=finding /> }).collect_view();
    view! {
        <Show when=move || findings.with(|findings| !findings.is_empty())>
            <ul class="repository-findings" aria-label="About this repository">{list}</ul>
        </Show>
    }
}

#[component]
fn Finding(finding: RepositoryFinding) -> impl IntoView {
    let tone = match finding.severity {
        Severity::Warns => Tone::Warn,
        Severity::Informs => Tone::Neutral,
    };
    view! {
        <li data-tone=tone.as_str() data-finding=finding.kind>
            <strong><InlineCode text=finding.finding /></strong>
            " "
            <InlineCode text=finding.consequence />
            " "
            <span class="soft"><InlineCode text=finding.remedy /></span>
        </li>
    }
}
