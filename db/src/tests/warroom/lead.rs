//! Lead roles: who names them, and what is outside the reach of a lead.

use domain::board::stage::Stage;
use domain::board::task::{NewSubtask, NewTask, Task, TaskUpdate};
use domain::id::TaskId;
use domain::runs::evidence::EvidenceResult;
use domain::team::agent::{Agent, Registration};
use domain::team::message::NewMessage;
use domain::team::role::Role;
use domain::team::token::TokenTerms;
use domain::warroom::battle_plan::{BattlePlan, BattlePlanScope, BattlePlanStatus, NewBattlePlan};
use domain::warroom::class::AgentClass;
use domain::warroom::debrief::NewDebrief;
use domain::warroom::lead::LeadRole;
use domain::warroom::zone::NewZone;

use crate::Caller;
use crate::tests::external_agents::{assigned, leave_result, message, named, stage, submission, submit, update};
use crate::tests::store::{Store, code, new_task, refusal};

async fn register(store: &Store, caller: &Caller, name: &str, role: Option<LeadRole>, zone: Option<&str>) -> crate::Result<Agent> {
    let who = Registration { lead_role: role, zone: zone.map(str::to_owned), ..named(name, &[]) };
    Ok(store.db.register(caller, &store.project, who, None).await?.agent)
}

async fn set_zone(store: &Store, by: &Caller, name: &str, paths: &[&str]) -> crate::Result<()> {
    let new = NewZone { name: name.to_owned(), paths: paths.iter().map(|path| (*path).to_owned()).collect(), ..NewZone::default() };
    store.db.set_zone(by, &store.project, new).await.map(drop)
}

async fn plan(store: &Store, by: &Caller, scope: Option<BattlePlanScope>, zone: Option<&str>) -> crate::Result<BattlePlan> {
    let new = NewBattlePlan { plan: format!("Win {scope:?}"), scope, zone: zone.map(str::to_owned) };
    store.db.set_battle_plan(by, &store.project, new).await
}

fn with_files(title: &str, files: &[&str]) -> NewTask {
    NewTask { files: files.iter().map(|path| (*path).to_owned()).collect(), ..new_task(title) }
}

/// A board with two zones, a commander, a lead of the zone audio, and the coder ole.
struct Ranks {
    store: Store,
    lena: Caller,
    zoe: Caller,
    ole: Caller,
}

async fn ranks() -> Ranks {
    let store = Store::board().await;
    set_zone(&store, &Caller::owner(), "audio", &["src/audio/"]).await.unwrap();
    set_zone(&store, &Caller::owner(), "video", &["src/video/"]).await.unwrap();
    store.plan_battle().await;
    let (lena, zoe) = (store.member("lena", &[Role::Lead]).await, store.member("zoe", &[Role::Lead]).await);
    register(&store, &zoe, "zoe", None, Some("audio")).await.unwrap();
    let ole = store.member("ole", &[]).await;
    Ranks { store, lena, zoe, ole }
}

#[tokio::test]
async fn lead_names_its_role_once_and_is_a_commander_before() {
    let Ranks { store, lena, zoe, ole } = ranks().await;
    let post = |agent: Agent| (agent.lead_role, agent.zone);
    assert_eq!(post(register(&store, &lena, "lena", None, None).await.unwrap()), (Some(LeadRole::Commander), None));
    assert_eq!(post(register(&store, &zoe, "zoe", None, None).await.unwrap()), (Some(LeadRole::ZoneLead), Some("audio".to_owned())));
    assert_eq!(post(store.db.agent(&store.project, "ole").await.unwrap()), (None, None));
    let before = store.dump().await;
    assert_eq!(code(register(&store, &zoe, "zoe", Some(LeadRole::General), None).await), "lead-role-is-fixed");
    assert_eq!(code(register(&store, &zoe, "zoe", None, Some("video")).await), "lead-role-is-fixed");
    assert_eq!(code(register(&store, &ole, "ole", Some(LeadRole::General), None).await), "lead-role-of-other-class");
    assert_eq!(code(register(&store, &lena, "lena", Some(LeadRole::ZoneLead), None).await), "invalid");
    let unknown = refusal(register(&store, &lena, "lena", None, Some("text")).await);
    assert_eq!((unknown.code(), unknown.hint().as_str()), ("invalid", "The zones are audio, video."));
    assert_eq!(store.dump().await, before);
    // Another class leads nothing, and a person may give the name to another agent.
    let class = Some(AgentClass::Recon);
    store.db.register(&zoe, &store.project, Registration { class, ..named("zoe", &[]) }, None).await.unwrap();
    assert_eq!(post(store.db.agent(&store.project, "zoe").await.unwrap()), (None, None));
    let general = Registration { lead_role: Some(LeadRole::General), ..named("zoe", &[Role::Lead]) };
    store.db.create_agent_token(&Caller::owner(), &store.project, general, TokenTerms::default()).await.unwrap();
    assert_eq!(post(store.db.agent(&store.project, "zoe").await.unwrap()), (Some(LeadRole::General), None));
    store.check_fold().await;
}

#[tokio::test]
async fn zone_lead_creates_tasks_in_its_zone_only() {
    let Ranks { store, lena, zoe, .. } = ranks().await;
    let create = async |by: &Caller, new: NewTask| store.db.create_task(by, &store.project, new).await;
    let mine = create(&zoe, with_files("Mix", &["src/audio/mix.rs", "src/audio/"])).await.unwrap().card.id;
    let before = store.dump().await;
    for files in [&["src/video/a.rs"][..], &["src/audio/a.rs", "README.md"], &["src/"], &[]] {
        let refused = refusal(create(&zoe, with_files("Cut", files)).await);
        assert_eq!(refused.code(), "outside-zone", "{files:?}");
        assert!(refused.hint().contains("Name files of the zone audio"), "{}", refused.hint());
    }
    let part = |files: &[&str]| NewSubtask { title: "Part".to_owned(), files: with_files("", files).files, ..NewSubtask::default() };
    let parts = vec![part(&["src/audio/a.rs"]), part(&["src/video/a.rs"])];
    assert_eq!(code(store.db.create_subtasks(&zoe, &mine, parts).await), "outside-zone");
    assert_eq!(store.dump().await, before);
    store.db.create_subtasks(&zoe, &mine, vec![part(&["src/audio/a.rs"])]).await.unwrap();
    create(&lena, with_files("Cut", &["src/video/a.rs"])).await.unwrap();
    create(&lena, new_task("Anything")).await.unwrap();
    store.check_fold().await;
}

#[tokio::test]
async fn zone_lead_assigns_and_closes_tasks_of_its_zone_only() {
    let Ranks { store, zoe, ole, .. } = ranks().await;
    let create = async |files: &[&str]| -> TaskId {
        let new = NewTask { assigned_to: Some("ole".to_owned()), ..with_files("Task", files) };
        store.db.create_task(&Caller::owner(), &store.project, new).await.unwrap().card.id
    };
    let (audio, video, unknown) = (create(&["src/audio/a.rs"]).await, create(&["src/audio/a.rs", "src/video/a.rs"]).await, create(&[]).await);
    for task in [&audio, &video, &unknown] {
        submit(&store, task, &ole).await;
    }
    let wish = |stage| TaskUpdate { stage: Some(stage), result: Some("Do it again".to_owned()), ..TaskUpdate::default() };
    for task in [&video, &unknown] {
        let before = store.dump().await;
        let close: crate::Result<Task> = store.db.close_task(&zoe, task, EvidenceResult::Nothing).await;
        let refused = refusal(close);
        assert_eq!(refused.code(), "outside-zone");
        assert!(refused.to_string().contains(&format!("of {task} to be in that zone")), "{refused}");
        assert_eq!(code(store.db.assign_task(&zoe, task, Some("ole".to_owned()), None).await), "outside-zone");
        assert_eq!(code(store.db.assign_role_hat(&zoe, task, Role::Builder).await), "outside-zone");
        assert_eq!(code(store.db.approve_task(&zoe, task, None, EvidenceResult::Nothing).await), "outside-zone");
        assert_eq!(code(update(&store, &zoe, task, wish(Stage::InProgress)).await), "outside-zone");
        assert_eq!(store.dump().await, before);
    }
    store.db.close_task(&zoe, &audio, EvidenceResult::Nothing).await.unwrap();
    // A zone lead still works on what it was assigned itself.
    let own = assigned(&store, "Own", "zoe").await;
    stage(&store, &zoe, &own, Stage::InProgress).await.unwrap();
    leave_result(&store, &own, &zoe).await;
    store.db.submit_for_review(&zoe, &own, submission("Done")).await.unwrap();
    store.check_fold().await;
}

#[tokio::test]
async fn lead_plans_within_its_reach() {
    use BattlePlanScope::{General, Project, Zone};
    let Ranks { store, lena, zoe, ole } = ranks().await;
    let gina = store.member("gina", &[Role::Lead]).await;
    register(&store, &gina, "gina", Some(LeadRole::General), None).await.unwrap();
    let before = store.dump().await;
    assert_eq!(code(plan(&store, &ole, None, None).await), "lead-only");
    assert_eq!(code(plan(&store, &lena, Some(General), None).await), "general-only");
    for (scope, zone, expected) in
        [(Some(General), None, "commander-only"), (Some(Project), None, "commander-only"), (None, Some("video"), "outside-zone")]
    {
        assert_eq!(code(plan(&store, &zoe, scope, zone).await), expected, "{scope:?} {zone:?}");
    }
    assert_eq!(store.dump().await, before);
    let own = plan(&store, &zoe, None, None).await.unwrap();
    assert_eq!((own.scope, own.zone.as_deref()), (Zone, Some("audio")), "its zone is its scope");
    for (by, scope, zone) in [
        (&lena, None, None),
        (&lena, None, Some("video")),
        (&gina, Some(General), None),
        (&gina, None, None),
        (&Caller::owner(), Some(General), None),
    ] {
        plan(&store, by, scope, zone).await.unwrap();
    }
    let video = store.db.battle_plans(&store.project, &crate::BattlePlanQuery::default()).await.unwrap();
    let video = video.iter().find(|plan| plan.zone.as_deref() == Some("video")).unwrap();
    assert_eq!(code(store.db.end_battle_plan(&zoe, video.id, BattlePlanStatus::Completed).await), "outside-zone");
    store.db.end_battle_plan(&zoe, own.id, BattlePlanStatus::Completed).await.unwrap();
    store.check_fold().await;
}

#[tokio::test]
async fn zone_lead_divides_its_zone_and_does_not_extend_it() {
    let Ranks { store, zoe, .. } = ranks().await;
    let before = store.dump().await;
    for (name, paths) in [("audio", &["src/"][..]), ("audio", &["src/audio/", "docs/"]), ("video", &["src/audio/"]), ("text", &["text/"])] {
        let refused = set_zone(&store, &zoe, name, paths).await;
        assert!(matches!(code(refused), "outside-zone" | "zone-path-taken"), "{name} {paths:?}");
    }
    assert_eq!(code(store.db.remove_zone(&zoe, &store.project, "video").await), "outside-zone");
    assert_eq!(store.dump().await, before);
    set_zone(&store, &zoe, "codec", &["src/audio/codec/"]).await.unwrap();
    set_zone(&store, &zoe, "audio", &["src/audio/", "src/audio/*.rs"]).await.unwrap();
    assert_eq!(code(set_zone(&store, &zoe, "audio", &["src/audio/codec/x.rs"]).await), "outside-zone", "it belongs to another zone now");
    store.db.remove_zone(&zoe, &store.project, "audio").await.unwrap();
    assert_eq!(code(store.db.create_task(&zoe, &store.project, with_files("Mix", &["src/audio/a.rs"])).await), "outside-zone");
}

/// It tells agents what to do that own, know, hold or work on files of its zone. All others it may ask, and other zones by their name.
#[tokio::test]
async fn zone_lead_tells_only_agents_of_its_zone_what_to_do() {
    let Ranks { store, lena, zoe, ole } = ranks().await;
    plan(&store, &zoe, None, None).await.unwrap();
    let vera = store.member("vera", &[]).await;
    let video = NewZone { name: "video".to_owned(), paths: vec!["src/video/".to_owned()], oracle: Some("vera".to_owned()), ..NewZone::default() };
    store.db.set_zone(&lena, &store.project, video).await.unwrap();
    let task = store.db.create_task(&zoe, &store.project, with_files("Mix", &["src/audio/a.rs"])).await.unwrap().card.id;
    let about = |to: &str| NewMessage { task_id: Some(task.clone()), ..message(to, "Take this.") };
    let send = async |new: NewMessage| store.db.send(&zoe, &store.project, new).await;
    let before = store.dump().await;
    for (new, hint) in [
        (about("ole"), "Send it to a commander instead"),
        (about("vera"), "Send it to zone/video instead"),
        (message("ole", "sitrep ole"), "ole does once you assign it a task there."),
        (message("vera", "recon vera: the mixer"), "Send it to zone/video instead"),
        (NewMessage { cc: vec!["ole".to_owned()], ..about("lena") }, "a commander"),
    ] {
        let refused = refusal(send(new.clone()).await);
        assert_eq!(refused.code(), "outside-zone-party", "{new:?}");
        assert!(refused.hint().contains(hint), "{}", refused.hint());
    }
    assert_eq!(code(send(about("all")).await), "commander-only");
    assert_eq!(store.dump().await, before);
    send(message("ole", "Are you free?")).await.unwrap();
    send(about("zone/video")).await.unwrap();
    send(about("lena")).await.unwrap();
    // A task of the zone, a file of it, and the answer for it: each makes an agent one of the zone.
    store.db.assign_task(&zoe, &task, Some("ole".to_owned()), None).await.unwrap();
    send(about("ole")).await.unwrap();
    send(message("ole", "sitrep ole")).await.unwrap();
    store.db.claim_file(&vera, &store.project, &"src/audio/b.rs".parse().unwrap()).await.unwrap();
    send(about("vera")).await.unwrap();
    let mia = store.member("mia", &[]).await;
    store.inbox(&mia).await;
    assert_eq!(code(send(about("mia")).await), "outside-zone-party");
    let audio = NewZone { name: "audio".to_owned(), paths: vec!["src/audio/".to_owned()], owner: Some("mia".to_owned()), ..NewZone::default() };
    store.db.set_zone(&lena, &store.project, audio).await.unwrap();
    send(about("mia")).await.unwrap();
    // A commander reaches all.
    store.inbox(&lena).await;
    store.inbox(&ole).await;
    store.db.send(&lena, &store.project, about("mia")).await.unwrap();
    store.check_fold().await;
}

#[tokio::test]
async fn zone_lead_gives_no_orders_to_all_and_ends_no_session() {
    let Ranks { store, lena, zoe, ole } = ranks().await;
    let path = |path: &str| path.parse().unwrap();
    for file in ["src/video/a.rs", "src/audio/a.rs"] {
        store.db.claim_file(&ole, &store.project, &path(file)).await.unwrap();
    }
    let send = async |content: &str| store.db.send(&zoe, &store.project, message("all", content)).await;
    for (order, expected) in [("retreat", "commander-only"), ("moon_crash: now", "commander-only"), ("hot_zone video", "outside-zone")] {
        assert_eq!(code(send(order).await), expected, "{order}");
    }
    send("hot_zone audio").await.unwrap();
    store.db.debrief(&zoe, &store.project, NewDebrief { summary: "All of audio".to_owned() }).await.unwrap();
    assert_eq!(code(store.db.end_session(&zoe, &store.project).await), "commander-only");
    let take = async |file: &str| store.db.release_file(&zoe, &store.project, &path(file), Some("It is stuck")).await;
    assert_eq!(code(take("src/video/a.rs").await), "outside-zone");
    take("src/audio/a.rs").await.unwrap();
    store.inbox(&lena).await;
    store.db.send(&lena, &store.project, NewMessage { ..message("all", "rally") }).await.unwrap();
    store.db.end_session(&lena, &store.project).await.unwrap();
}
