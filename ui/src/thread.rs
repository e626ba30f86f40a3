//! Groups messages into threads and tells notices from written messages. Pure; must not know where messages come from.

use domain::id::TaskId;
use domain::team::agent::RUNNER;
use domain::team::message::Message;
use domain::team::person::is_person;
use domain::time::Timestamp;
use domain::wire::MessageView;

/// The identity of a thread: its task, or else its first message.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum ThreadKey {
    Task(TaskId),
    Chain(i64),
}

/// One message as written: to one recipient, to all, or as a notice with one row for each recipient.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ThreadEntry {
    /// The first of the rows.
    pub(crate) view: MessageView,
    /// The ids of all rows, in order.
    ids: Vec<i64>,
    pub(crate) to: Vec<String>,
    /// Recipients that it was not delivered to.
    pub(crate) unread_by: Vec<String>,
    /// Whether every recipient is known to have read it.
    pub(crate) acknowledged: bool,
}

impl ThreadEntry {
    fn new(view: &MessageView) -> Self {
        let mut entry = Self { view: view.clone(), ids: Vec::new(), to: Vec::new(), unread_by: Vec::new(), acknowledged: true };
        entry.add(view);
        entry
    }

    fn add(&mut self, view: &MessageView) {
        let row = &view.message;
        self.acknowledged &= view.acknowledged;
        self.ids.push(row.id);
        self.to.push(row.to_agent.clone());
        if !row.read {
            self.unread_by.push(row.to_agent.clone());
        }
    }

    /// The message as `reader` received it, unless they have read it.
    pub(crate) fn unread_by_reader(&self, is_reader: impl Fn(&str) -> bool) -> Option<Message> {
        let unread = self.unread_by.iter().any(|name| is_reader(name));
        let (id, to) = self.ids.iter().zip(&self.to).find(|(_, name)| unread && is_reader(name))?;
        Some(Message { id: *id, to_agent: to.clone(), ..self.view.message.clone() })
    }

    pub(crate) fn id(&self) -> i64 {
        self.view.message.id
    }

    /// Whether a reply has exactly one recipient. The runner reads no messages.
    pub(crate) fn is_answerable(&self) -> bool {
        match self.view.message.from_agent.as_str() {
            RUNNER => false,
            name if is_person(name) => self.to.len() == 1,
            _ => true,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Thread {
    pub(crate) key: ThreadKey,
    /// Oldest first.
    pub(crate) entries: Vec<ThreadEntry>,
}

impl Thread {
    /// The entries after the first `hidden`, each with the message that it answers unless that is the entry above.
    pub(crate) fn shown(&self, hidden: usize) -> Vec<(ThreadEntry, Option<Message>)> {
        let above = std::iter::once(None).chain(self.entries.iter().map(Some));
        let find = |id| self.entries.iter().find(|entry| entry.ids.contains(&id)).map(|entry| entry.view.message.clone());
        let answered = |entry: &ThreadEntry, above: Option<&ThreadEntry>| {
            entry.view.message.reply_to.filter(|id| above.is_none_or(|above| !above.ids.contains(id))).and_then(find)
        };
        self.entries.iter().zip(above).skip(hidden).map(|(entry, above)| (entry.clone(), answered(entry, above))).collect()
    }
}

/// The threads of `messages`, which are sorted by id. The thread with the newest message comes last.
pub(crate) fn threads(messages: &[MessageView]) -> Vec<Thread> {
    let mut threads: Vec<Thread> = Vec::new();
    let mut above: Option<&Message> = None;
    for view in messages {
        let same = above.is_some_and(|above| is_same(above, &view.message));
        above = Some(&view.message);
        // The previous row is the last entry of the last thread.
        if same && let Some(entry) = threads.last_mut().and_then(|thread| thread.entries.last_mut()) {
            entry.add(view);
            continue;
        }
        let key = key(&view.message, messages);
        // Moving the thread to the end keeps the newest one last.
        let mut thread = match threads.iter().position(|thread| thread.key == key) {
            Some(place) => threads.remove(place),
            None => Thread { key, entries: Vec::new() },
        };
        thread.entries.push(ThreadEntry::new(view));
        threads.push(thread);
    }
    threads
}

/// Whether two rows are one message to different recipients.
fn is_same(one: &Message, other: &Message) -> bool {
    let context = |message: &Message| (message.task_id.clone(), message.reply_to);
    fingerprint(one) == fingerprint(other) && one.content == other.content && context(one) == context(other)
}

/// The keys of the threads, in order.
pub(crate) fn keys(threads: &[Thread]) -> Vec<ThreadKey> {
    threads.iter().map(|thread| thread.key.clone()).collect()
}

fn key(message: &Message, all: &[MessageView]) -> ThreadKey {
    if let Some(task) = &message.task_id {
        return ThreadKey::Task(task.clone());
    }
    let mut first = first_row(message, all);
    // The loop ends because a reply has a higher id than its original.
    while let Some(earlier) = first.reply_to.and_then(|id| find(all, id)).filter(|earlier| earlier.id < first.id) {
        first = first_row(earlier, all);
    }
    ThreadKey::Chain(first.reply_to.unwrap_or(first.id))
}

/// The first row of the same message. Rows of one message are adjacent.
fn first_row<'a>(message: &'a Message, all: &'a [MessageView]) -> &'a Message {
    let index = all.partition_point(|view| view.message.id < message.id);
    all[..index].iter().rev().map(|view| &view.message).take_while(|earlier| is_same(earlier, message)).last().unwrap_or(message)
}

/// The message with this id. `all` is sorted by id.
fn find(all: &[MessageView], id: i64) -> Option<&Message> {
    all.binary_search_by_key(&id, |view| view.message.id).ok().map(|index| &all[index].message)
}

/// The identity of a message across its copies, which are rows with the same sender and time.
pub(crate) type MessageFingerprint = (String, Timestamp);

pub(crate) fn fingerprint(message: &Message) -> MessageFingerprint {
    (message.from_agent.clone(), message.timestamp)
}

/// The tag and the text of a notice such as `[REVIEW] …` or `[HANDSHAKE #1] …`. None for a written message.
pub(crate) fn notice(content: &str) -> Option<(&str, &str)> {
    const MAX_TAG_BYTES: usize = 24;
    let (tag, rest) = content.strip_prefix('[')?.split_once(']')?;
    let capitals = tag.chars().take_while(char::is_ascii_uppercase).count();
    (capitals >= 3 && tag.len() <= MAX_TAG_BYTES && !rest.trim().is_empty()).then(|| (tag, rest.trim_start()))
}

/// The HTML of a notice without its tag. None if the HTML does not begin with the tag.
pub(crate) fn strip_tag(html: &str, tag: &str) -> Option<String> {
    let (paragraph, rest) = html.split_once('[').filter(|(paragraph, _)| is_open_paragraph(paragraph))?;
    let rest = rest.strip_prefix(tag)?.strip_prefix(']')?;
    Some(format!("{paragraph}{}", rest.trim_start()))
}

/// Whether the HTML is only the start of a paragraph.
fn is_open_paragraph(html: &str) -> bool {
    html.strip_prefix("<p").and_then(|rest| rest.strip_suffix('>')).is_some_and(|attributes| !attributes.contains('>'))
}

/// Merges a page of the newest messages into the known ones. `has_earlier` says that messages precede the page. If the page then leaves a
/// gap, the known messages are dropped.
pub(crate) fn merge(known: &[MessageView], page: Vec<MessageView>, has_earlier: bool) -> Vec<MessageView> {
    let id = |view: &MessageView| view.message.id;
    let gap = match (known.last(), page.first()) {
        (Some(last), Some(first)) => has_earlier && id(first) > id(last),
        _ => false,
    };
    let mut all = if gap { Vec::new() } else { known.to_vec() };
    // Rows of the page are newer: they may be marked as read.
    all.retain(|view| page.binary_search_by_key(&id(view), id).is_err());
    all.extend(page);
    all.sort_by_key(id);
    all
}

#[cfg(test)]
mod tests;
