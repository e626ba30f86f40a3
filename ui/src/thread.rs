//! Messages as a person reads them: in threads, and notices apart from what somebody wrote. Pure; must not know where messages come from.

use domain::id::TaskId;
use domain::team::agent::{HUMAN, RUNNER};
use domain::team::message::Message;
use domain::time::Timestamp;
use domain::wire::MessageView;

/// What keeps messages together: a task, or else the message that the others reply to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    Task(TaskId),
    Chain(i64),
}

/// What was said once: to one, to all, or, where a gate tells it, to several by a row each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Told {
    /// The first of its rows.
    pub(crate) view: MessageView,
    /// All of its rows, in their order.
    ids: Vec<i64>,
    pub(crate) to: Vec<String>,
    /// Those of them who were not given it yet.
    pub(crate) waiting: Vec<String>,
}

impl Told {
    fn by(view: &MessageView) -> Self {
        let mut told = Self { view: view.clone(), ids: Vec::new(), to: Vec::new(), waiting: Vec::new() };
        told.add(&view.message);
        told
    }

    fn add(&mut self, row: &Message) {
        self.ids.push(row.id);
        self.to.push(row.to_agent.clone());
        if !row.read {
            self.waiting.push(row.to_agent.clone());
        }
    }

    pub(crate) fn id(&self) -> i64 {
        self.view.message.id
    }

    /// Whether there is one to reply to: the runner reads nothing, and what the person told several has no one recipient.
    pub(crate) fn is_answerable(&self) -> bool {
        match self.view.message.from_agent.as_str() {
            RUNNER => false,
            HUMAN => self.to.len() == 1,
            _ => true,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Thread {
    pub(crate) key: Key,
    /// Oldest first.
    pub(crate) told: Vec<Told>,
}

impl Thread {
    /// What was told after the first `hidden`, each with what it answers, where that does not stand right above it.
    pub(crate) fn shown(&self, hidden: usize) -> Vec<(Told, Option<Message>)> {
        let before = std::iter::once(None).chain(self.told.iter().map(Some));
        let find = |id| self.told.iter().find(|told| told.ids.contains(&id)).map(|told| told.view.message.clone());
        let answered = |told: &Told, before: Option<&Told>| {
            told.view.message.reply_to.filter(|id| before.is_none_or(|before| !before.ids.contains(id))).and_then(find)
        };
        self.told.iter().zip(before).skip(hidden).map(|(told, before)| (told.clone(), answered(told, before))).collect()
    }
}

/// The threads of `messages`, which are in the order of their ids: the one that somebody wrote to last comes last.
pub(crate) fn threads(messages: &[MessageView]) -> Vec<Thread> {
    let mut threads: Vec<Thread> = Vec::new();
    let mut above: Option<&Message> = None;
    for view in messages {
        let same = above.is_some_and(|above| is_same(above, &view.message));
        above = Some(&view.message);
        // The row right before it is the last of the last thread.
        if same && let Some(told) = threads.last_mut().and_then(|thread| thread.told.last_mut()) {
            told.add(&view.message);
            continue;
        }
        let key = key(&view.message, messages);
        // Taken out and put to the end: the newest thread is the last.
        let mut thread = match threads.iter().position(|thread| thread.key == key) {
            Some(place) => threads.remove(place),
            None => Thread { key, told: Vec::new() },
        };
        thread.told.push(Told::by(view));
        threads.push(thread);
    }
    threads
}

/// Whether two rows tell the same to different agents.
fn is_same(one: &Message, other: &Message) -> bool {
    let what = |message: &Message| (message.task_id.clone(), message.reply_to);
    mark(one) == mark(other) && one.content == other.content && what(one) == what(other)
}

/// What tells the threads apart, in their order.
pub(crate) fn keys(threads: &[Thread]) -> Vec<Key> {
    threads.iter().map(|thread| thread.key.clone()).collect()
}

fn key(message: &Message, all: &[MessageView]) -> Key {
    if let Some(task) = &message.task_id {
        return Key::Task(task.clone());
    }
    let mut first = first_row(message, all);
    // A reply is younger than what it answers, so this ends.
    while let Some(earlier) = first.reply_to.and_then(|id| find(all, id)).filter(|earlier| earlier.id < first.id) {
        first = first_row(earlier, all);
    }
    Key::Chain(first.reply_to.unwrap_or(first.id))
}

/// The first of the rows that tell the same as `message`; they stand next to each other.
fn first_row<'a>(message: &'a Message, all: &'a [MessageView]) -> &'a Message {
    let place = all.partition_point(|view| view.message.id < message.id);
    all[..place].iter().rev().map(|view| &view.message).take_while(|earlier| is_same(earlier, message)).last().unwrap_or(message)
}

/// One of the messages, which are in the order of their ids.
fn find(all: &[MessageView], id: i64) -> Option<&Message> {
    all.binary_search_by_key(&id, |view| view.message.id).ok().map(|place| &all[place].message)
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

/// The HTML of a notice without its word, which is shown apart; none where the word does not stand at its beginning.
pub(crate) fn without_word(html: &str, word: &str) -> Option<String> {
    let rest = html.strip_prefix("<p>[")?.strip_prefix(word)?.strip_prefix(']')?;
    Some(format!("<p>{}", rest.trim_start()))
}

/// What is known with a page of the newest messages. `full`: whether there is more before the page, so that a gap would stay unseen; then
/// what was known is forgotten.
pub(crate) fn merged(known: &[MessageView], page: Vec<MessageView>, full: bool) -> Vec<MessageView> {
    let id = |view: &MessageView| view.message.id;
    let gap = match (known.last(), page.first()) {
        (Some(last), Some(first)) => full && id(first) > id(last),
        _ => false,
    };
    let mut all = if gap { Vec::new() } else { known.to_vec() };
    // The page is newer: it says what has been read meanwhile.
    all.retain(|view| page.binary_search_by_key(&id(view), id).is_err());
    all.extend(page);
    all.sort_by_key(id);
    all
}

#[cfg(test)]
mod tests;
