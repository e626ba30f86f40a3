//! Claims: one holder for each path, agents in line, and what ends a claim.

use std::time::Duration;

use domain::board::status::{HeldBy, Status};
use domain::event::Event;
use domain::id::ProjectId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::{Evidence, EvidenceResult};
use domain::runs::failure::{EndClass, FailureClass};
use domain::team::role::Role;
use domain::time::Timestamp;
use domain::warroom::claim::queue::Decision;
use domain::warroom::claim::{Claim, ClaimEvent, ClaimMode, ClaimOutcome, ClaimPath, EditDecision, MAX_CLAIMS, ReleaseReason};
use domain::wire::ProjectPatch;

use crate::tests::external_agents::call;
use crate::tests::store::{Store, clean, code, probe};
use crate::warroom::claim::row::{load, near, scope};
use crate::{Caller, Result, now};

pub(super) fn path(given: &str) -> ClaimPath {
    given.parse().unwrap()
}

impl Store {
    pub(in crate::tests) async fn claim(&self, by: &Caller, given: &str) -> Result<ClaimOutcome> {
        self.db.claim_file(by, &self.project, &path(given)).await
    }

    async fn release(&self, by: &Caller, given: &str) -> Result<Claim> {
        self.db.release_file(by, &self.project, &path(given), None).await
    }

    /// The holders of claims, as `path: agent`, and the agents in line.
    async fn claimed(&self) -> (Vec<String>, Vec<String>) {
        let claims = self.db.claims(&self.project, None).await.unwrap();
        let held = claims.claims.iter().map(|claim| format!("{}: {}", claim.path, claim.agent)).collect();
        (held, claims.waits.iter().map(|wait| format!("{}: {}", wait.path, wait.agent)).collect())
    }
}

fn is_held(outcome: &ClaimOutcome) -> bool {
    matches!(outcome, ClaimOutcome::Held { .. })
}

/// The claim event among events, such as a release.
fn released(events: &[Event]) -> Vec<(String, String, ReleaseReason)> {
    let one = |event: &Event| match event {
        Event::Claim(ClaimEvent::Released { agent, path, reason }) => Some((agent.clone(), path.clone(), *reason)),
        _ => None,
    };
    events.iter().filter_map(one).collect()
}

#[tokio::test]
async fn one_agent_holds_a_file_and_the_others_get_it_in_their_order() {
    let store = Store::board().await;
    let (mara, ole, bea) = (store.member("mara", &[]).await, store.member("ole", &[]).await, store.guest("bea").await);
    assert!(is_held(&store.claim(&mara, "src/lib.rs").await.unwrap()));
    assert!(is_held(&store.claim(&mara, "./src//LIB.rs").await.unwrap()), "an alias of a path is the same path");
    for (who, ahead_of_it) in [(&ole, 0), (&bea, 1), (&ole, 0)] {
        let ClaimOutcome::Waiting { holder, ahead } = store.claim(who, "src/Lib.rs").await.unwrap() else { panic!("a second holder") };
        assert_eq!((holder.agent.as_str(), ahead), ("mara", ahead_of_it));
    }
    assert_eq!(store.claimed().await, (vec!["src/lib.rs: mara".to_owned()], vec!["src/Lib.rs: ole".to_owned(), "src/Lib.rs: bea".to_owned()]));
    store.release(&mara, "src/lib.rs").await.unwrap();
    assert_eq!(store.inbox_texts(&ole).await, ["[CLAIM] src/Lib.rs is yours now: mara released it."]);
    assert_eq!(store.inbox_texts(&bea).await, Vec::<String>::new(), "it is told when the path is its own");
    store.leaves(&ole, "ole").await;
    assert_eq!(store.inbox_texts(&bea).await, ["[CLAIM] src/Lib.rs is yours now: ole left."]);
    assert_eq!(store.claimed().await, (vec!["src/Lib.rs: bea".to_owned()], Vec::new()));
    store.check_fold().await;
}

#[tokio::test]
async fn folders_and_globs_collide_with_the_files_in_them() {
    let store = Store::board().await;
    let (mara, ole) = (store.member("mara", &[]).await, store.member("ole", &[]).await);
    assert!(is_held(&store.claim(&mara, "src/parser/").await.unwrap()));
    for given in ["src/parser/lexer.rs", "src/*/lexer.rs", "src", "**/*.rs"] {
        let outcome = store.claim(&ole, given).await;
        // Only a lead may claim what reaches into all folders.
        assert!(outcome.as_ref().is_ok_and(|outcome| !is_held(outcome)) || given.starts_with("**"), "{given}: {outcome:?}");
    }
    assert!(is_held(&store.claim(&ole, "src/main.rs").await.unwrap()));
}

#[tokio::test]
async fn bad_claims_are_refused_and_change_nothing() {
    let store = Store::board().await;
    let (mara, lead) = (store.member("mara", &[]).await, store.member("boss", &[Role::Lead]).await);
    store.claim(&lead, "docs/plan.md").await.unwrap();
    let before = store.dump().await;
    assert_eq!(code(store.claim(&mara, "**").await), "claim-whole-repository");
    assert_eq!(code(store.claim(&mara, "*/x.rs").await), "claim-whole-repository");
    assert_eq!(code(store.release(&mara, "src/none.rs").await), "claim-not-held");
    assert_eq!(code(store.release(&mara, "docs/plan.md").await), "claim-of-another");
    assert_eq!(code(store.db.release_file(&mara, &store.project, &path("docs/plan.md"), Some("I need it")).await), "claim-of-another");
    let other = ProjectId::new(99);
    assert_eq!(code(store.db.claim_file(&mara, &other, &path("a")).await), "not-found");
    assert_eq!(code(store.db.claims(&other, None).await), "not-found");
    assert_eq!(code(store.claim(&store.invite(), "a").await), "not-registered");
    assert_eq!(store.dump().await, before);
    assert!(is_held(&store.claim(&lead, "**/*.sql").await.unwrap()), "a lead may claim that much");
    for number in 0..MAX_CLAIMS {
        store.claim(&mara, &format!("many/{number}")).await.unwrap();
    }
    assert_eq!(code(store.claim(&mara, "many/more").await), "claim-limit");
}

#[tokio::test]
async fn lead_takes_a_claim_away_with_a_reason() {
    let store = Store::board().await;
    let (mara, ole, lead) = (store.member("mara", &[]).await, store.member("ole", &[]).await, store.member("boss", &[Role::Lead]).await);
    store.claim(&mara, "a.rs").await.unwrap();
    store.claim(&ole, "a.rs").await.unwrap();
    assert_eq!(code(store.db.release_file(&lead, &store.project, &path("a.rs"), Some("  ")).await), "claim-reason-needed");
    let seq = store.db.latest();
    store.db.release_file(&lead, &store.project, &path("A.rs"), Some("ole needs it for the release")).await.unwrap();
    assert_eq!(released(&store.since(seq).await), [("mara".to_owned(), "a.rs".to_owned(), ReleaseReason::Forced)]);
    assert_eq!(store.inbox_texts(&mara).await, ["[CLAIM] A.rs was taken from you by boss: ole needs it for the release"]);
    assert_eq!(store.inbox_texts(&ole).await, ["[CLAIM] a.rs is yours now: it was taken from mara."]);
    let own = store.db.release_file(&Caller::owner(), &store.project, &path("a.rs"), Some("I edit it myself")).await.unwrap();
    assert_eq!(own.agent, "ole", "a person may, too");
}

#[tokio::test]
async fn repeated_call_has_the_first_answer() {
    let store = Store::board().await;
    let mara = store.member("mara", &[]).await;
    let first = store.claim(&call(&mara, "1"), "a.rs").await.unwrap();
    store.release(&mara, "a.rs").await.unwrap();
    assert_eq!(store.claim(&call(&mara, "1"), "a.rs").await.unwrap(), first);
    assert_eq!(store.claimed().await.0, Vec::<String>::new());
}

#[tokio::test]
async fn claims_of_submitted_work_last_until_it_is_merged() {
    let store = Store::board().await;
    let (one, two) = (store.task("One").await, store.task("Two").await);
    let coder = store.agent(&one, AgentKind::Coder).await;
    let other = store.agent(&two, AgentKind::Coder).await;
    assert!(is_held(&store.claim(&coder.caller, "src/lib.rs").await.unwrap()));
    assert!(!is_held(&store.claim(&other.caller, "src/lib.rs").await.unwrap()));
    assert!(store.db.waits_for_claim(&two).await.unwrap() && !store.db.waits_for_claim(&one).await.unwrap());
    store.db.record_checkout(&one, "vr/TASK-001/work", "worktrees/TASK-001").await.unwrap();
    let evidence = EvidenceResult::Evidence(Evidence { head: store.head(&one).await, ..clean() });
    store.move_with(&coder.caller, &one, Status::InReview, None, evidence).await.unwrap();
    store.finish(&coder).await;
    assert_eq!(store.claimed().await.0, ["src/lib.rs: coder-TASK-001"]);
    let waiting = store.db.snapshot().await.unwrap().waiting_for_claims;
    assert_eq!(waiting.get(&two), Some(&(path("src/lib.rs"), "coder-TASK-001".to_owned())));
    store.review_and_merge(&one).await;
    assert_eq!(store.claimed().await, (vec!["src/lib.rs: coder-TASK-002".to_owned()], Vec::new()));
    assert!(store.db.snapshot().await.unwrap().waiting_for_claims.is_empty());
    let branch = store.project().await.integration_branch;
    let told = format!(
        "[CLAIM] src/lib.rs is yours now: the task of coder-TASK-001 is finished. Its work may be merged: run `git merge {branch}` before you edit the file."
    );
    assert_eq!(store.inbox_texts(&other.caller).await, [told]);
}

#[tokio::test]
async fn submitted_work_is_compared_with_the_claims() {
    let store = Store::board().await;
    let (one, two) = (store.task("One").await, store.task("Two").await);
    let coder = store.agent(&one, AgentKind::Coder).await;
    let other = store.agent(&two, AgentKind::Coder).await;
    store.claim(&other.caller, "src/lib.rs").await.unwrap();
    store.db.record_checkout(&one, "vr/TASK-001/work", "worktrees/TASK-001").await.unwrap();
    let changed_paths = ["README.md", "src/lib.rs", "a\nb"].map(str::to_owned).to_vec();
    let evidence = EvidenceResult::Evidence(Evidence { head: store.head(&one).await, changed_paths, ..clean() });
    store.move_with(&coder.caller, &one, Status::InReview, None, evidence).await.unwrap();
    assert_eq!(store.claimed().await.0, ["README.md: coder-TASK-001", "src/lib.rs: coder-TASK-002"], "what a command wrote is claimed");
    let comments = store.db.comments(&one).await.unwrap();
    assert!(comments[0].content.ends_with("\n\n- src/lib.rs (coder-TASK-002)"), "{}", comments[0].content);
    store.check_fold().await;
}

#[tokio::test]
async fn attempt_that_ends_without_submitted_work_keeps_no_claim() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    store.claim(&coder.caller, "a.rs").await.unwrap();
    store.end(&coder.run, EndClass::Parked, None).await;
    assert_eq!(store.claimed().await.0, ["a.rs: coder-TASK-001"], "it goes on later");
    let seq = store.db.latest();
    let coder = store.agent(&task, AgentKind::Coder).await;
    store.end(&coder.run, EndClass::Failed, Some(FailureClass::Crashed)).await;
    assert_eq!(released(&store.since(seq).await), [("coder-TASK-001".to_owned(), "a.rs".to_owned(), ReleaseReason::Stopped)]);
    let again = store.task("Two").await;
    let coder = store.agent(&again, AgentKind::Coder).await;
    store.claim(&coder.caller, "b.rs").await.unwrap();
    store.move_to(&Caller::owner(), &again, Status::Backlog).await.unwrap();
    assert_eq!(store.claimed().await.0, Vec::<String>::new(), "the task was put back");
    store.finish(&coder).await;
    let third = store.task("Three").await;
    let coder = store.agent(&third, AgentKind::Coder).await;
    store.claim(&coder.caller, "c.rs").await.unwrap();
    store.cancel(&third, "obsolete").await;
    assert_eq!(store.claimed().await.0, Vec::<String>::new(), "the task was cancelled");
}

#[tokio::test]
async fn deadlock_is_named_and_nobody_waits_in_it() {
    let store = Store::board().await;
    let (mara, ole) = (store.member("mara", &[]).await, store.member("ole", &[]).await);
    store.claim(&mara, "a").await.unwrap();
    store.claim(&ole, "b").await.unwrap();
    store.claim(&ole, "a").await.unwrap();
    let ClaimOutcome::Deadlock { holder, wanted } = store.claim(&mara, "b").await.unwrap() else { panic!("no deadlock") };
    assert_eq!((holder.agent.as_str(), wanted.agent.as_str(), wanted.path.as_str()), ("ole", "ole", "a"));
    assert_eq!(store.claimed().await.1, ["a: ole"]);
}

#[tokio::test]
async fn claims_of_an_agent_that_no_longer_answers_end() {
    let store = Store::board().await;
    let (mara, ole) = (store.member("mara", &[]).await, store.member("ole", &[]).await);
    store.db.record_heartbeat(&mara).await.unwrap();
    store.claim(&mara, "a.rs").await.unwrap();
    store.claim(&ole, "a.rs").await.unwrap();
    let expiring = async || -> Vec<(String, bool)> {
        let snapshot = store.db.snapshot().await.unwrap();
        snapshot.expiring_claims.into_iter().map(|(_, name, at): (_, _, Timestamp)| (name, at <= now())).collect()
    };
    assert_eq!(expiring().await, [("mara".to_owned(), false), ("ole".to_owned(), false)]);
    store.db.expire_claims(&store.project, "mara").await.unwrap();
    assert_eq!(store.claimed().await.0, ["a.rs: mara"], "it still answers");
    let connection = store.db.connect(&mara).unwrap();
    store.make_unresponsive("mara").await;
    assert!(!expiring().await.iter().any(|(name, _)| name == "mara"), "it is connected");
    drop(connection);
    store.db.presence.reset(&store.project, "mara");
    store.backdate("UPDATE claims SET claimed_at = $1 WHERE agent_name = $2", Duration::from_secs(900), "mara").await;
    assert!(expiring().await.contains(&("mara".to_owned(), true)));
    store.db.expire_claims(&store.project, "mara").await.unwrap();
    assert_eq!(store.claimed().await.0, ["a.rs: ole"]);
    assert_eq!(store.inbox_texts(&ole).await, ["[CLAIM] a.rs is yours now: mara no longer answers."]);
}

#[tokio::test]
async fn claims_count_in_all_projects_on_a_repository() {
    let store = Store::board().await;
    let mara = store.member("mara", &[]).await;
    store.claim(&mara, "a.rs").await.unwrap();
    let new = domain::wire::NewProject { title: "Other".to_owned(), ..Default::default() };
    let other = store.db.create_project(&Caller::owner(), new, probe()).await.unwrap().id;
    let outcome = store.db.claim_file(&Caller::owner(), &other, &path("a.rs")).await.unwrap();
    assert!(!is_held(&outcome), "{outcome:?}");
    assert_eq!(store.db.claims(&other, None).await.unwrap().claims.len(), 1);
    assert_eq!(store.db.claims(&other, Some("nobody")).await.unwrap().claims.len(), 0);
    store.db.archive_project(&Caller::owner(), &store.project).await.unwrap();
    let claims = store.db.claims(&other, None).await.unwrap();
    assert_eq!((claims.claims[0].agent.as_str(), claims.waits.len()), ("human", 0), "an archived project holds nothing");
}

#[tokio::test]
async fn project_decides_whether_an_edit_is_refused_or_warned_about() {
    let store = Store::board().await;
    let (one, two) = (store.task("One").await, store.task("Two").await);
    let (coder, other) = (store.agent(&one, AgentKind::Coder).await, store.agent(&two, AgentKind::Coder).await);
    let edit = async |by: &Caller| store.db.claim_for_edit(by, &store.project, &path("a.rs")).await.unwrap();
    assert_eq!(edit(&coder.caller).await, EditDecision::Allowed);
    assert!(matches!(edit(&other.caller).await, EditDecision::Refused { .. }));
    let patch = ProjectPatch { claim_mode: Some(ClaimMode::Advisory), ..ProjectPatch::default() };
    let edited = store.db.edit_project(&Caller::owner(), &store.project, patch, None).await.unwrap();
    assert_eq!(edited.claim_mode, ClaimMode::Advisory);
    assert!(matches!(edit(&other.caller).await, EditDecision::Warned { .. }));
    store.db.stop_task(&Caller::owner(), &one).await.unwrap();
    assert_eq!(store.card(&one).await.held_by, Some(HeldBy::Stop));
    store.end(&coder.run, EndClass::Stopped, None).await;
    assert_eq!(store.claimed().await.0, ["a.rs: coder-TASK-002"], "a stopped task holds nothing");
}

/// A request reads only the claims that could concern it, and the decision is that of all claims.
#[tokio::test]
async fn claims_near_a_path_decide_as_all_claims_do() {
    let store = Store::board().await;
    let mara = store.member("mara", &[]).await;
    for held in ["src/net/", "src/*.md", "docs", "tests/**/data", "README.md", "src2/lib.rs", "a/b/c.rs", "a-b/x", "a0/x", "p/q?r/"] {
        store.claim(&mara, held).await.unwrap();
    }
    let mut connection = store.db.readers.acquire().await.unwrap();
    let git_dir = scope(&mut connection, &store.project).await.unwrap().git_dir;
    let all = load(&mut connection, &git_dir).await.unwrap();
    let (mut free, mut most) = (0, 0);
    for asked in [
        "src",
        "src/",
        "src/net",
        "src/net/tcp.rs",
        "src/NET/a/b.rs",
        "src/a.md",
        "src/a.rs",
        "docs/",
        "docs/a/b.md",
        "tests/x/y/data",
        "tests/data/x",
        "readme.md",
        "README.md/x",
        "src2",
        "src2/",
        "src2/lib.rs/x",
        "a",
        "a/",
        "a/b",
        "a/b/c.rs",
        "a/b/d.rs",
        "a-b/",
        "a-b/y",
        "a0",
        "p",
        "p/qxr",
        "p/qxr/s",
        "p/qr",
        "*.md",
        "src/ne?/x.rs",
        "z/**/x",
    ] {
        let asked = path(asked);
        let near = near(&mut connection, &git_dir, &asked).await.unwrap();
        most = most.max(if asked.literal().is_some() { near.claims.len() } else { 0 });
        for agent in ["mara", "ole"] {
            assert_eq!(near.decide(&store.project, agent, &asked), all.decide(&store.project, agent, &asked), "{asked} for {agent}");
        }
        free += usize::from(all.decide(&store.project, "ole", &asked) == Decision::Free);
    }
    assert!(free > 5 && most < all.claims.len(), "{free} free, {most} read");
}
