//! Who is told of what, without a stream.

use domain::actor::Actor;
use domain::id::TaskId;
use domain::time::Timestamp;

use super::*;

fn event(project: u64, event: Event) -> Envelope {
    Envelope {
        seq: 1,
        at: Timestamp::from_milliseconds(0),
        project_id: Some(ProjectId::new(project)),
        task_id: None,
        run_id: None,
        actor: Actor::Human,
        event,
        card: None,
        project: None,
    }
}

fn sent(from: &str, to: &str) -> Envelope {
    event(1, Event::MessageSent { message: 1, from: from.to_owned(), to: to.to_owned(), is_cc: false })
}

fn agent(project: u64, name: &str) -> Caller {
    Caller::Agent(db::AgentCaller { project_id: ProjectId::new(project), name: name.to_owned(), call_id: None })
}

#[test]
fn an_inbox_changes_for_its_owner_alone() {
    let hears = |name: &str, event: &Envelope| changes_inbox(event, &ProjectId::new(1), name);
    assert!(hears("mara", &sent("otto", "mara")));
    assert!(!hears("otto", &sent("otto", "mara")));
    assert!(hears("mara", &sent("otto", EVERYONE)) && hears("lena", &sent("otto", EVERYONE)));
    assert!(!hears("otto", &sent("otto", EVERYONE)), "nobody hears their own broadcast");
    let read = event(1, Event::InboxDelivered { agent: "mara".to_owned(), messages: 2 });
    assert!(hears("mara", &read) && !hears("otto", &read));
    assert!(!changes_inbox(&sent("otto", "mara"), &ProjectId::new(2), "mara"), "a name of another project is somebody else");
}

#[tokio::test]
async fn what_was_not_passed_on_is_kept_once() {
    let push = Push::default();
    let (mara, other) = (push.listener(&agent(1, "mara")), push.listener(&agent(2, "mara")));
    mara.watch(Uri::Inbox);
    mara.watch(Uri::Task(TaskId::new(7)));
    for _ in 0..3 {
        mara.hear(&[sent("otto", "mara")]);
        other.hear(&[sent("otto", "mara")]);
    }
    assert_eq!(mara.news().await, News { inbox: true, tools: false, resources: BTreeSet::from([Uri::Inbox]) });
    mara.hear(&[sent("mara", EVERYONE)]);
    mara.tell(|news| news.tools = true);
    assert_eq!(mara.news().await, News { tools: true, ..News::default() });
    other.tell(|news| news.tools = true);
    assert_eq!(other.news().await, News { tools: true, ..News::default() });
}

#[tokio::test]
async fn a_listener_is_who_its_caller_is_now() {
    let push = Push::default();
    let listener = push.listener(&Caller::Invite(db::InviteCaller { project_id: ProjectId::new(1), call_id: None }));
    listener.hear(&[sent("otto", "mara"), sent("otto", EVERYONE)]);
    listener.is_now(&agent(1, "mara"));
    listener.hear(&[sent("otto", "mara")]);
    assert!(listener.news().await.inbox);
    drop(listener);
    drop(push.listener(&Caller::Human));
    let kept = push.listener(&Caller::Human);
    assert_eq!(push.listeners().len(), 1, "who is gone is forgotten");
    drop(kept);
}
