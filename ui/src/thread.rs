//! Messages as a person reads them: in threads, and notices apart from what somebody wrote. Pure; must not know where messages come from.

use domain::id::TaskId;
use domain::message::Message;
use domain::time::Timestamp;

/// What keeps messages together: a task, or else the message that the others reply to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    Task(TaskId),
    Chain(i64),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Thread {
    pub(crate) key: Key,
    /// Oldest first.
    pub(crate) messages: Vec<Message>,
}

impl Thread {
    /// The messages after the first `hidden`, each with the one that it answers, where that does not stand right above it.
    pub(crate) fn shown(&self, hidden: usize) -> Vec<(Message, Option<Message>)> {
        let before = std::iter::once(None).chain(self.messages.iter().map(|message| Some(message.id)));
        let answered = |message: &Message, before| message.reply_to.filter(|id| before != Some(*id)).and_then(|id| find(&self.messages, id));
        let with = |(message, before): (&Message, _)| (message.clone(), answered(message, before).cloned());
        self.messages.iter().zip(before).skip(hidden).map(with).collect()
    }
}

/// The threads of `messages`, which are in the order of their ids: the one that somebody wrote to last comes last.
pub(crate) fn threads(messages: &[Message]) -> Vec<Thread> {
    let mut threads: Vec<Thread> = Vec::new();
    for message in messages {
        let key = key(message, messages);
        // Taken out and put to the end: the newest thread is the last.
        let mut thread = match threads.iter().position(|thread| thread.key == key) {
            Some(place) => threads.remove(place),
            None => Thread { key, messages: Vec::new() },
        };
        thread.messages.push(message.clone());
        threads.push(thread);
    }
    threads
}

/// What tells the threads apart, in their order.
pub(crate) fn keys(threads: &[Thread]) -> Vec<Key> {
    threads.iter().map(|thread| thread.key.clone()).collect()
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

/// By what a message is known as new: a copy is a row of its own, of the same sender and moment as what it copies.
pub(crate) type Mark = (String, Timestamp);

pub(crate) fn mark(message: &Message) -> Mark {
    (message.from_agent.clone(), message.timestamp)
}

/// The word and the rest of a notice, which begins like `[REVIEW]` or `[HANDSHAKE #1]`; none when somebody just wrote.
pub(crate) fn notice(content: &str) -> Option<(&str, &str)> {
    const LONGEST: usize = 24;
    let (word, rest) = content.strip_prefix('[')?.split_once(']')?;
    let capitals = word.chars().take_while(char::is_ascii_uppercase).count();
    (capitals >= 3 && word.len() <= LONGEST && !rest.trim().is_empty()).then(|| (word, rest.trim_start()))
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
