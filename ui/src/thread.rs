//! Messages as a person reads them: in threads, each copy folded into what it copies. Pure; must not know where messages come from.

use domain::id::TaskId;
use domain::message::Message;

/// What keeps messages together: a task, or else the message that the others reply to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    Task(TaskId),
    Chain(i64),
}

/// A message with the names of those who got a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) message: Message,
    pub(crate) cc: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Thread {
    pub(crate) key: Key,
    /// Oldest first.
    pub(crate) entries: Vec<Entry>,
}

impl Thread {
    /// Differs where two states of a thread look different.
    pub(crate) fn version(&self) -> (Key, usize, i64, usize, usize) {
        let read = self.entries.iter().filter(|entry| entry.message.read).count();
        let copies = self.entries.iter().map(|entry| entry.cc.len()).sum();
        (self.key.clone(), self.entries.len(), self.entries.last().map_or(0, |entry| entry.message.id), read, copies)
    }
}

/// The threads of `messages`, which are in the order of their ids: the one that somebody wrote to last comes last.
pub(crate) fn threads(messages: &[Message]) -> Vec<Thread> {
    let mut threads: Vec<Thread> = Vec::new();
    for entry in folded(messages) {
        let key = key(&entry.message, messages);
        // Taken out and put to the end: the newest thread is the last.
        let mut thread = match threads.iter().position(|thread| thread.key == key) {
            Some(place) => threads.remove(place),
            None => Thread { key, entries: Vec::new() },
        };
        thread.entries.push(entry);
        threads.push(thread);
    }
    threads
}

fn key(message: &Message, all: &[Message]) -> Key {
    if let Some(task) = &message.task_id {
        return Key::Task(task.clone());
    }
    let mut first = message;
    // A reply is younger than what it answers, so this ends.
    while let Some(earlier) = first.reply_to.and_then(|id| find(all, id)).filter(|earlier| earlier.id < first.id) {
        first = earlier;
    }
    Key::Chain(first.reply_to.unwrap_or(first.id))
}

/// One of the messages, which are in the order of their ids.
pub(crate) fn find(all: &[Message], id: i64) -> Option<&Message> {
    all.binary_search_by_key(&id, |message| message.id).ok().map(|place| &all[place])
}

/// Copies become names at what they copy. A copy whose original is not here stands for it.
fn folded(messages: &[Message]) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for message in messages {
        let Some(to) = message.cc_original_to.as_ref().filter(|_| message.is_cc) else {
            entries.push(Entry { message: message.clone(), cc: Vec::new() });
            continue;
        };
        let copied = |entry: &&mut Entry| {
            let original = &entry.message;
            original.to_agent == *to
                && original.from_agent == message.from_agent
                && original.timestamp == message.timestamp
                && original.content == message.content
        };
        match entries.iter_mut().rev().find(copied) {
            Some(entry) => entry.cc.push(message.to_agent.clone()),
            None => {
                let original = Message { to_agent: to.clone(), is_cc: false, cc_original_to: None, ..message.clone() };
                entries.push(Entry { message: original, cc: vec![message.to_agent.clone()] });
            }
        }
    }
    entries
}

/// What is known with a page of the newest messages. `full`: whether there is more before the page, so that a gap would stay unseen; then
/// what was known is forgotten.
pub(crate) fn merged(known: &[Message], page: Vec<Message>, full: bool) -> Vec<Message> {
    let gap = match (known.last(), page.first()) {
        (Some(last), Some(first)) => full && first.id > last.id,
        _ => false,
    };
    let mut all = if gap { Vec::new() } else { known.to_vec() };
    // The page is newer: it says what has been read meanwhile.
    all.retain(|message| page.binary_search_by_key(&message.id, |new| new.id).is_err());
    all.extend(page);
    all.sort_by_key(|message| message.id);
    all
}

#[cfg(test)]
mod tests;
