//! Leaks: every path on which messages are read shows each caller exactly what it may read, over 100,000 combinations.

use std::collections::BTreeSet;

use domain::context::session::ContextSessionId;
use domain::context::session::visibility::Visibility;
use domain::id::ProjectId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::failure::EndClass;
use domain::team::person::PersonRole;
use domain::team::token::TokenTerms;
use domain::wire::NewProject;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::session::{finding, person, purpose};
use crate::tests::external_agents::named;
use crate::tests::store::{Store, probe};
use crate::{Caller, SessionMessageQuery, SessionSearchQuery};

const MESSAGES: usize = 900;

/// A caller with what the rules say about it, in other words than the code.
struct Someone {
    caller: Caller,
    /// `None` for persons, who read all projects.
    project: Option<ProjectId>,
    /// The agent that it is, whichever run.
    agent: &'static str,
    is_owner: bool,
}

struct Written {
    id: i64,
    session: usize,
    sender: usize,
    visibility: Visibility,
}

async fn everyone(store: &Store, other: &ProjectId) -> Vec<Someone> {
    let (here, owner) = (Some(store.project.clone()), Caller::owner());
    let task = store.task("Page").await;
    let first = store.agent(&task, AgentKind::Coder).await;
    store.end(&first.run, EndClass::Stopped, None).await;
    store.db.start_task(&owner, &task).await.unwrap();
    let second = store.agent(&task, AgentKind::Coder).await;
    let style = store.task("Style").await;
    let elsewhere = store.agent(&style, AgentKind::Coder).await;
    let judged = store.in_review("Words").await;
    let reviewer = store.agent_at(&judged, AgentKind::Reviewer, "head").await;
    let token = store.db.create_agent_token(&owner, other, named("mara", &[]), TokenTerms::default()).await.unwrap();
    let namesake = store.db.caller(&token).await.unwrap().unwrap();
    let someone = |caller: Caller, project: Option<ProjectId>, agent| Someone { caller, project, agent, is_owner: false };
    vec![
        Someone { is_owner: true, ..someone(owner, None, "owner") },
        someone(person(2, "bea", PersonRole::Member), None, "bea"),
        someone(person(3, "vera", PersonRole::Viewer), None, "vera"),
        someone(first.caller, here.clone(), "coder of Page"),
        someone(second.caller, here.clone(), "coder of Page"),
        someone(elsewhere.caller, here.clone(), "coder of Style"),
        someone(reviewer.caller, here.clone(), "reviewer"),
        someone(store.member("mara", &[]).await, here.clone(), "mara"),
        someone(store.guest("ole").await, here.clone(), "ole"),
        someone(namesake, Some(other.clone()), "mara elsewhere"),
    ]
}

/// Whether `reader` may read the message, by the rules of the issue.
fn may_read(everyone: &[Someone], sessions: &[(ContextSessionId, Option<ProjectId>)], reader: usize, message: &Written) -> bool {
    let (me, sender) = (&everyone[reader], &everyone[message.sender]);
    let reads_session = me.project.is_none() || me.project == sessions[message.session].1;
    reads_session
        && match message.visibility {
            Visibility::Public => true,
            Visibility::Private => reader == message.sender,
            Visibility::AgentOnly => me.agent == sender.agent,
            Visibility::AdminOnly => me.is_owner,
        }
}

#[tokio::test]
async fn no_path_shows_a_message_to_anyone_else() {
    let store = Store::board().await;
    let (db, owner) = (&store.db, Caller::owner());
    let new = NewProject { title: "Other".to_owned(), ..NewProject::default() };
    let other = db.create_project(&owner, new, probe()).await.unwrap().id;
    let everyone = everyone(&store, &other).await;
    let mut sessions = vec![(store.blackboard().await.id, Some(store.project.clone()))];
    sessions.push((db.create_context_session(&owner, Some(&store.project), purpose("Shared")).await.unwrap().id, Some(store.project.clone())));
    sessions.push((db.own_context_session(&owner, &other).await.unwrap().id, Some(other)));
    sessions.push((db.create_context_session(&owner, None, purpose("Standalone")).await.unwrap().id, None));

    let mut dice = StdRng::seed_from_u64(7);
    let (mut written, mut tries) = (Vec::new(), 0);
    while written.len() < MESSAGES {
        tries += 1;
        let (session, sender) = (dice.random_range(0..sessions.len()), dice.random_range(0..everyone.len()));
        let visibility = Visibility::ALL[dice.random_range(0..4)];
        let parent_message_id = if written.is_empty() || dice.random() { None } else { Some(written[dice.random_range(0..written.len())]) };
        let parent = parent_message_id.map(|parent: (i64, usize, usize, Visibility)| parent.0);
        let new = domain::context::session::NewSessionMessage { parent_message_id: parent, ..finding(&format!("finding {tries}"), visibility) };
        let added = db.add_session_message(&everyone[sender].caller, &sessions[session].0, new).await;
        let is_answer_allowed = parent_message_id.is_none_or(|(id, of, by, visibility)| {
            of == session && may_read(&everyone, &sessions, sender, &Written { id, session: of, sender: by, visibility })
        });
        if let Ok(message) = added {
            assert!(is_answer_allowed, "an answer showed that a hidden message exists");
            written.push((message.id, session, sender, visibility));
        }
    }
    let written: Vec<Written> = written.into_iter().map(|(id, session, sender, visibility)| Written { id, session, sender, visibility }).collect();

    let mut cases = 0;
    for (reader, me) in everyone.iter().enumerate() {
        for (number, (session, project)) in sessions.iter().enumerate() {
            let here: Vec<&Written> = written.iter().filter(|message| message.session == number).collect();
            if me.project.is_some() && me.project != *project {
                let refused = db.session_messages(&me.caller, session, &SessionMessageQuery::default()).await.unwrap_err().to_string();
                assert_eq!(refused, format!("session {session} does not exist"));
                assert!(db.context_session(&me.caller, session).await.is_err());
                cases += 2 * here.len();
                continue;
            }
            let mut check = |path: &str, found: BTreeSet<i64>, is_asked: &dyn Fn(&Written) -> bool, sees_all: bool| {
                for message in &here {
                    let expected = is_asked(message) && (sees_all || may_read(&everyone, &sessions, reader, message));
                    assert_eq!(found.contains(&message.id), expected, "{} {path} #{} {}", me.agent, message.id, message.visibility);
                    cases += 1;
                }
            };
            let ids = |messages: Vec<domain::context::session::SessionMessage>| messages.iter().map(|message| message.id).collect::<BTreeSet<_>>();
            for visibility in [None, Some(Visibility::Public), Some(Visibility::Private), Some(Visibility::AgentOnly), Some(Visibility::AdminOnly)] {
                let query = SessionMessageQuery { visibility, limit: Some(1_000), ..SessionMessageQuery::default() };
                let found = db.session_messages(&me.caller, session, &query).await.unwrap();
                assert_eq!(found.total_count, found.messages.len() as u64, "the count shows no hidden message");
                let sees_all = me.is_owner && visibility.is_some();
                check("get", ids(found.messages), &|message| visibility.is_none_or(|wanted| wanted == message.visibility), sees_all);
            }
            let (mut paged, mut before) = (BTreeSet::new(), None);
            loop {
                let query = SessionMessageQuery { before, limit: Some(17), ..SessionMessageQuery::default() };
                let page = db.session_messages(&me.caller, session, &query).await.unwrap();
                before = page.messages.last().map(|message| message.id);
                paged.extend(page.messages.iter().map(|message| message.id));
                if !page.has_more {
                    break;
                }
            }
            check("cursor", paged, &|_| true, false);
            for (sender, by) in everyone.iter().enumerate() {
                let name = by.caller.name().unwrap_or_default();
                let mine: Vec<&&Written> = here.iter().filter(|message| everyone[message.sender].caller.name().as_ref() == Some(&name)).collect();
                assert!(mine.len() <= 100, "{sender}");
                let found = db.session_messages_of_sender(&me.caller, session, &name, Some(100)).await.unwrap();
                check("sender", ids(found), &|message| everyone[message.sender].caller.name().as_ref() == Some(&name), false);
            }
            let query = SessionSearchQuery { text: "findng".to_owned(), threshold: Some(0.0), limit: Some(100), metadata: true, visibility: None };
            let hits = db.search_session(&me.caller, session, &query).await.unwrap();
            for hit in &hits {
                let message = here.iter().find(|message| message.id == hit.message.id).unwrap();
                assert!(may_read(&everyone, &sessions, reader, message), "{} search #{}", me.agent, message.id);
            }
            let readable = here.iter().filter(|message| may_read(&everyone, &sessions, reader, message)).count();
            assert_eq!(hits.len(), readable.min(100), "hidden messages take no place");
            let period = (crate::now().before(std::time::Duration::from_secs(3_600)), crate::now());
            let found = db.session_messages_between(&me.caller, session, period, Some(200)).await.unwrap();
            if found.len() < 200 {
                check("period", ids(found), &|_| true, false);
            }
        }
    }
    assert!(cases > 100_000, "{cases} cases");
}
