//! The terms of tokens: expiry, audiences, permissions, refreshing, revoking and the list.

use std::time::Duration;

use domain::audit::AuditKind;
use domain::context::metadata::Metadata;
use domain::context::session::visibility::Visibility;
use domain::context::session::{ContextSessionId, NewSessionMessage};
use domain::id::ProjectId;
use domain::runs::agent_kind::AgentKind;
use domain::team::agent::Registration;
use domain::team::person::{NewPerson, PersonRole};
use domain::team::token::{Permissions, Token, TokenAudience, TokenKind, TokenName, TokenReach, TokenTerms};
use domain::wire::{NewPersonToken, TokenPatch};

use crate::testing::set_time;
use crate::tests::external_agents::named;
use crate::tests::store::{Store, code};
use crate::{Act, AuditQuery, Caller, RetentionLimits, SessionMessageQuery, SessionSearchQuery, new_token, now, token_name};

const READ: TokenTerms = TokenTerms { permissions: Permissions::READ, reach: TokenReach::Project, expires_in: None };
const ADMIN: TokenTerms = TokenTerms { permissions: Permissions::ALL, reach: TokenReach::Project, expires_in: None };

fn name(token: &str) -> TokenName {
    token_name(token).parse().unwrap()
}

fn message(content: &str, visibility: Visibility) -> NewSessionMessage {
    NewSessionMessage { content: content.to_owned(), visibility: Some(visibility), metadata: Metadata::default(), parent_message_id: None }
}

impl Store {
    async fn token(&self, who: &str, terms: TokenTerms) -> String {
        self.db.create_agent_token(&Caller::owner(), &self.project, named(who, &[]), terms).await.unwrap()
    }

    async fn holder(&self, token: &str) -> Caller {
        self.db.identify(token, TokenAudience::Mcp).await.unwrap().unwrap().caller
    }

    async fn listed(&self) -> Vec<Token> {
        self.db.tokens(&Caller::owner(), 0).await.unwrap().0
    }

    async fn session(&self) -> ContextSessionId {
        self.db.own_context_session(&Caller::owner(), &self.project).await.unwrap().id
    }
}

#[tokio::test]
async fn expired_token_is_refused_at_once_also_from_the_cache() {
    let store = Store::board().await;
    let start = now();
    set_time(start);
    let token = store.token("mara", TokenTerms { expires_in: Some(60), ..TokenTerms::default() }).await;
    let holder = store.db.identify(&token, TokenAudience::Mcp).await.unwrap().unwrap();
    assert_eq!(holder.ends_at, Some(start.after(Duration::from_secs(60))));
    set_time(start.after(Duration::from_millis(59_999)));
    assert!(store.db.identify(&token, TokenAudience::Mcp).await.is_ok());
    set_time(start.after(Duration::from_secs(60)));
    assert_eq!(code(store.db.identify(&token, TokenAudience::Mcp).await), "token-expired");
    assert_eq!(store.db.caller(&token).await.unwrap(), None);
    assert_eq!(code(store.db.refresh_token(&holder.caller, &token).await), "unauthorized", "an end is final");
    let stays = RetentionLimits { keep: Duration::from_secs(60), max_events: 10_000 };
    assert_eq!(store.db.prune(stays).await.unwrap().tokens, 0, "it is refused with the reason for a week");
    set_time(start.after(Duration::from_secs(8 * 24 * 60 * 60)));
    assert_eq!(store.db.prune(stays).await.unwrap().tokens, 1);
    store.db.caller_cache.clear();
    assert_eq!(store.db.identify(&token, TokenAudience::Mcp).await.unwrap(), None);
}

#[tokio::test]
async fn lifetime_out_of_range_creates_nothing() {
    let store = Store::board().await;
    let (seq, owner) = (store.db.latest(), Caller::owner());
    for seconds in [0, u64::MAX, 1_000_000_000_000_000_000] {
        let terms = TokenTerms { expires_in: Some(seconds), ..TokenTerms::default() };
        assert_eq!(code(store.db.create_agent_token(&owner, &store.project, named("mara", &[]), terms).await), "invalid");
    }
    assert_eq!((store.db.latest(), store.listed().await), (seq, Vec::new()));
}

#[tokio::test]
async fn stream_is_woken_when_its_token_may_have_ended() {
    let store = Store::board().await;
    let mut revocations = store.db.token_revocations();
    let soon = now().after(Duration::from_millis(5));
    assert!(store.db.may_have_ended(&mut revocations, Some(soon)).await);
    assert!(now() >= soon);
    let token = store.token("mara", TokenTerms::default()).await;
    assert!(store.db.may_have_ended(&mut revocations, None).await, "a token was created, which revokes others of its name");
    let (owner, name) = (Caller::owner(), name(&token));
    let (woken, revoked) = tokio::join!(store.db.may_have_ended(&mut revocations, None), store.db.revoke_token(&owner, &name));
    revoked.unwrap();
    assert!(woken);
}

#[tokio::test]
async fn each_kind_is_for_its_interfaces() {
    let store = Store::board().await;
    let owner = Caller::owner();
    let human = new_token();
    store.db.set_owner("owner", &human).await.unwrap();
    let invite = store.db.create_invite_token(&owner, &store.project).await.unwrap();
    let task = store.task("One").await;
    let run = store.agent(&task, AgentKind::Coder).await;
    let accepted = async |token: &str| {
        let at = async |interface| store.db.identify(token, interface).await.map_or_else(|error| error.to_string(), |_| "accepted".to_owned());
        (at(TokenAudience::Mcp).await, at(TokenAudience::Api).await)
    };
    let ok = "accepted".to_owned();
    let wrong = |at: &str| format!("this token is not for {at}");
    assert_eq!(accepted(&human).await, (ok.clone(), ok.clone()));
    for token in [&invite, &run.token, &store.token("mara", ADMIN).await] {
        assert_eq!(accepted(token).await, (ok.clone(), wrong("the HTTP interface")));
    }
    let ann = store.db.add_person(&owner, NewPerson { name: "ann".to_owned(), role: Some(PersonRole::Member) }).await.unwrap().id;
    for (audience, expected) in [
        (TokenAudience::Mcp, (ok.clone(), wrong("the HTTP interface"))),
        (TokenAudience::Api, (wrong("the tools at /mcp"), ok.clone())),
        (TokenAudience::Both, (ok.clone(), ok.clone())),
    ] {
        let given = NewPersonToken { audience: Some(audience), expires_in: Some(60) };
        let token = store.db.create_person_token(&owner, ann, given).await.unwrap();
        assert_eq!(accepted(&token).await, expected);
        assert!(store.db.caller(&token).await.unwrap().is_some());
    }
}

#[tokio::test]
async fn agent_that_may_only_read_writes_nothing() {
    let store = Store::board().await;
    let mara = store.holder(&store.token("mara", READ).await).await;
    let session = store.session().await;
    let seq = store.db.latest();
    assert_eq!(code(store.db.add_session_message(&mara, &session, message("x", Visibility::Public)).await), "not-permitted");
    assert_eq!(code(store.db.check_inbox(&mara, &store.project, None).await), "not-permitted");
    assert_eq!(code(store.db.register(&mara, &store.project, named("mara", &[]), None).await), "not-permitted");
    assert_eq!(code(store.send(&mara, "all", "Hello").await), "not-permitted");
    assert_eq!(mara.require_may_write("calling send").unwrap_err().code(), "not-permitted");
    assert_eq!(store.db.latest(), seq);
    store.db.session_messages(&mara, &session, &SessionMessageQuery::default()).await.unwrap();
}

#[tokio::test]
async fn admin_reads_what_is_for_admins_and_that_is_recorded() {
    let store = Store::board().await;
    let (mara, ole) = (store.holder(&store.token("mara", ADMIN).await).await, store.holder(&store.token("ole", TokenTerms::default()).await).await);
    let session = store.session().await;
    let add = async |caller: &Caller, visibility, content: &str| store.db.add_session_message(caller, &session, message(content, visibility)).await;
    assert_eq!(code(add(&ole, Visibility::AdminOnly, "no").await), "admin-only");
    let secret = add(&Caller::owner(), Visibility::AdminOnly, "the needle").await.unwrap().id;
    add(&ole, Visibility::Private, "oles own").await.unwrap();
    add(&ole, Visibility::AgentOnly, "oles kind").await.unwrap();
    let query = |visibility| SessionMessageQuery { visibility: Some(visibility), ..SessionMessageQuery::default() };
    let read = async |caller: &Caller, visibility| store.db.session_messages(caller, &session, &query(visibility)).await.unwrap();
    assert_eq!(read(&ole, Visibility::AdminOnly).await.messages, []);
    assert!(read(&mara, Visibility::Private).await.messages.is_empty(), "only the owner reads what is private to others");
    assert!(read(&mara, Visibility::AgentOnly).await.messages.is_empty());
    let act = || Act::by_token("x", "get_messages");
    assert_eq!(act().run(read(&mara, Visibility::AdminOnly)).await.messages.len(), 1);
    let search = SessionSearchQuery { text: "needle".to_owned(), threshold: None, limit: None, metadata: false, visibility: None };
    assert_eq!(act().run(store.db.search_session(&mara, &session, &search)).await.unwrap().len(), 1);
    assert_eq!(act().run(store.db.session_messages_by_id(&mara, &session, &[secret])).await.unwrap().len(), 1);
    assert_eq!(act().run(store.db.session_messages_of_sender(&mara, &session, "human", None)).await.unwrap().len(), 1);
    let ever = (now().before(Duration::from_secs(60)), now());
    let between = act().run(store.db.session_messages_between(&mara, &session, ever, None)).await.unwrap();
    assert_eq!(between.len(), 1);
    add(&mara, Visibility::AdminOnly, "maras own").await.unwrap();
    let reads = AuditQuery { kind: Some(AuditKind::Read), limit: 10, ..AuditQuery::default() };
    let rows = store.db.audit(&Caller::owner(), &reads).await.unwrap().0;
    let row = rows.first().unwrap();
    assert_eq!((row.actor.as_ref().unwrap().to_string(), row.subject.as_deref()), ("mara".to_owned(), Some(session.as_str())));
    assert_eq!(rows.iter().map(|row| row.count).sum::<u32>(), 5);
    assert_eq!(code(store.db.tokens(&mara, 0).await), "human-only", "it is no person");
}

#[tokio::test]
async fn refreshed_token_has_the_same_terms_and_its_predecessor_ends_soon() {
    let store = Store::board().await;
    let start = now();
    set_time(start);
    let first = store.token("mara", TokenTerms { permissions: Permissions::READ, reach: TokenReach::Project, expires_in: Some(3_600) }).await;
    let before = store.db.identify(&first, TokenAudience::Mcp).await.unwrap().unwrap();
    set_time(start.after(Duration::from_secs(600)));
    let fresh = store.db.refresh_token(&before.caller, &first).await.unwrap();
    assert_eq!((fresh.permissions, fresh.expires_at), (Permissions::READ, before.ends_at), "never wider, never longer");
    let second = store.db.identify(&fresh.token, TokenAudience::Mcp).await.unwrap().unwrap();
    assert_eq!((&second.caller, second.ends_at), (&before.caller, before.ends_at));
    assert_eq!(store.db.identify(&first, TokenAudience::Mcp).await.unwrap().unwrap().ends_at, Some(fresh.retires_at));
    // The answer was lost, so the agent asks again.
    set_time(start.after(Duration::from_secs(630)));
    let again = store.db.refresh_token(&before.caller, &first).await.unwrap();
    assert_eq!(again.retires_at, fresh.retires_at, "asking again gives no time");
    assert_eq!(store.db.caller(&fresh.token).await.unwrap(), None, "the lost one is revoked");
    set_time(fresh.retires_at);
    assert_eq!(code(store.db.identify(&first, TokenAudience::Mcp).await), "token-expired");
    assert_eq!(code(store.db.refresh_token(&before.caller, &first).await), "unauthorized");
    assert_eq!(store.holder(&again.token).await, before.caller);
    for other in [Caller::owner(), store.invite(), Caller::Runner] {
        assert_eq!(code(store.db.refresh_token(&other, &again.token).await), "not-refreshable");
    }
    let ole = store.holder(&store.token("ole", TokenTerms::default()).await).await;
    assert_eq!(code(store.db.refresh_token(&ole, &again.token).await), "unauthorized", "not with another's token");
    store.db.deregister(&before.caller, &store.project, "mara").await.unwrap_err();
    store.db.deregister(&Caller::owner(), &store.project, "mara").await.unwrap();
    assert_eq!(code(store.db.refresh_token(&before.caller, &again.token).await), "not-registered");
}

#[tokio::test]
async fn guest_gets_what_the_invite_permits_and_keeps_its_own_terms() {
    let store = Store::board().await;
    let start = now();
    set_time(start);
    let invite = store.db.create_invite_token(&Caller::owner(), &store.project).await.unwrap();
    let patch = TokenPatch { permissions: Some(Permissions::READ), expires_in: Some(60) };
    let changed = store.db.change_token(&Caller::owner(), &name(&invite), patch).await.unwrap();
    assert_eq!((changed.kind, changed.permissions, changed.holder), (TokenKind::Invite, Permissions::READ, None));
    let guest = store.holder(&invite).await;
    let ida = Registration { name: "ida".to_owned(), ..Registration::default() };
    let own = store.db.register(&guest, &store.project, ida.clone(), None).await.unwrap().token.unwrap();
    let holder = store.db.identify(&own, TokenAudience::Mcp).await.unwrap().unwrap();
    let Caller::Agent(agent) = &holder.caller else { panic!("an agent's token names it") };
    assert_eq!((agent.permissions, holder.ends_at), (Permissions::READ, changed.expires_at));
    let wider = TokenPatch { permissions: Some(Permissions::default()), expires_in: None };
    store.db.change_token(&Caller::owner(), &name(&invite), wider).await.unwrap();
    let resumed = store.db.register(&store.holder(&invite).await, &store.project, ida, Some(&own)).await.unwrap().token.unwrap();
    let Caller::Agent(agent) = store.holder(&resumed).await else { panic!("an agent's token names it") };
    assert_eq!(agent.permissions, Permissions::READ, "registering again widens nothing");
}

#[tokio::test]
async fn owner_lists_changes_and_revokes_tokens_by_name() {
    let store = Store::board().await;
    let (owner, human) = (Caller::owner(), new_token());
    store.db.set_owner("owner", &human).await.unwrap();
    let task = store.task("One").await;
    let run = store.agent(&task, AgentKind::Coder).await;
    let token = store.token("mara", TokenTerms::default()).await;
    store.db.record_heartbeat(&store.holder(&token).await).await.unwrap();
    let invite = store.db.create_invite_token(&owner, &store.project).await.unwrap();
    let tokens = store.listed().await;
    let of = |wanted: &str| tokens.iter().find(|token| token.name == name(wanted)).unwrap();
    assert_eq!(tokens.len(), 4);
    assert_eq!((of(&run.token).kind, of(&run.token).holder.as_deref()), (TokenKind::Run, Some("coder-TASK-001")));
    assert_eq!((of(&run.token).project_id.as_ref(), tokens[0].kind), (Some(&store.project), TokenKind::Run));
    assert_eq!((of(&human).holder.as_deref(), of(&human).permissions), (Some("human"), Permissions::ALL));
    assert_eq!((of(&invite).holder.as_deref(), of(&token).holder.as_deref()), (None, Some("mara")));
    assert!(of(&token).last_used_at.is_some() && of(&invite).last_used_at.is_none());
    for (held, refusal) in [(&human, "token-of-owner"), (&run.token, "token-of-run")] {
        assert_eq!(code(store.db.revoke_token(&owner, &name(held)).await), refusal);
        assert_eq!(code(store.db.change_token(&owner, &name(held), TokenPatch { expires_in: Some(1), ..TokenPatch::default() }).await), refusal);
    }
    let admin = TokenPatch { permissions: Some(Permissions::ALL), expires_in: None };
    store.db.change_token(&owner, &name(&token), admin.clone()).await.unwrap();
    let Caller::Agent(agent) = store.holder(&token).await else { panic!("an agent's token names it") };
    assert_eq!(agent.permissions, Permissions::ALL, "at once, also from the cache");
    let seq = store.db.latest();
    assert_eq!(store.db.change_token(&owner, &name(&token), TokenPatch::default()).await.unwrap().permissions, Permissions::ALL);
    assert_eq!(store.db.latest(), seq);
    for (token, refusal) in [("0123456789ab", "not-found"), (name(&token).as_str(), "human-only")] {
        let by = if refusal == "not-found" { owner.clone() } else { run.caller.clone() };
        assert_eq!(code(store.db.revoke_token(&by, &token.parse().unwrap()).await), refusal);
        assert_eq!(code(store.db.change_token(&by, &token.parse().unwrap(), admin.clone()).await), refusal);
    }
    store.db.revoke_token(&owner, &name(&token)).await.unwrap();
    store.db.revoke_token(&owner, &name(&invite)).await.unwrap();
    assert_eq!((store.db.caller(&token).await.unwrap(), store.db.caller(&invite).await.unwrap()), (None, None));
    assert_eq!(store.kinds_since(seq).await, ["token_revoked", "token_revoked"]);
    let ann = store.db.add_person(&owner, NewPerson { name: "ann".to_owned(), role: Some(PersonRole::Member) }).await.unwrap().id;
    let theirs = store.db.create_person_token(&owner, ann, NewPersonToken::default()).await.unwrap();
    assert_eq!(code(store.db.change_token(&owner, &name(&theirs), admin).await), "token-of-person");
    store.db.revoke_token(&owner, &name(&theirs)).await.unwrap();
    assert_eq!(store.db.caller(&theirs).await.unwrap(), None);
    store.check_fold().await;
}

#[tokio::test]
async fn list_is_read_in_pages() {
    let store = Store::board().await;
    for number in 0..201 {
        store.token(&format!("agent-{number}"), TokenTerms::default()).await;
    }
    let (first, next) = store.db.tokens(&Caller::owner(), 0).await.unwrap();
    assert_eq!((first.len(), next), (200, Some(200)));
    let (rest, next) = store.db.tokens(&Caller::owner(), 200).await.unwrap();
    assert_eq!((rest.len(), next), (1, None));
    assert!(!first.iter().any(|token| token.name == rest[0].name));
    assert_eq!(rest[0].project_id, Some(ProjectId::new(1)));
}
