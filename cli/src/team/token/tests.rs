//! Tokens are created on a running board, for the named or the only matching project.

use std::sync::Arc;

use api::{AppState, SignIn};
use db::{Caller, Db, InviteCaller};
use domain::config::live::LiveConfig;
use domain::config::{Config, Durability};
use domain::runs::tick::Ticks;
use domain::team::person::{NewPerson, OWNER, Person, PersonPatch, PersonRole};
use domain::team::role::Role;
use domain::team::token::TokenName;
use domain::wire::{NewProject, SignInLink};
use mcp::server_file::{self, ServerFile};
use mcp::server_socket;
use repo::testing::TestRepository;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::*;
use crate::token_file::{self, TokenFile};

/// A board that runs until this value is dropped.
struct Board {
    db: Db,
    client: Client,
    config: Config,
    _folder: tempfile::TempDir,
    _end: DropGuard,
}

impl Board {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = Config { db_path: folder.path().join("board.db"), durability: Durability::Normal, ..Config::default() };
        let db = Db::open(&config).await.unwrap();
        let token_file = Arc::new(TokenFile::open(&config).unwrap());
        db.set_owner("owner", &token_file.token()).await.unwrap();
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let shutdown = CancellationToken::new();
        let state = AppState {
            db: db.clone(),
            config: watch::Sender::new(LiveConfig { config: config.clone(), notice: None }).subscribe(),
            port,
            assets: &[],
            sign_in: SignIn::default(),
            save_token: Arc::new({
                let file = Arc::clone(&token_file);
                move |token| file.replace(token)
            }),
            restore_token: Arc::new(move || token_file.restore()),
            activity: watch::Sender::default(),
            ticks: watch::Sender::new(Ticks::new(db::now())).subscribe(),
            sandbox: watch::Sender::new(None).subscribe(),
            publish: std::sync::Arc::new(|_, _, _| Box::pin(async { Err(db::Error::Closed) })),
            can_open: std::sync::Arc::new(|_| Box::pin(async { false })),
            read_issue: std::sync::Arc::new(|_, _, _, _| Box::pin(async { Err(db::Error::Closed) })),
            import_issue: std::sync::Arc::new(|_, _, _| Box::pin(async { Err(db::Error::Closed) })),
            follow_base: std::sync::Arc::new(|_| Box::pin(async { Ok(()) })),
            update_checkout: std::sync::Arc::new(|_, _| Box::pin(async { Err(db::Error::Closed) })),
            map_code: std::sync::Arc::new(|_| Box::pin(async { Err(db::Error::Closed) })),
            shutdown: shutdown.clone(),
            demo: None,
        };
        let (_socket, local) = server_socket::bind(&config.db_path).unwrap();
        tokio::spawn(api::serve(listener, Some(local), api::router(state, axum::Router::new()), shutdown.clone()));
        let server =
            ServerFile { url: format!("http://127.0.0.1:{port}"), epoch: db.epoch().to_owned(), pid: std::process::id(), secret: String::new() };
        server_file::write(&config.db_path, &server).unwrap();
        Self { db, client: Client::new(&config).unwrap(), config, _folder: folder, _end: shutdown.drop_guard() }
    }

    /// Creates a project on a repository and returns its common `.git` folder.
    async fn project(&self, sample: &TestRepository, title: &str) -> String {
        let probe = repo::probe(sample.top(), None).unwrap();
        let new = NewProject { title: title.to_owned(), ..NewProject::default() };
        self.db.create_project(&Caller::owner(), new, probe).await.unwrap().git_dir
    }
}

fn mara(project: Option<&str>) -> CreateToken {
    let (agent, team) = ("mara".to_owned(), Some("platform".to_owned()));
    let (project, terms) = (project.map(str::to_owned), Terms::default());
    CreateToken::New {
        agent: Some(agent),
        roles: vec![Role::Builder, Role::Pen],
        team,
        project,
        all_projects: false,
        person: None,
        audience: None,
        terms,
    }
}

#[tokio::test]
async fn token_opens_the_project_under_the_agents_name() {
    let (board, sample) = (Board::new().await, TestRepository::new());
    board.project(&sample, "One").await;
    let (project, created) = create(&board.client, mara(None), None).await.unwrap();
    assert!(created.connect.contains("--transport http") && created.connect.contains("$TOKEN") && !created.connect.contains(&created.token));
    let Some(Caller::Agent(caller)) = board.db.caller(&created.token).await.unwrap() else { panic!("the token is not an agent's") };
    assert_eq!((caller.project_id, caller.name.as_str()), (project.clone(), "platform/mara"));
    let agent = board.db.agent(&project, "platform/mara").await.unwrap();
    assert_eq!((agent.roles, agent.trusted), (vec![Role::Builder, Role::Pen], true));

    let (_, invite) = create(&board.client, CreateToken::Invite { project: None }, None).await.unwrap();
    assert!(invite.connect.contains("VIBE_RELAY_DB=") && invite.connect.ends_with("board.db -- vibe-relay mcp"));
    assert_eq!(
        board.db.caller(&invite.token).await.unwrap(),
        Some(Caller::Invite(InviteCaller {
            project_id: project,
            permissions: domain::team::token::Permissions::default(),
            expires_at: None,
            call_id: None
        }))
    );
}

#[tokio::test]
async fn token_is_listed_changed_and_revoked_by_its_name() {
    let (board, sample) = (Board::new().await, TestRepository::new());
    board.project(&sample, "One").await;
    let (_, created) = create(&board.client, mara(None), None).await.unwrap();
    given::list(&board.client).await.unwrap();
    let name: TokenName = db::token_name(&created.token).parse().unwrap();
    let no_terms = Terms::default();
    given::change(&board.client, name.as_str(), &no_terms).await.unwrap();
    given::revoke(&board.client, name.as_str()).await.unwrap();
    assert_eq!(board.db.caller(&created.token).await.unwrap(), None);
    assert!(matches!(given::revoke(&board.client, name.as_str()).await, Err(CliError::Refused { .. })));
}

#[tokio::test]
async fn token_is_found_by_its_holder_unless_several_have_the_name() {
    let (board, sample) = (Board::new().await, TestRepository::new());
    board.project(&sample, "One").await;
    board.project(&sample, "Two").await;
    let (_, first) = create(&board.client, mara(Some("1")), None).await.unwrap();
    let (_, second) = create(&board.client, mara(Some("2")), None).await.unwrap();
    let several = given::revoke(&board.client, "platform/mara").await.unwrap_err();
    let names = [&first, &second].map(|created| db::token_name(&created.token));
    assert!(matches!(&several, CliError::WhichToken { .. }) && names.iter().all(|name| several.to_string().contains(name)), "{several}");
    given::revoke(&board.client, &names[0]).await.unwrap();
    given::revoke(&board.client, "platform/mara").await.unwrap();
    assert_eq!(board.db.caller(&second.token).await.unwrap(), None);
    let nobody = given::change(&board.client, "platform/mara", &Terms::default()).await.unwrap_err();
    assert!(matches!(nobody, CliError::NoToken { .. }), "{nobody}");
}

#[tokio::test]
async fn project_is_the_named_or_the_only_matching_one() {
    let (board, here, there) = (Board::new().await, TestRepository::new(), TestRepository::new());
    assert!(matches!(create(&board.client, mara(None), None).await, Err(CliError::NoProject)));
    let git_dir = board.project(&here, "Here").await;
    let elsewhere = board.project(&there, "There").await;
    let project_of = |project: Option<&'static str>, here: Option<String>| {
        let client = board.client.clone();
        async move { create(&client, mara(project), here.as_deref()).await.map(|(project, _)| project) }
    };
    assert_eq!(project_of(None, Some(git_dir.clone())).await.unwrap(), ProjectId::new(1));
    assert_eq!(project_of(None, Some(elsewhere)).await.unwrap(), ProjectId::new(2));
    assert_eq!(project_of(Some("PROJ-002"), Some(git_dir.clone())).await.unwrap(), ProjectId::new(2));

    let unclear = project_of(None, None).await.unwrap_err();
    let Err(refused) = project_of(Some("PROJ-009"), None).await else { panic!("the project does not exist") };
    let Err(no_id) = project_of(Some("mine"), None).await else { panic!("the id is not valid") };
    board.project(&here, "Here again").await;
    let several = project_of(None, Some(git_dir)).await.unwrap_err();
    insta::assert_snapshot!([unclear, several, refused, no_id].map(|error| error.to_string()).join("\n"), @r#"
    none of the projects is on the repository of this folder; choose one with --project: PROJ-002 (There), PROJ-001 (Here)
    several projects are on the repository of this folder; choose one with --project: PROJ-003 (Here again), PROJ-001 (Here)
    project PROJ-009 does not exist. `vibe-relay project list` lists the projects.
    "mine" is not a project id: expected something like PROJ-001, or its number; `vibe-relay project list` shows them
    "#);
}

#[tokio::test]
async fn rotation_replaces_the_file_and_the_boards_token_and_signs_browsers_out() {
    let board = Board::new().await;
    let path = settings::token_file(&board.config);
    let old = token_file::read(&path).unwrap();
    let secret = board.db.open_browser_session(OWNER, None, None).await.unwrap().unwrap();
    assert_eq!(rotate(&board.client).await.unwrap().revoked_sessions, 1);
    let new = token_file::read(&path).unwrap();
    assert_ne!(old, new);
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&path).unwrap().permissions()) & 0o777, 0o600);
    assert_eq!((board.db.caller(&old).await.unwrap(), board.db.caller(&new).await.unwrap()), (None, Some(Caller::owner())));
    assert!(board.db.use_browser_session(&secret).await.unwrap().is_none());
    assert!(board.client.delete("/api/sessions/1").await.is_err(), "it was revoked");
    board.db.open_browser_session(OWNER, None, None).await.unwrap();
    board.client.delete("/api/sessions/2").await.unwrap();
    assert_eq!(board.db.browser_sessions(&Caller::owner()).await.unwrap(), []);
}

#[tokio::test]
async fn lost_or_damaged_token_file_needs_no_restart() {
    let board = Board::new().await;
    let path = settings::token_file(&board.config);
    let token = token_file::read(&path).unwrap();
    let another = "0".repeat(token.len());
    for content in [None, Some("bad"), Some(&*another)] {
        match content {
            Some(content) => std::fs::write(&path, content).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
        let link: SignInLink = Client::new(&board.config).unwrap().post("/api/sign-in-link", &json!({})).await.unwrap();
        assert!(link.sign_in_link.contains("/sign-in?code="), "{content:?}");
        assert_eq!(token_file::read(&path).unwrap(), token, "{content:?}: it is the token from before, so no browser is signed out");
    }
    std::fs::remove_file(&path).unwrap();
    rotate(&board.client).await.unwrap();
    assert_ne!(token_file::read(&path).unwrap(), token);
}

#[tokio::test]
async fn person_is_found_by_name_and_gets_a_token() {
    let board = Board::new().await;
    let new = NewPerson { name: "ann".to_owned(), role: Some(PersonRole::Viewer) };
    let added: Person = board.client.post("/api/persons", &new).await.unwrap();
    assert_eq!(person::find(&board.client, "ANN").await.unwrap(), added);
    assert!(matches!(person::find(&board.client, "ben").await, Err(CliError::NoPerson { name }) if name == "ben"));
    create_for_person(&board.client, "ann", &NewPersonToken::default()).await.unwrap();
    let changed: Person = board.client.patch(&format!("/api/persons/{}", added.id), &PersonPatch { role: PersonRole::Member }).await.unwrap();
    assert_eq!(changed.role, PersonRole::Member);
    board.client.delete(&format!("/api/persons/{}", added.id)).await.unwrap();
    assert!(matches!(create_for_person(&board.client, "ann", &NewPersonToken::default()).await, Err(CliError::NoPerson { .. })));
}
