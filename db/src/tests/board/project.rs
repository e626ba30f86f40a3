//! Projects: created, edited, landed, and complete when no work is left.

use domain::board::attention::AttentionKind;
use domain::board::project::{PlanApproval, ProjectStatus};
use domain::board::status::Status;
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::{BaseEvidence, CheckoutRecord, RepositoryPlace};
use domain::runs::profile::Profile;
use domain::team::person::PersonRole;
use domain::wire::{NewProject, ProjectPatch};

use crate::tests::store::{Store, code, landing, probe, publication, whole_board};
use crate::{Caller, PersonCaller};

#[tokio::test]
async fn project_with_goal_gets_a_planning_task() {
    let (store, planner) = Store::plan(PlanApproval::Auto).await;
    let project = store.project().await;
    assert_eq!((project.id.as_str(), project.integration_branch.as_str()), ("PROJ-001", "vibe-relay/PROJ-001"));
    assert_eq!((project.status, project.git_dir.as_str()), (ProjectStatus::Active, "/home/ann/site/.git"));
    let card = store.card(&planner).await;
    assert_eq!((card.phase, card.status, card.title.as_str()), (AgentKind::Planner, Status::InProgress, "Site"));
    assert_eq!(store.db.task(&planner).await.unwrap().description.as_deref(), Some("A site that says hello"));
    assert_eq!(store.kinds_since(0).await, ["project_created", "task_created"]);
    store.check_fold().await;
}

#[tokio::test]
async fn project_without_goal_has_no_planner() {
    let store = Store::board().await;
    assert!(whole_board(&store.db, &store.project).await.unwrap().cards.is_empty());
    let new = NewProject { title: "Again".to_owned(), plan: Some(true), ..NewProject::default() };
    assert_eq!(code(store.db.create_project(&Caller::owner(), new, probe()).await), "invalid");
    let new = NewProject { title: "Again".to_owned(), description: Some("Later".to_owned()), plan: Some(false), ..NewProject::default() };
    let second = store.db.create_project(&Caller::owner(), new, probe()).await.unwrap();
    assert!(whole_board(&store.db, &second.id).await.unwrap().cards.is_empty());
    let ids: Vec<String> = store.db.projects().await.unwrap().iter().map(|project| project.id.to_string()).collect();
    assert_eq!(ids, ["PROJ-002", "PROJ-001"]);
}

#[tokio::test]
async fn edit_records_only_changed_fields() {
    let (store, _) = Store::plan(PlanApproval::Auto).await;
    let seq = store.db.latest();
    let same = ProjectPatch { title: Some(" Site ".to_owned()), ..ProjectPatch::default() };
    store.db.edit_project(&Caller::owner(), &store.project, same, None).await.unwrap();
    assert_eq!(store.db.latest(), seq);
    let patch =
        ProjectPatch { title: None, description: Some("Another goal".to_owned()), plan_approval: Some(PlanApproval::Ask), ..ProjectPatch::default() };
    let edited = store.db.edit_project(&Caller::owner(), &store.project, patch, None).await.unwrap();
    assert_eq!((edited.title.as_str(), edited.plan_approval), ("Site", PlanApproval::Ask));
    assert_eq!(edited.description.as_deref(), Some("Another goal"));
    assert_eq!(store.kinds_since(seq).await, ["project_edited"]);
    let empty = ProjectPatch { title: Some(" ".to_owned()), ..ProjectPatch::default() };
    assert_eq!(code(store.db.edit_project(&Caller::owner(), &store.project, empty, None).await), "invalid");
    store.check_fold().await;
}

#[tokio::test]
async fn project_branch_and_landing_are_recorded() {
    let store = Store::board().await;
    let seq = store.db.latest();
    store.db.record_branch_tip(&store.project, "vibe-relay/PROJ-001-2", None, &"one".to_owned()).await.unwrap();
    store.db.record_branch_tip(&store.project, "vibe-relay/PROJ-001-2", Some(&"one".to_owned()), &"one".to_owned()).await.unwrap();
    store.db.record_landing(&Caller::owner(), &store.project, landing("one", "landed")).await.unwrap();
    let published = store.db.record_publication(&Caller::owner(), &store.project, publication("one")).await.unwrap().published;
    assert_eq!(store.project().await.published, published);
    assert_eq!(published, Some(publication("one")));
    assert_eq!(store.kinds_since(seq).await, ["project_branch_moved", "project_landed", "project_published"]);
    let project = store.project().await;
    assert_eq!((project.integration_branch.as_str(), project.base_head.as_str()), ("vibe-relay/PROJ-001-2", "landed"));
    assert_eq!((project.integration_head.as_deref(), project.landed_sha.as_deref()), (Some("one"), Some("one")));
    store.check_fold().await;
}

#[tokio::test]
async fn undone_landing_lets_its_tasks_land_again() {
    let store = Store::board().await;
    let record = async |tip: &str, sha: &str| store.db.record_landing(&Caller::owner(), &store.project, landing(tip, sha)).await.unwrap();
    let waiting = async || store.db.project_summaries(&Caller::owner(), false).await.unwrap()[0].ready_to_land;
    let undo = async |id| store.db.record_undone_landing(&Caller::owner(), &store.project, id).await;
    assert_eq!(code(store.db.landing_to_undo(&store.project, None).await), "nothing-to-undo");
    let mut landings = Vec::new();
    for (tip, sha) in [("one", "landed one"), ("two", "landed two")] {
        let task = store.task(tip).await;
        store.complete(&task).await;
        store
            .db
            .record_branch_tip(&store.project, "vibe-relay/PROJ-001", store.project().await.integration_head.as_ref(), &tip.to_owned())
            .await
            .unwrap();
        landings.push(record(tip, sha).await.landed.unwrap().id);
    }
    assert_eq!(waiting().await, None);
    assert_eq!(code(store.db.landing_to_undo(&store.project, Some(landings[0])).await), "not-the-last-landing");
    assert_eq!(code(undo(landings[0]).await), "not-the-last-landing");
    let seq = store.db.latest();
    let (_, last) = store.db.landing_to_undo(&store.project, None).await.unwrap();
    let project = undo(last.id).await.unwrap();
    assert_eq!(
        (project.landed_sha.as_deref(), project.base_head, project.landed.map(|landing| landing.id)),
        (Some("one"), last.before_sha, Some(landings[0]))
    );
    assert_eq!((waiting().await, store.kinds_since(seq).await), (Some(1), vec!["project_landing_undone"]));
    let facts = store.db.landing_facts(&store.project, None).await.unwrap();
    assert_eq!(facts.tasks.iter().map(|task| task.title.as_str()).collect::<Vec<_>>(), ["two"]);
    assert_eq!(facts.landings.iter().map(|landing| landing.undone_at.is_some()).collect::<Vec<_>>(), [true, false], "it is kept");
    let project = undo(landings[0]).await.unwrap();
    assert_eq!((project.landed_sha, project.landed, waiting().await), (None, None, Some(2)));
    assert_eq!(code(undo(landings[0]).await), "nothing-to-undo");
    store.check_fold().await;
}

#[tokio::test]
async fn base_branch_is_recorded_as_it_gains_commits() {
    let store = Store::board().await;
    let record = async |from: &str, to: &str| store.db.record_base_tip(&store.project, &from.to_owned(), &to.to_owned()).await;
    let seq = store.db.latest();
    record("base", "one").await.unwrap();
    record("base", "two").await.unwrap();
    record("one", "one").await.unwrap();
    assert_eq!(store.kinds_since(seq).await, ["project_base_moved"]);
    assert_eq!(store.project().await.base_head, "one");
    assert_eq!(code(store.db.record_base_tip(&"PROJ-009".parse().unwrap(), &"a".to_owned(), &"b".to_owned()).await), "not-found");
    store.check_fold().await;
}

#[tokio::test]
async fn replaced_base_branch_keeps_what_landing_needs() {
    let store = Store::board().await;
    let task = store.task("Landed").await;
    store.complete(&task).await;
    store.db.record_branch_tip(&store.project, "vibe-relay/PROJ-001", None, &"one".to_owned()).await.unwrap();
    store.db.record_landing(&Caller::owner(), &store.project, landing("one", "landed")).await.unwrap();
    let patch = |branch: &str| ProjectPatch { base_branch: Some(branch.to_owned()), ..ProjectPatch::default() };
    let edit = async |branch: &str, base| store.db.edit_project(&Caller::owner(), &store.project, patch(branch), base).await;
    let found = |branch: &str, holds_landed| {
        Some(BaseEvidence { branch: branch.to_owned(), tip: "tip".to_owned(), base_head: format!("head of {branch}"), holds_landed })
    };
    let before = store.dump().await;
    assert_eq!(code(edit("trunk", None).await), "invalid");
    assert_eq!(code(edit("trunk", found("other", true)).await), "invalid");
    assert_eq!(code(edit("vibe-relay/PROJ-001", found("vibe-relay/PROJ-001", true)).await), "invalid");
    assert_eq!(edit("main", found("main", false)).await.unwrap().base_head, "landed", "it is the base branch already");
    assert_eq!(store.dump().await, before);

    let seq = store.db.latest();
    let renamed = edit("trunk", found("trunk", true)).await.unwrap();
    assert_eq!((renamed.base_branch.as_str(), renamed.base_head.as_str(), renamed.landed_sha.as_deref()), ("trunk", "head of trunk", Some("one")));
    assert_eq!(edit("release", found("release", false)).await.unwrap().landed_sha, None, "the work can be landed there");
    let summaries = store.db.project_summaries(&Caller::owner(), false).await.unwrap();
    assert_eq!(summaries[0].ready_to_land, Some(1));
    assert_eq!(store.kinds_since(seq).await, ["project_base_replaced", "project_edited", "project_base_replaced", "project_edited"]);
    store.check_fold().await;
}

#[tokio::test]
async fn unknown_project_and_wrong_caller_are_refused() {
    let (store, planner) = Store::plan(PlanApproval::Auto).await;
    let agent = store.agent(&planner, AgentKind::Planner).await;
    let before = store.dump().await;
    let nowhere = "PROJ-009".parse().unwrap();
    assert_eq!(code(store.db.project(&nowhere).await), "not-found");
    assert_eq!(code(whole_board(&store.db, &nowhere).await), "not-found");
    assert_eq!(code(store.db.edit_project(&Caller::owner(), &nowhere, ProjectPatch::default(), None).await), "not-found");
    assert_eq!(code(store.db.record_branch_tip(&nowhere, "b", None, &"s".to_owned()).await), "not-found");
    assert_eq!(code(store.db.record_landing(&Caller::owner(), &nowhere, landing("s", "s")).await), "not-found");
    assert_eq!(code(store.db.record_publication(&Caller::owner(), &nowhere, publication("s")).await), "not-found");
    let new = NewProject { title: "Mine".to_owned(), ..NewProject::default() };
    assert_eq!(code(store.db.create_project(&agent.caller, new, probe()).await), "human-only");
    assert_eq!(code(store.db.edit_project(&agent.caller, &store.project, ProjectPatch::default(), None).await), "human-only");
    assert_eq!(code(store.db.record_landing(&Caller::Runner, &store.project, landing("s", "s")).await), "human-only");
    assert_eq!(code(store.db.record_undone_landing(&Caller::Runner, &store.project, 1).await), "human-only");
    assert_eq!(code(store.db.record_publication(&agent.caller, &store.project, publication("s")).await), "human-only");
    assert_eq!(store.dump().await, before);
}

#[tokio::test]
async fn attention_keeps_a_project_active_held_cards_do_not() {
    let store = Store::board().await;
    let status = async || store.project().await.status;
    assert_eq!(status().await, ProjectStatus::Active, "an empty board is not complete");
    let task = store.task("One").await;
    store.complete(&task).await;
    assert_eq!(status().await, ProjectStatus::Complete);
    let second = store.task("Two").await;
    assert_eq!(status().await, ProjectStatus::Active);
    store.db.stop_task(&Caller::owner(), &second).await.unwrap();
    assert_eq!(status().await, ProjectStatus::Complete);
    store.db.request_attention(&second, AttentionKind::Failed, "look").await.unwrap();
    assert_eq!(status().await, ProjectStatus::Active);
    store.cancel(&second, "abandoned").await;
    assert_eq!(status().await, ProjectStatus::Complete);
    let third = store.task_after("Three", &[&second]).await;
    store.db.stop_task(&Caller::owner(), &third).await.unwrap();
    assert_eq!(store.card(&third).await.attention.unwrap().kind, AttentionKind::DependencyCancelled);
    assert_eq!(status().await, ProjectStatus::Active);
    let free = domain::board::task::TaskPatch { depends_on: Some(Vec::new()), ..Default::default() };
    store.db.edit_task(&Caller::owner(), &third, free).await.unwrap();
    assert_eq!(status().await, ProjectStatus::Complete);
    store.db.start_task(&Caller::owner(), &third).await.unwrap();
    assert_eq!(status().await, ProjectStatus::Active);
    store.check_fold().await;
}

#[tokio::test]
async fn relocation_applies_to_every_project_on_the_repository() {
    let store = Store::board().await;
    let second =
        store.db.create_project(&Caller::owner(), NewProject { title: "Second".to_owned(), ..NewProject::default() }, probe()).await.unwrap();
    let task = store.task("One").await;
    store.db.record_checkout(&task, "vr/TASK-001/work", "/trees/TASK-001").await.unwrap();
    store.db.record_branch_tip(&second.id, "vibe-relay/PROJ-002", None, &"two".to_owned()).await.unwrap();
    store.db.claim_reference("/home/ann/site/.git", "vr/TASK-001/work", Some(&task)).await.unwrap();
    // It may be known there already.
    store.db.claim_reference("/home/ann/moved/.git", "vr/TASK-001/work", Some(&task)).await.unwrap();

    let record = store.db.repository_record(&store.project).await.unwrap();
    let commits: Vec<(&str, &str)> = record.commits.iter().map(|known| (known.name.as_str(), known.sha.as_str())).collect();
    assert_eq!(commits, [("the tip of main", "base"), ("the tip of vibe-relay/PROJ-002", "two")]);
    let checkout = CheckoutRecord { task: task.clone(), branch: "vr/TASK-001/work".to_owned(), path: "/trees/TASK-001".to_owned() };
    assert_eq!(record.checkouts, [checkout]);

    let place = RepositoryPlace { repo_path: "/home/ann/moved".to_owned(), git_dir: "/home/ann/moved/.git".to_owned() };
    let relocate =
        async |caller| store.db.relocate_project(&caller, &store.project, place.clone(), vec![(task.clone(), "/new/TASK-001".to_owned())]).await;
    let seq = store.db.latest();
    assert_eq!(code(relocate(Caller::Runner).await), "human-only");
    assert_eq!(relocate(Caller::owner()).await.unwrap().git_dir, "/home/ann/moved/.git");
    relocate(Caller::owner()).await.unwrap();
    assert_eq!(store.kinds_since(seq).await, ["project_relocated", "project_relocated"]);
    assert_eq!(store.db.project(&second.id).await.unwrap().repo_path, "/home/ann/moved");
    assert_eq!(store.db.task(&task).await.unwrap().worktree_path.as_deref(), Some("/new/TASK-001"));
    assert!(store.db.owns_reference("/home/ann/moved/.git", "vr/TASK-001/work").await.unwrap());
    assert!(!store.db.owns_reference("/home/ann/site/.git", "vr/TASK-001/work").await.unwrap());
    store.check_fold().await;
}

#[tokio::test]
async fn relocation_waits_until_no_agent_works_there() {
    let (store, planner) = Store::plan(PlanApproval::Auto).await;
    let agent = store.agent(&planner, AgentKind::Planner).await;
    let place = RepositoryPlace { repo_path: "/home/ann/moved".to_owned(), git_dir: "/home/ann/moved/.git".to_owned() };
    let before = store.dump().await;
    assert_eq!(code(store.db.repository_record(&store.project).await), "agents-work");
    assert_eq!(code(store.db.relocate_project(&Caller::owner(), &store.project, place, Vec::new()).await), "agents-work");
    assert_eq!(store.dump().await, before);
    drop(agent);
}

#[tokio::test]
async fn profile_is_set_by_the_owner_and_kept_for_the_repository() {
    let store = Store::board().await;
    let profile = Profile { setup: vec!["npm ci".to_owned()], ..Profile::default() };
    assert_eq!(store.project().await.profile, Profile::default());
    assert_eq!(store.db.repository_profile("/home/ann/other/.git").await.unwrap(), None);
    let patch = |profile: &Profile| ProjectPatch { profile: Some(profile.clone()), ..ProjectPatch::default() };
    let edited = store.db.edit_project(&Caller::owner(), &store.project, patch(&profile), None).await.unwrap();
    assert_eq!(edited.profile, profile);
    let seq = store.db.latest();
    store.db.edit_project(&Caller::owner(), &store.project, patch(&profile), None).await.unwrap();
    assert_eq!(store.db.latest(), seq, "the same again changes nothing");

    let outside = Profile { copy: vec!["../secret".to_owned()], ..Profile::default() };
    assert_eq!(code(store.db.edit_project(&Caller::owner(), &store.project, patch(&outside), None).await), "invalid");
    let member = Caller::Person(PersonCaller { id: 2, name: "ann".to_owned(), role: PersonRole::Member, is_companion: false });
    let refused = store.db.edit_project(&member, &store.project, patch(&Profile::default()), None).await;
    assert_eq!(code(refused), "person-role");

    assert_eq!(store.db.repository_profile(&edited.git_dir).await.unwrap(), Some(profile.clone()));
    let new = |given| NewProject { title: "Again".to_owned(), plan: Some(false), profile: given, ..NewProject::default() };
    let second = store.db.create_project(&Caller::owner(), new(None), probe()).await.unwrap();
    assert_eq!(second.profile, profile, "the repository is the same");
    let third = store.db.create_project(&Caller::owner(), new(Some(Profile::default())), probe()).await.unwrap();
    assert_eq!(third.profile, Profile::default());
    assert_eq!(code(store.db.create_project(&member, new(Some(profile)), probe()).await), "person-role");
    store.check_fold().await;
}
