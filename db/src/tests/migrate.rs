//! Databases of earlier versions: what was in them is still there, and still opens the same doors.

use domain::config::Config;
use domain::id::{ProjectId, RunId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::team::role::Role;
use sqlx::ConnectOptions;
use sqlx::migrate::Migrator;
use sqlx::sqlite::SqliteConnectOptions;

use crate::team::token;
use crate::{Caller, Db, RunCaller};

const AT: &str = "2026-01-31T09:05:00.000Z";

/// What the first version left behind: a finished run and a live one, a thread, and an answer to a call.
async fn first_version(config: &Config) {
    let options = SqliteConnectOptions::new().filename(&config.db_path).create_if_missing(true).foreign_keys(true);
    let mut connection = options.connect().await.unwrap();
    let first = sqlx::migrate!("./migrations").iter().next().unwrap().clone();
    Migrator::with_migrations(vec![first]).run(&mut connection).await.unwrap();
    let rows = format!(
        "INSERT INTO projects (id, title, repo_path, git_dir, base_branch, integration_branch, created_at, updated_at)
           VALUES ('PROJ-001', 'Site', '/home/ann/site', '/home/ann/site/.git', 'main', 'vibe-relay/PROJ-001', '{AT}', '{AT}');
         INSERT INTO tasks (id, project_id, title, phase, status, approved_sha, merged_sha, created_at, updated_at)
           VALUES ('TASK-001', 'PROJ-001', 'Done', 'coder', 'done', 'a1', 'm1', '{AT}', '{AT}');
         INSERT INTO tasks (id, project_id, title, phase, status, created_at, updated_at)
           VALUES ('TASK-002', 'PROJ-001', 'Page', 'coder', 'in_progress', '{AT}', '{AT}');
         INSERT INTO agent_runs (id, task_id, phase, attempt, started_at, completed_at, end_class)
           VALUES ('RUN-001', 'TASK-001', 'coder', 1, '{AT}', '{AT}', 'finished');
         INSERT INTO agent_runs (id, task_id, phase, attempt, started_at, completed_at, end_class)
           VALUES ('RUN-002', 'TASK-001', 'reviewer', 1, '{AT}', '{AT}', 'finished');
         INSERT INTO agent_runs (id, task_id, phase, attempt, started_at) VALUES ('RUN-003', 'TASK-002', 'coder', 1, '{AT}');
         INSERT INTO verdicts (task_id, sha, verdict, actor, run_id, created_at)
           VALUES ('TASK-001', 'a1', 'approved', 'reviewer-TASK-001', 'RUN-002', '{AT}');
         INSERT INTO comments (id, task_id, author_role, run_id, content, created_at) VALUES ('NOTE-001', 'TASK-002', 'human', NULL, 'Mind', '{AT}');
         INSERT INTO comments (id, task_id, author_role, run_id, content, created_at)
           VALUES ('NOTE-002', 'TASK-002', 'coder', 'RUN-003', 'Begun', '{AT}');
         INSERT INTO counters (kind, value) VALUES ('NOTE', 2), ('TASK', 2), ('RUN', 3), ('PROJ', 1);
         INSERT INTO calls (run_id, call_id, answer) VALUES ('RUN-003', '1',
           '{{\"id\":\"NOTE-002\",\"task_id\":\"TASK-002\",\"author_role\":\"coder\",\"run_id\":\"RUN-003\",\"content\":\"Begun\",\"created_at\":\"{AT}\"}}');
         INSERT INTO tokens (hash, kind, run_id, created_at) VALUES ('{}', 'human', NULL, '{AT}'), ('{}', 'run', 'RUN-003', '{AT}');",
        token::hash("the person's"),
        token::hash("the run's"),
    );
    sqlx::raw_sql(sqlx::AssertSqlSafe(rows)).execute(&mut connection).await.unwrap();
}

#[tokio::test]
async fn a_database_of_the_first_version_keeps_tokens_calls_comments_and_hands() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config { db_path: folder.path().join("board.db"), ..Config::default() };
    first_version(&config).await;
    let db = Db::open(&config).await.unwrap();
    let (project, done, task) = (ProjectId::new(1), TaskId::new(1), TaskId::new(2));

    assert_eq!(db.caller("the person's").await.unwrap(), Some(Caller::Human));
    let coder = db.caller("the run's").await.unwrap().unwrap();
    let run = RunCaller { run_id: RunId::new(3), task_id: task.clone(), project_id: project.clone(), phase: AgentKind::Coder, call_id: None };
    assert_eq!(coder, Caller::Run(run));

    let thread = db.comments(&task).await.unwrap();
    assert_eq!(thread.iter().map(|comment| comment.content.as_str()).collect::<Vec<_>>(), ["Mind", "Begun"]);
    let repeated = db.add_comment(&coder.clone().with_call_id(Some("1".to_owned())), &task, "Begun", None).await.unwrap();
    assert_eq!(repeated, thread[1], "a call that was answered before is not carried out again");
    assert_eq!(db.add_comment(&coder, &task, "Goes on", None).await.unwrap().id.as_str(), "NOTE-003");

    let hands = db.card(&done).await.unwrap().contributors;
    assert_eq!((hands.built_by, hands.verified_by), (vec!["coder-TASK-001".to_owned()], None));
    assert_eq!(db.card(&task).await.unwrap().contributors.built_by, ["coder-TASK-002"]);
    let agents = db.agents(&project).await.unwrap();
    let there: Vec<(&str, &[Role], bool)> = agents.iter().map(|agent| (agent.name.as_str(), agent.roles.as_slice(), agent.trusted)).collect();
    assert_eq!(there, [("coder-TASK-002", &[Role::Coder][..], true)], "the run that outlived the change takes part");
    db.set_status(&coder, &project, "Goes on").await.unwrap();
    let sent =
        domain::team::message::NewMessage { to: "human".to_owned(), content: "Still here".to_owned(), cc: Vec::new(), task_id: None, reply_to: None };
    db.send(&coder, &project, sent).await.unwrap();
}
