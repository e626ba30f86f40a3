//! Which listeners an event notifies.

use domain::actor::Actor;
use domain::context::memory::{MemoryEvent, MemoryOwner, MemoryScope};
use domain::context::session::visibility::{Audience, Visibility};
use domain::id::{RunId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::team::message::MessageEvent;
use domain::team::person::PersonRole;
use domain::time::Timestamp;

use super::*;

fn event(project: u64, event: Event) -> Envelope {
    Envelope {
        seq: 1,
        at: Timestamp::from_milliseconds(0),
        project_id: Some(ProjectId::new(project)),
        task_id: None,
        run_id: None,
        actor: Actor::Owner,
        event,
        card: None,
        project: None,
    }
}

fn sent(from: &str, to: &str) -> Envelope {
    event(1, MessageEvent::Sent { message: 1, from: from.to_owned(), to: to.to_owned(), is_cc: false }.into())
}

fn agent(project: u64, name: &str) -> Caller {
    Caller::Agent(db::AgentCaller {
        project_id: ProjectId::new(project),
        name: name.to_owned(),
        permissions: domain::team::token::Permissions::default(),
        call_id: None,
    })
}

#[test]
fn inbox_changes_only_for_its_owner() {
    let notifies = |name: &str, event: &Envelope| changes_inbox(event, &ProjectId::new(1), name);
    assert!(notifies("mara", &sent("otto", "mara")));
    assert!(!notifies("otto", &sent("otto", "mara")));
    assert!(notifies("mara", &sent("otto", EVERYONE)) && notifies("lena", &sent("otto", EVERYONE)));
    assert!(!notifies("otto", &sent("otto", EVERYONE)), "a sender is not notified of its own broadcast");
    let read = event(1, MessageEvent::InboxDelivered { agent: "mara".to_owned(), messages: 2 }.into());
    assert!(notifies("mara", &read) && !notifies("otto", &read));
    assert!(!changes_inbox(&sent("otto", "mara"), &ProjectId::new(2), "mara"), "the same name in another project is another agent");
}

#[test]
fn tools_change_for_the_holder_of_a_file_that_another_waits_for() {
    let queued = event(2, ClaimEvent::Queued { agent: "mara".to_owned(), path: "a.rs".to_owned(), holder: "otto".to_owned() }.into());
    assert!(changes_tools(&queued, "otto") && !changes_tools(&queued, "mara"));
    assert!(!changes_tools(&sent("otto", "mara"), "mara"), "the inbox changed");
    let push = Push::default();
    let (mara, otto) = (push.listener(&agent(2, "mara")), push.listener(&agent(1, "otto")));
    for listener in [&mara, &otto] {
        listener.apply_events(std::slice::from_ref(&queued), &BTreeMap::new());
    }
    assert!(otto.state().changes.tools && !mara.state().changes.tools);
}

#[tokio::test]
async fn unforwarded_change_is_kept_once() {
    let push = Push::default();
    let (mara, other) = (push.listener(&agent(1, "mara")), push.listener(&agent(2, "mara")));
    mara.add_resource(Uri::Inbox).unwrap();
    mara.add_resource(Uri::Task(TaskId::new(7))).unwrap();
    for _ in 0..3 {
        mara.apply_events(&[sent("otto", "mara")], &BTreeMap::new());
        other.apply_events(&[sent("otto", "mara")], &BTreeMap::new());
    }
    assert_eq!(mara.changes().await, PendingChanges { inbox: true, tools: false, resources: BTreeSet::from([Uri::Inbox]) });
    mara.apply_events(&[sent("mara", EVERYONE)], &BTreeMap::new());
    mara.notify(|changes| changes.tools = true);
    assert_eq!(mara.changes().await, PendingChanges { tools: true, ..PendingChanges::default() });
    other.notify(|changes| changes.tools = true);
    assert_eq!(other.changes().await, PendingChanges { tools: true, ..PendingChanges::default() });
}

#[tokio::test]
async fn listener_follows_its_current_caller() {
    let push = Push::default();
    let listener = push.listener(&Caller::Invite(db::InviteCaller {
        project_id: ProjectId::new(1),
        permissions: domain::team::token::Permissions::default(),
        expires_at: None,
        call_id: None,
    }));
    listener.apply_events(&[sent("otto", "mara"), sent("otto", EVERYONE)], &BTreeMap::new());
    listener.set_caller(&agent(1, "mara"));
    listener.apply_events(&[sent("otto", "mara")], &BTreeMap::new());
    assert!(listener.changes().await.inbox);
    drop(listener);
    drop(push.listener(&Caller::owner()));
    let kept = push.listener(&Caller::owner());
    assert_eq!(push.listeners().len(), 1, "dropped listeners are removed");
    drop(kept);
}

#[test]
fn listener_follows_a_limited_number_of_resources() {
    let listener = Listener::default();
    for number in 0..MAX_RESOURCES as u64 {
        listener.add_resource(Uri::Task(TaskId::new(number))).unwrap();
    }
    assert!(listener.add_resource(Uri::Task(TaskId::new(0))).is_ok());
    assert!(listener.add_resource(Uri::Inbox).unwrap_err().message.contains("at most 64 resources"));
}

/// All readers of two projects: runs of each kind on two tasks, twice, agents with the same names, and persons.
fn everyone() -> Vec<Reader> {
    let mut all = Vec::new();
    for project in [1, 2].map(ProjectId::new) {
        for (number, kind) in AgentKind::ALL.iter().enumerate() {
            for (run, task) in [(1, 1), (2, 1), (3, 2)] {
                let run = RunId::new(run + 10 * number as u64 + 100 * (project == ProjectId::new(2)) as u64);
                all.push(Reader::Run { project: project.clone(), run, kind: *kind, task: TaskId::new(task) });
            }
        }
        for name in ["mara", "RUN-001", "coder", "coder-TASK-001"] {
            all.push(Reader::Agent { project: project.clone(), name: name.to_owned(), admin: false });
        }
    }
    for (name, role) in [("ann", PersonRole::Owner), ("bea", PersonRole::Member), ("mara", PersonRole::Viewer)] {
        all.push(Reader::Person { name: name.to_owned(), role });
    }
    all
}

/// The rules of the issue in other words.
fn may_read(reader: &Reader, project: Option<&ProjectId>, sender: &Reader, visibility: Visibility) -> bool {
    let is_here = reader.project().is_none_or(|own| Some(own) == project);
    let is_successor = match (reader, sender) {
        (Reader::Run { kind, task, .. }, Reader::Run { kind: of, task: on, .. }) => kind == of && (*kind != AgentKind::Coder || task == on),
        _ => reader == sender,
    };
    is_here
        && match visibility {
            Visibility::Public => true,
            Visibility::Private => reader == sender,
            Visibility::AgentOnly => is_successor,
            Visibility::AdminOnly => matches!(reader, Reader::Person { role: PersonRole::Owner, .. }),
        }
}

/// Over 100,000 combinations of reader, sender, place, visibility and resource, a listener hears of exactly what its caller may read.
#[test]
fn no_listener_hears_of_what_its_caller_may_not_read() {
    let session = ContextSessionId::new(7);
    let shown = [Uri::Session(session.clone()), Uri::Messages(session.clone(), 50)];
    let (everyone, mut cases) = (everyone(), 0);
    for sender in &everyone {
        let places: Vec<Option<ProjectId>> = match sender.project() {
            Some(project) => vec![Some(project.clone())],
            None => vec![Some(ProjectId::new(1)), Some(ProjectId::new(2)), None],
        };
        for place in &places {
            for visibility in Visibility::ALL.iter().copied() {
                let mut added = event(1, SessionEvent::MessageAdded { session: session.clone(), message: 3, visibility }.into());
                added.project_id.clone_from(place);
                let audiences = BTreeMap::from([(3, Audience::of_message(visibility, sender).as_text())]);
                for reader in &everyone {
                    let followed: BTreeSet<Uri> = shown.iter().cloned().chain([Uri::Memory(reader.name()), Uri::Inbox]).collect();
                    let heard = context_changes(&added, reader, &followed, &audiences);
                    let expected = if may_read(reader, place.as_ref(), sender, visibility) { shown.to_vec() } else { Vec::new() };
                    assert_eq!(heard, expected, "{reader:?} {visibility} of {sender:?} in {place:?}");
                    assert!(context_changes(&added, reader, &followed, &BTreeMap::new()).is_empty(), "a message that is gone");
                    // Each of the resources, with and without the message in the store.
                    cases += 2 * followed.len();
                }
            }
        }
        for task in [None, Some(TaskId::new(1)), Some(TaskId::new(2))] {
            for is_deleted in [false, true] {
                let (key, scope, owner, task) = ("key".to_owned(), MemoryScope::Global, MemoryOwner::of_reader(sender).key, task.clone());
                let change = if is_deleted {
                    MemoryEvent::Deleted { key, scope, owner, task: task.clone() }
                } else {
                    MemoryEvent::Set { key, scope, owner, task: task.clone() }
                };
                let mut kept = event(1, change.into());
                kept.project_id = sender.project().cloned();
                for reader in &everyone {
                    let followed: BTreeSet<Uri> = everyone.iter().map(|other| Uri::Memory(other.name())).chain(shown.iter().cloned()).collect();
                    let heard = context_changes(&kept, reader, &followed, &BTreeMap::new());
                    let shares = match (reader, sender) {
                        (Reader::Run { kind, project, task: own, .. }, Reader::Run { kind: of, project: at, .. }) => {
                            kind == of && project == at && task.as_ref().is_none_or(|task| task == own)
                        }
                        _ => reader == sender && task.is_none(),
                    };
                    assert_eq!(heard, if shares { vec![Uri::Memory(reader.name())] } else { Vec::new() }, "{reader:?} memory of {sender:?}");
                    cases += followed.len();
                }
            }
        }
    }
    assert!(cases > 100_000, "{cases} cases");
}
