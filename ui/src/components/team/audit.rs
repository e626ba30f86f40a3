//! The audit log for the owner of the board: a table of who did what, with filters in the address, and the check of its chain.
//!
//! Events do not change it: the person reads it again.

use domain::audit::{AuditCheck, AuditKind, AuditRow, DONE};
use domain::context::session::ContextSessionId;
use domain::id::TaskId;
use domain::team::person::Right;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::client::{AuditFilter, Client, Failure};
use crate::components::badge::Tone;
use crate::components::badge::team::name_label;
use crate::components::filter_select::{Choice, FilterSelect};
use crate::components::inline_code::sentence;
use crate::overview::Overview;
use crate::reader::Reader;
use crate::route::{ContextPlace, Navigation, Route};
use crate::time::local_time;

const fn kind_label(kind: AuditKind) -> &'static str {
    match kind {
        AuditKind::Write => "Change",
        AuditKind::Read => "Private read",
        AuditKind::Refusal => "Refusal",
        AuditKind::Authentication => "Sign-in",
    }
}

/// The result of a row in words, and its tone.
fn result(row: &AuditRow) -> (String, Tone) {
    let is_done = row.result == DONE;
    let times = match (row.kind, row.count) {
        (_, 1) => String::new(),
        (AuditKind::Write, events) => format!(", {events} events"),
        (AuditKind::Read | AuditKind::Refusal | AuditKind::Authentication, times) => format!(", {times} times"),
    };
    (format!("{}{times}", if is_done { "done" } else { &row.result }), if is_done { Tone::Neutral } else { Tone::Bad })
}

/// The page of what a row is about, if there is one.
fn subject_route(row: &AuditRow) -> Option<Route> {
    let subject = row.subject.as_deref()?;
    // A refused request names the path of its route.
    let mut parts = subject.split('/').filter(|part| !part.is_empty());
    parts.find_map(|part| match (part.parse::<TaskId>(), &row.project_id, part.strip_prefix("session_")) {
        (Ok(task), ..) => Some(Route::Task { task }),
        (Err(_), Some(project), Some(_)) => {
            let session: Option<ContextSessionId> = part.parse().ok();
            session.map(|session| {
                let place = ContextPlace { session: Some(session), ..ContextPlace::default() };
                Route::Context { project: project.clone(), place }
            })
        }
        (Err(_), ..) => None,
    })
}

/// The result of a check in words, and its tone.
fn check_sentence(check: &AuditCheck) -> (String, Tone) {
    if let Some(broken) = &check.broken {
        return (format!("Row {} breaks the chain: {}", broken.id, sentence(&broken.problem)), Tone::Bad);
    }
    let rows = if check.rows == 1 { "1 row".to_owned() } else { format!("{} rows", check.rows) };
    let removed = if check.anchor > 0 { format!(" Those up to row {} were removed because of their age.", check.anchor) } else { String::new() };
    (format!("The chain is intact: {rows}, the newest is row {}.{removed}", check.head), Tone::Good)
}

fn failure_text(failure: &Failure) -> String {
    let (detail, hint) = failure.describe();
    format!("{} {}", sentence(&detail), sentence(&hint))
}

#[component]
pub(crate) fn AuditLog() -> impl IntoView {
    if !Reader::current().may(Right::Administer) {
        return view! { <p class="soft">"Only the owner of the board may read the audit log."</p> }.into_any();
    }
    let (client, navigation) = (Client::from_context(), Navigation::from_context());
    let filter = Memo::new(move |_| navigation.get().audit_filter());
    let rows = RwSignal::new(Vec::<AuditRow>::new());
    // The cursor of the older rows, once an answer arrived.
    let next = RwSignal::new(None::<Option<i64>>);
    let failure = RwSignal::new(None::<String>);
    let newest = StoredValue::new(0_u32);
    let load = move |before: Option<i64>| {
        newest.update_value(|newest| *newest = newest.wrapping_add(1));
        let own = newest.get_value();
        spawn_local(async move {
            let Some(filter) = filter.try_get_untracked() else { return };
            let answer = client.audit(filter, before).await;
            // Another filter was chosen, or the page is closed.
            if newest.try_get_value() != Some(own) {
                return;
            }
            failure.set(answer.as_ref().err().map(failure_text));
            if let Ok(page) = answer {
                next.set(Some(page.next));
                rows.update(|rows| {
                    if before.is_none() {
                        rows.clear();
                    }
                    rows.extend(page.items);
                });
            }
        });
    };
    Effect::new(move || {
        filter.track();
        load(None);
    });
    let older = move || next.get().flatten();
    let status = move || match (next.get(), rows.with(Vec::len)) {
        (None, _) => "Loading…".to_owned(),
        (Some(Some(_)), 0) => "None of the newest rows match these filters.".to_owned(),
        (Some(None), 0) => "No row matches these filters.".to_owned(),
        (Some(next), count) => format!("{count} rows{}", if next.is_some() { ", and there are older ones" } else { "" }),
    };
    view! {
        <section class="section audit" aria-labelledby="audit-heading">
            <div class="page-head">
                <h2 id="audit-heading">"Audit log"</h2>
                <button type="button" class="button small" on:click=move |_| load(None)>"Read again"</button>
            </div>
            <Chain />
            <Filters filter=filter rows=rows />
            {move || failure.get().map(|why| view! { <p class="notice" data-tone="bad" role="alert">{why}</p> })}
            <p class="faint small-text" role="status">{move || failure.with(Option::is_none).then(status)}</p>
            {move || (!rows.with(Vec::is_empty)).then(|| view! { <Table rows=rows.get() /> })}
            {move || older().map(|before| view! {
                <button type="button" class="button" on:click=move |_| load(Some(before))>"Show older"</button>
            })}
        </section>
    }
    .into_any()
}

/// The check of the chain, which reads the whole log and therefore waits to be asked for.
#[component]
fn Chain() -> impl IntoView {
    let client = Client::from_context();
    let (answer, is_checking) = (RwSignal::new(None::<(String, Tone)>), RwSignal::new(false));
    let check = move |_| {
        is_checking.set(true);
        spawn_local(async move {
            let found = match client.check_audit().await {
                Ok(check) => check_sentence(&check),
                Err(failure) => (failure_text(&failure), Tone::Bad),
            };
            let _page_closed = (answer.try_set(Some(found)), is_checking.try_set(false));
        });
    };
    view! {
        <p class="soft small-text">
            "Each change with its participant and credential, and each refusal. The hash of a row covers the row before it, so a changed or missing row is detected."
        </p>
        <p class="row audit-chain">
            <button type="button" class="button small" disabled=is_checking on:click=check>"Check the chain"</button>
            <span class="small-text" role="status" data-tone=move || answer.get().map(|(_, tone)| tone.as_str())>
                {move || match (is_checking.get(), answer.get()) {
                    (true, _) => "Checking…".to_owned(),
                    (false, Some((text, _))) => text,
                    (false, None) => String::new(),
                }}
            </span>
        </p>
    }
    .into_any()
}

/// The filters, which are part of the address.
#[component]
fn Filters(filter: Memo<AuditFilter>, rows: RwSignal<Vec<AuditRow>>) -> impl IntoView {
    let navigation = Navigation::from_context();
    let show = move |change: &dyn Fn(&mut AuditFilter)| {
        let mut filter = filter.get_untracked();
        change(&mut filter);
        navigation.go(Route::Audit { filter });
    };
    let kinds = AuditKind::ALL.iter().map(|kind| {
        let kind = *kind;
        let chosen = Memo::new(move |_| filter.with(|filter| filter.kind == Some(kind)));
        let toggle = move |_| show(&|filter| filter.kind = (!chosen.get_untracked()).then_some(kind));
        view! { <button type="button" class="chip" aria-pressed=move || chosen.get().to_string() on:click=toggle>{kind_label(kind)}</button> }
    });
    // Participants and credentials of the shown rows, because the log names more than there are.
    let seen = move |of: fn(&AuditRow) -> Option<String>| {
        let mut found: Vec<String> = rows.with(|rows| rows.iter().filter_map(of).collect());
        found.sort_unstable();
        found.dedup();
        found
    };
    let persons = Reader::current().persons();
    let actors = Signal::derive(move || {
        let known = persons.iter().cloned();
        let others = seen(|row| row.actor.as_ref().map(ToString::to_string)).into_iter().filter(|name| !persons.contains(name));
        known.chain(others).map(|name| (name.clone(), name_label(&name))).collect::<Vec<Choice>>()
    });
    let credentials =
        Signal::derive(move || seen(|row| row.credential.clone()).into_iter().map(|name| (name.clone(), name)).collect::<Vec<Choice>>());
    let projects = Overview::from_context().projects.watch().value;
    let projects = Signal::derive(move || {
        let known = projects.get().unwrap_or_default();
        known.into_iter().map(|known| (known.project.id.to_string(), known.project.title)).collect::<Vec<Choice>>()
    });
    view! {
        <div class="row" role="group" aria-label="Filters">
            {kinds.collect_view()}
            <FilterSelect
                label="Filter by participant"
                all="Everyone"
                offered=actors
                chosen=Signal::derive(move || filter.with(|filter| filter.actor.clone()))
                choose=Callback::new(move |actor: Option<String>| show(&|filter| filter.actor.clone_from(&actor)))
            />
            <FilterSelect
                label="Filter by project"
                all="All projects"
                offered=projects
                chosen=Signal::derive(move || filter.with(|filter| filter.project.as_ref().map(ToString::to_string)))
                choose=Callback::new(move |project: Option<String>| {
                    show(&|filter| filter.project = project.as_ref().and_then(|project| project.parse().ok()));
                })
            />
            <FilterSelect
                label="Filter by credential"
                all="All credentials"
                offered=credentials
                chosen=Signal::derive(move || filter.with(|filter| filter.credential.clone()))
                choose=Callback::new(move |credential: Option<String>| show(&|filter| filter.credential.clone_from(&credential)))
            />
        </div>
    }
    .into_any()
}

/// On a phone, each row is a block. The roles stay those of a table.
#[component]
fn Table(rows: Vec<AuditRow>) -> impl IntoView {
    let headings = ["When", "Who", "Action", "On", "Result"].map(|heading| view! { <th scope="col" role="columnheader">{heading}</th> });
    view! {
        <table class="audit-rows" role="table" aria-labelledby="audit-heading">
            <thead role="rowgroup">
                <tr role="row">{headings.into_iter().collect_view()}</tr>
            </thead>
            <tbody role="rowgroup">{rows.into_iter().map(|row| view! { <Row row=row /> }).collect_view()}</tbody>
        </table>
    }
    .into_any()
}

#[component]
fn Row(row: AuditRow) -> impl IntoView {
    let navigation = Navigation::from_context();
    let (result, tone) = result(&row);
    let who = row.actor.as_ref().map_or_else(|| "unknown".to_owned(), |actor| name_label(&actor.to_string()));
    let at = row.at;
    let subject = row.subject.clone().map(|subject| match subject_route(&row) {
        Some(route) => view! {
            <a class="mono" href=route.path() on:click=move |event| navigation.follow(&event, route.clone())>{subject}</a>
        }
        .into_any(),
        None => view! { <span class="mono">{subject}</span> }.into_any(),
    });
    let project = row.project_id.as_ref().map(ToString::to_string);
    view! {
        <tr role="row" data-row=row.id>
            <td role="cell" class="tabular"><time datetime=at.to_string() title=format!("{at}, row {}", row.id)>{local_time(at)}</time></td>
            <td role="cell">
                <span dir="auto">{who}</span>
                {row.credential.map(|credential| view! { <span class="faint mono">{credential}</span> })}
            </td>
            <td role="cell">
                <span class="mono">{row.action}</span>
                <span class="faint">{kind_label(row.kind)}{row.detail.map(|detail| format!(": {detail}"))}</span>
            </td>
            <td role="cell">
                {subject}
                {project.map(|project| view! { <span class="faint mono">{project}</span> })}
            </td>
            <td role="cell" class="audit-result" data-tone=tone.as_str()>{result}</td>
        </tr>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use domain::actor::Actor;
    use domain::audit::BrokenRow;
    use domain::id::ProjectId;
    use domain::time::Timestamp;

    use super::*;

    fn row(kind: AuditKind, result: &str, count: u32, subject: Option<&str>) -> AuditRow {
        AuditRow {
            id: 7,
            at: Timestamp::from_milliseconds(0),
            kind,
            credential: None,
            actor: Some(Actor::from("mara".to_owned())),
            run_id: None,
            action: "get_task".to_owned(),
            project_id: Some(ProjectId::new(1)),
            subject: subject.map(str::to_owned),
            result: result.to_owned(),
            detail: None,
            seq: None,
            count,
            hash: String::new(),
        }
    }

    #[test]
    fn result_tells_the_code_and_how_often() {
        let told = |kind, code, count| result(&row(kind, code, count, None));
        assert_eq!(told(AuditKind::Write, DONE, 1), ("done".to_owned(), Tone::Neutral));
        assert_eq!(told(AuditKind::Write, DONE, 3), ("done, 3 events".to_owned(), Tone::Neutral));
        assert_eq!(told(AuditKind::Refusal, "not-found", 2), ("not-found, 2 times".to_owned(), Tone::Bad));
    }

    #[test]
    fn subjects_link_to_tasks_and_sessions() {
        let path = |subject| subject_route(&row(AuditKind::Refusal, "not-found", 1, Some(subject))).map(|route| route.path());
        assert_eq!(path("TASK-004").as_deref(), Some("/tasks/TASK-004"));
        assert_eq!(path("/api/tasks/TASK-404/move").as_deref(), Some("/tasks/TASK-404"));
        assert_eq!(path("session_0123456789abcdef").as_deref(), Some("/projects/PROJ-001/context?session=session_0123456789abcdef"));
        for subject in ["mara", "memory 3", "/api/context-sessions", "TASK-", "http://example.org/"] {
            assert_eq!(path(subject), None, "{subject}");
        }
    }

    #[test]
    fn check_names_the_broken_row() {
        let check = AuditCheck { rows: 9, anchor: 0, head: 9, head_hash: String::new(), broken: None };
        assert_eq!(check_sentence(&check).0, "The chain is intact: 9 rows, the newest is row 9.");
        let pruned = AuditCheck { anchor: 4, ..check.clone() };
        assert!(check_sentence(&pruned).0.ends_with("Those up to row 4 were removed because of their age."));
        let broken = AuditCheck { broken: Some(BrokenRow { id: 5, problem: "its hash is wrong".to_owned() }), ..check };
        assert_eq!(check_sentence(&broken), ("Row 5 breaks the chain: Its hash is wrong.".to_owned(), Tone::Bad));
    }
}
