//! Every page has an address, and every other address is unknown.

use domain::audit::AuditKind;
use domain::board::activity::Topic;
use domain::context::session::ContextSessionId;

use super::*;

/// Splits an address as the browser does.
fn parse(address: &str) -> Route {
    let (path, search) = address.split_once('?').unwrap_or((address, ""));
    let parameter = |wanted: &str| search.split('&').filter_map(|pair| pair.split_once('=')).find(|(name, _)| *name == wanted);
    Route::parse(path, |name| parameter(name).map(|(_, value)| value.to_owned()))
}

#[test]
fn every_page_round_trips_through_its_address() {
    let project = ProjectId::new(1);
    let messages = |task: Option<u64>, agent: Option<&str>| Route::Messages {
        project: project.clone(),
        filter: MessageFilter { task: task.map(TaskId::new), agent: agent.map(str::to_owned) },
    };
    let pages = [
        Route::Projects,
        Route::NeedsYou,
        Route::AllTasks,
        Route::Task { task: TaskId::new(12) },
        Route::Board { project: project.clone(), task: None },
        Route::Board { project: project.clone(), task: Some(TaskId::new(12)) },
        Route::TaskPage { project: project.clone(), task: TaskId::new(12) },
        Route::Plan { project: project.clone() },
        Route::Review { project: project.clone(), task: TaskId::new(12) },
        Route::Graph { project: project.clone() },
        Route::Land { project: project.clone(), landing: None },
        Route::Land { project: project.clone(), landing: Some(3) },
        messages(Some(7), None),
        messages(None, Some("platform/mara-2")),
        messages(Some(7), Some("human")),
        Route::Replay { project: project.clone(), at: Some(12) },
        Route::Context {
            project: project.clone(),
            place: ContextPlace { session: Some(ContextSessionId::new(7)), message: Some(9), task: Some(TaskId::new(3)), memory: Some(4) },
        },
        Route::Audit {
            filter: AuditFilter {
                kind: Some(AuditKind::Refusal),
                actor: Some("human/ann".to_owned()),
                project: Some(project.clone()),
                credential: Some("token:0123456789ab".to_owned()),
            },
        },
        Route::Activity {
            project: project.clone(),
            filter: ActivityFilter {
                topic: Some(Topic::Failures),
                task: Some(TaskId::new(7)),
                actor: Some("coder-TASK-007".to_owned()),
                details: true,
            },
        },
    ];
    let pages = pages.into_iter().chain(Section::ALL.map(|section| section.route(project.clone())));
    let pages = pages.chain([Route::Audit { filter: AuditFilter::default() }]).chain(SettingsTab::ALL.map(|tab| Route::Settings { tab }));
    for page in pages {
        assert_eq!(parse(&page.path()), page);
    }
    assert_eq!(messages(Some(7), Some("ben")).path(), "/projects/PROJ-001/messages?agent=ben&task=TASK-007");
}

#[test]
fn invalid_query_parameters_are_ignored() {
    for search in ["agent=", "task=7", "agent=a b", "who=ben", ""] {
        assert_eq!(parse(&format!("/projects/PROJ-001/messages?{search}")).message_filter(), MessageFilter::default(), "{search}");
    }
}

#[test]
fn other_addresses_are_unknown_pages() {
    for path in [
        "/settings/x",
        "/projects",
        "/projects/x",
        "/projects/PROJ-001/tasks",
        "/projects/PROJ-001/tasks/TASK-001/x",
        "/projects/PROJ-001/tasks/x/review",
        "/projects/PROJ-001/x",
        "/projects/x/team",
        "/projects/x/messages?agent=ben",
        "/projects/PROJ-001/tasks/RUN-001",
        "/a/b/c/d",
    ] {
        assert_eq!(parse(path), Route::Unknown, "{path}");
    }
}
