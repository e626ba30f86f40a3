//! What a running agent is told over its standard input, by the person, by others, and by us: whether now, and that it was.
//!
//! Lines go through the shim. An agent that reads nothing is not waited for beyond the shim's patience.

use std::time::Duration;

use domain::runs::run::Run;
use tokio::time::Instant;
use uuid::Uuid;

use super::{Trouble, Watch};
use crate::backend::claude::user_line;
use crate::prompt::{self, inbox};
use crate::shim::control::{Control, ControlError, SignalName};

/// Between closing an agent's stdin and telling it to end.
const CLOSE_GRACE: Duration = Duration::from_secs(5);
/// Between two interruptions by messages of those who do not lead. A lead or the person interrupts at any time, and uses up nobody's turn.
const INTERRUPTION_PAUSE: Duration = Duration::from_secs(60);

/// After an agent could not be told something it is tried again: at first so soon, then after twice as long each time.
const FIRST_RETRY: Duration = Duration::from_secs(1);
const LONGEST_RETRY: Duration = Duration::from_secs(60);

/// How often an agent is interrupted by what others write to it, and how often it is tried while that fails.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// When it was last interrupted by somebody who does not lead.
    last: Option<Instant>,
    /// How often in a row it could not be told something, and until when it is left alone for that.
    failures: u32,
    deaf: Option<Instant>,
}

impl Pace {
    /// When it may be interrupted, which may be in the past.
    fn due(&self, urgent: bool, now: Instant) -> Instant {
        match self.last {
            Some(last) if !urgent => last + INTERRUPTION_PAUSE,
            _ => now,
        }
    }

    /// Until when nothing is said to an agent that took nothing.
    pub(super) fn deaf_until(&self, now: Instant) -> Option<Instant> {
        self.deaf.filter(|until| now < *until)
    }

    /// Notes whether it took what it was told.
    fn tried(&mut self, taken: bool, now: Instant) {
        if taken {
            (self.failures, self.deaf) = (0, None);
        } else {
            self.deaf = Some(now + FIRST_RETRY.saturating_mul(1 << self.failures.min(6)).min(LONGEST_RETRY));
            self.failures = self.failures.saturating_add(1);
        }
    }
}

impl Watch<'_> {
    /// Gives the agent what the person said and it was not told yet. Answers whether it was told anything.
    pub(super) async fn deliver(&mut self) -> Result<bool, Trouble> {
        if self.terminated || self.terminate_at.is_some() {
            return Ok(false);
        }
        let mut told = false;
        for message in self.context.db.undelivered(&self.run.id).await? {
            // What came after it waits with it.
            if self.say(&prompt::message(&message.content)).await.is_none() {
                break;
            }
            told = true;
            self.context.db.message_delivered(&self.run.id, message.id).await?;
        }
        Ok(told)
    }

    /// Gives the agent what others wrote to it, if it is at work and may be interrupted; else looks again when it may.
    pub(super) async fn look_into_inbox(&mut self) -> Result<(), Trouble> {
        // Before its first turn it reads its prompt, and after its last it is about to go.
        let at_work = self.view.servers().is_some() && self.view.result().is_none() && self.read >= self.history;
        if !at_work || self.terminated || self.terminate_at.is_some() || self.pace.deaf_until(Instant::now()).is_some() {
            return Ok(());
        }
        let unread = self.context.db.unread(&self.project, &Run::agent_name(self.run.phase, &self.run.task_id)).await?;
        // Copies are for the record: nobody is interrupted for them.
        if unread.blocking_count == 0 {
            return Ok(());
        }
        let now = Instant::now();
        let due = self.pace.due(unread.urgent, now);
        if due <= now {
            if self.give().await? {
                if !unread.urgent {
                    self.pace.last = Some(now);
                }
                // For what did not fit.
                self.inbox_at = Some(now + INTERRUPTION_PAUSE);
            }
        } else {
            self.inbox_at = Some(due);
        }
        Ok(())
    }

    /// Gives an agent that would go now what a lead or the person wrote to it. Answers whether there was anything.
    pub(super) async fn give_urgent(&mut self) -> Result<bool, Trouble> {
        if self.terminated || self.terminate_at.is_some() {
            return Ok(false);
        }
        let unread = self.context.db.unread(&self.project, &Run::agent_name(self.run.phase, &self.run.task_id)).await?;
        if unread.urgent { self.give().await } else { Ok(false) }
    }

    async fn give(&mut self) -> Result<bool, Trouble> {
        let waiting = inbox::pressing(self.context.db.run_inbox(&self.run.id).await?);
        if waiting.messages.is_empty() {
            return Ok(false);
        }
        let Some(id) = self.say(&inbox::told(&waiting)).await else { return Ok(false) };
        self.context.db.run_inbox_delivered(&self.run.id, &id.to_string(), waiting.messages).await?;
        Ok(true)
    }

    /// The agent echoed a line of ours: it is part of its conversation from then on.
    pub(super) async fn taken(&mut self, id: Uuid) -> Result<(), Trouble> {
        self.untaken.remove(&id);
        // Also when the server before this one said it.
        Ok(self.context.db.record_echo(&self.run.id, &id.to_string()).await?)
    }

    /// Says something to the agent. Answers under which id, or nothing when the shim did not take it.
    pub(super) async fn say(&mut self, text: &str) -> Option<Uuid> {
        let id = Uuid::new_v4();
        let sent = match self.control().await {
            Ok(control) => control.send_line(&user_line(text, id)).await,
            Err(error) => Err(error),
        };
        self.pace.tried(sent.is_ok(), Instant::now());
        match sent {
            Ok(()) => {
                self.untaken.insert(id);
                Some(id)
            }
            Err(error) => {
                tracing::warn!(run = %self.run.id, %error, "a message was not delivered; tried again later");
                self.inbox_at = self.pace.deaf_until(Instant::now());
                None
            }
        }
    }

    pub(super) async fn close(&mut self) {
        if let Ok(control) = self.control().await {
            // It may have gone by itself, which is what is wanted.
            drop(control.close_stdin().await);
        }
        self.terminate_at.get_or_insert_with(|| Instant::now() + CLOSE_GRACE);
    }

    /// Tells the agent to end; the shim kills it 5 s later.
    pub(super) async fn terminate(&mut self) {
        if self.terminated {
            return;
        }
        let sent = match self.control().await {
            Ok(control) => control.signal(SignalName::Terminate).await,
            Err(error) => Err(error),
        };
        match sent {
            // Gone means ended, which the output tells soon.
            Ok(()) | Err(ControlError::Gone) => self.terminated = true,
            Err(error) => {
                tracing::warn!(run = %self.run.id, %error, "an agent could not be told to end; tried again");
                self.terminate_at = Some(Instant::now() + CLOSE_GRACE);
            }
        }
    }

    async fn control(&mut self) -> Result<&Control, ControlError> {
        let control = match self.control.take() {
            Some(control) => control,
            None => Control::connect(&self.run_dir).await?,
        };
        Ok(self.control.insert(control))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_interruption_a_minute_but_a_lead_s_at_once() {
        let now = Instant::now();
        let second = Duration::from_secs(1);
        assert_eq!(Pace::default().due(false, now), now);
        let pace = Pace { last: Some(now), ..Pace::default() };
        assert_eq!(pace.due(false, now + second), now + INTERRUPTION_PAUSE);
        assert_eq!(pace.due(true, now + second), now + second);
        assert!(pace.due(false, now + 2 * INTERRUPTION_PAUSE) <= now + 2 * INTERRUPTION_PAUSE);
    }

    #[test]
    fn an_agent_that_takes_nothing_is_tried_ever_more_rarely_until_it_takes_something() {
        let now = Instant::now();
        let mut pace = Pace::default();
        assert_eq!(pace.deaf_until(now), None);
        let pauses: Vec<u64> = (0..9)
            .map(|_| {
                pace.tried(false, now);
                pace.deaf_until(now).unwrap().duration_since(now).as_secs()
            })
            .collect();
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        assert_eq!(pace.deaf_until(now + LONGEST_RETRY), None, "then it is its turn again");
        pace.tried(true, now);
        assert_eq!(pace.deaf_until(now), None);
        pace.tried(false, now);
        assert_eq!(pace.deaf_until(now), Some(now + FIRST_RETRY));
    }
}
