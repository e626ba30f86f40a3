//! Refusals of a sandbox, and accesses that the owner allowed.

use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::RepositoryInfo;
use domain::runs::parking::ParkReason;
use domain::runs::sandbox::{Access, AccessKind, SandboxTier};
use domain::team::person::PersonRole;
use domain::wire::{NewProject, ProjectPatch};

use crate::caller::{Caller, PersonCaller};
use crate::tests::store::{Store, code, probe};

#[tokio::test]
async fn refusal_is_recorded_once_and_their_number_is_bounded() {
    let store = Store::board().await;
    let task = store.task("A task").await;
    let run = store.agent(&task, AgentKind::Coder).await.run;
    let seq = store.db.latest();
    let refused = |number: u32| Access::new(AccessKind::Write, format!("~/{number}"));
    store.db.record_refusals(&run, vec![refused(1), refused(2)]).await.unwrap();
    store.db.record_refusals(&run, vec![refused(2)]).await.unwrap();
    assert_eq!(store.db.run(&run).await.unwrap().refusals, [refused(1), refused(2)]);
    assert_eq!(store.kinds_since(seq).await, ["run_access_refused"]);
    store.db.record_refusals(&run, (0..200).map(refused).collect()).await.unwrap();
    assert_eq!(store.db.run(&run).await.unwrap().refusals.len(), 50);
    store.check_fold().await;
}

#[tokio::test]
async fn owner_alone_allows_access_to_paths_and_hosts() {
    let store = Store::board().await;
    let allow = |access: Access| ProjectPatch { allowed_access: Some(vec![access]), ..ProjectPatch::default() };
    let cache = Access::new(AccessKind::Write, "~/.cache/tool");
    let edited = store.db.edit_project(&Caller::owner(), &store.project, allow(cache.clone()), None).await.unwrap();
    assert_eq!(edited.allowed_access, std::slice::from_ref(&cache));
    let home = allow(Access::new(AccessKind::Write, "~"));
    assert_eq!(code(store.db.edit_project(&Caller::owner(), &store.project, home, None).await), "invalid");
    let member = Caller::Person(PersonCaller { id: 2, name: "ann".to_owned(), role: PersonRole::Member, is_companion: false });
    assert_eq!(code(store.db.edit_project(&member, &store.project, allow(Access::new(AccessKind::Host, "x.org")), None).await), "person-role");
    let title = ProjectPatch { title: Some("New".to_owned()), ..ProjectPatch::default() };
    assert_eq!(store.db.edit_project(&member, &store.project, title, None).await.unwrap().allowed_access, [cache]);
}

#[tokio::test]
async fn allowed_access_belongs_to_the_repository() {
    let store = Store::board().await;
    let new = |title: &str| NewProject { title: title.to_owned(), ..NewProject::default() };
    let second = store.db.create_project(&Caller::owner(), new("Second"), probe()).await.unwrap();
    let elsewhere = RepositoryInfo { git_dir: "/home/ann/other/.git".to_owned(), ..probe() };
    let other = store.db.create_project(&Caller::owner(), new("Other"), elsewhere).await.unwrap();
    let (file, host) = (Access::new(AccessKind::Read, "~/.netrc"), Access::new(AccessKind::Host, "example.org"));
    let seq = store.db.latest();
    store.db.allow_access(&Caller::owner(), &store.project, file.clone()).await.unwrap();
    assert_eq!(store.kinds_since(seq).await, ["project_edited", "project_edited"], "one for each project");
    let allowed = store.db.allow_access(&Caller::owner(), &second.id, host.clone()).await.unwrap().allowed_access;
    assert_eq!(allowed, [file.clone(), host.clone()]);
    assert_eq!(store.project().await.allowed_access, allowed);
    assert_eq!(store.db.project(&other.id).await.unwrap().allowed_access, []);
    let third = store.db.create_project(&Caller::owner(), new("Third"), probe()).await.unwrap();
    assert_eq!(third.allowed_access, allowed, "a later project has it too");
    let member = Caller::Person(PersonCaller { id: 2, name: "ann".to_owned(), role: PersonRole::Member, is_companion: false });
    assert_eq!(code(store.db.allow_access(&member, &store.project, Access::new(AccessKind::Read, "~/.aws")).await), "person-role");
    assert_eq!(code(store.db.allow_access(&Caller::owner(), &store.project, Access::new(AccessKind::Sign, "commits")).await), "invalid");
    store.check_fold().await;
}

#[tokio::test]
async fn chosen_sandbox_lets_agents_start() {
    let store = Store::board().await;
    assert_eq!(store.db.chosen_sandbox().await.unwrap(), None);
    store.db.park_after_check(ParkReason::Sandbox, "choose".to_owned(), crate::now()).await.unwrap();
    let seq = store.db.latest();
    store.db.choose_sandbox(&Caller::owner(), SandboxTier::Jail).await.unwrap();
    assert_eq!(store.kinds_since(seq).await, ["sandbox_chosen", "agents_resumed"]);
    assert_eq!((store.db.chosen_sandbox().await.unwrap(), store.db.parkings().await.unwrap()), (Some(SandboxTier::Jail), Vec::new()));
    store.db.choose_sandbox(&Caller::owner(), SandboxTier::None).await.unwrap();
    assert_eq!(store.db.chosen_sandbox().await.unwrap(), Some(SandboxTier::None));
    let member = Caller::Person(PersonCaller { id: 2, name: "ann".to_owned(), role: PersonRole::Member, is_companion: false });
    assert_eq!(code(store.db.choose_sandbox(&member, SandboxTier::Jail).await), "person-role");
}
