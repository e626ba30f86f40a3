//! Which listeners an event notifies.

use domain::actor::Actor;
use domain::id::TaskId;
use domain::team::message::MessageEvent;
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
    Caller::Agent(db::AgentCaller { project_id: ProjectId::new(project), name: name.to_owned(), call_id: None })
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

#[tokio::test]
async fn unforwarded_change_is_kept_once() {
    let push = Push::default();
    let (mara, other) = (push.listener(&agent(1, "mara")), push.listener(&agent(2, "mara")));
    mara.add_resource(Uri::Inbox);
    mara.add_resource(Uri::Task(TaskId::new(7)));
    for _ in 0..3 {
        mara.apply_events(&[sent("otto", "mara")]);
        other.apply_events(&[sent("otto", "mara")]);
    }
    assert_eq!(mara.changes().await, PendingChanges { inbox: true, tools: false, resources: BTreeSet::from([Uri::Inbox]) });
    mara.apply_events(&[sent("mara", EVERYONE)]);
    mara.notify(|changes| changes.tools = true);
    assert_eq!(mara.changes().await, PendingChanges { tools: true, ..PendingChanges::default() });
    other.notify(|changes| changes.tools = true);
    assert_eq!(other.changes().await, PendingChanges { tools: true, ..PendingChanges::default() });
}

#[tokio::test]
async fn listener_follows_its_current_caller() {
    let push = Push::default();
    let listener = push.listener(&Caller::Invite(db::InviteCaller { project_id: ProjectId::new(1), call_id: None }));
    listener.apply_events(&[sent("otto", "mara"), sent("otto", EVERYONE)]);
    listener.set_caller(&agent(1, "mara"));
    listener.apply_events(&[sent("otto", "mara")]);
    assert!(listener.changes().await.inbox);
    drop(listener);
    drop(push.listener(&Caller::owner()));
    let kept = push.listener(&Caller::owner());
    assert_eq!(push.listeners().len(), 1, "dropped listeners are removed");
    drop(kept);
}
