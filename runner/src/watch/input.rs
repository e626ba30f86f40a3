//! Sends a running agent its input: messages, reminders, the end of its stdin and signals.
//!
//! All input goes through the shim. It must not decide when something is sent.

use domain::runs::permission::PermissionAnswer;
use uuid::Uuid;

use super::Watcher;
use super::event::Input;
use crate::backend::{encode, encode_interrupt, encode_permission};
use crate::prompt::{self, inbox};
use crate::shim::control::{Control, ControlError, SignalName};

/// The result of a delivery.
#[derive(Debug, Default)]
pub(super) struct Delivery {
    /// The ids of the lines that the shim accepted.
    pub(super) ids: Vec<Uuid>,
    /// Whether the shim rejected a line.
    pub(super) failed: bool,
}

impl Watcher<'_> {
    pub(super) async fn send(&mut self, input: Input) -> db::Result<Delivery> {
        match input {
            Input::HumanMessages => self.send_human_messages().await,
            Input::Inbox => self.send_inbox().await,
            Input::PermissionAnswers => self.send_permission_answers().await,
            Input::Interrupt => self.send_interrupt().await,
            Input::HandOver => self.send_hand_over().await,
            Input::Reminder => self.send_reminder().await,
        }
    }

    async fn send_human_messages(&mut self) -> db::Result<Delivery> {
        let mut delivery = Delivery::default();
        for message in self.context.db.undelivered(&self.run.id).await? {
            let Some(id) = self.send_text(&prompt::message(&message.content)).await else {
                // Later messages wait, because their order matters.
                delivery.failed = true;
                break;
            };
            delivery.ids.push(id);
            self.context.db.message_delivered(&self.run.id, message.id).await?;
        }
        Ok(delivery)
    }

    async fn send_inbox(&mut self) -> db::Result<Delivery> {
        let waiting = inbox::interrupting_messages(self.context.db.run_inbox(&self.run.id).await?);
        if waiting.messages.is_empty() {
            return Ok(Delivery::default());
        }
        let Some(id) = self.send_text(&inbox::inbox_message(&self.context.config().prompts, &waiting)).await else {
            return Ok(Delivery { failed: true, ..Delivery::default() });
        };
        self.context.db.run_inbox_delivered(&self.run.id, &id.to_string(), waiting.messages).await?;
        Ok(Delivery { ids: vec![id], failed: false })
    }

    /// The program repeats each answer, which closes its request.
    async fn send_permission_answers(&mut self) -> db::Result<Delivery> {
        for answer in self.context.db.permission_answers(&self.run.id).await? {
            if self.answered.contains(&answer.key) {
                continue;
            }
            let denial = (answer.answer == PermissionAnswer::Deny)
                .then(|| prompt::denial(&self.context.config().prompts, &answer.tool, answer.reason.as_deref()));
            if !self.send_line(&encode_permission(&answer.key, denial.as_deref())).await {
                return Ok(Delivery { failed: true, ..Delivery::default() });
            }
            self.answered.insert(answer.key);
        }
        Ok(Delivery::default())
    }

    /// Nothing echoes it: the program confirms it.
    async fn send_interrupt(&mut self) -> db::Result<Delivery> {
        let Some(interrupt) = self.context.db.run(&self.run.id).await?.interrupt else { return Ok(Delivery::default()) };
        Ok(Delivery { failed: !self.send_line(&encode_interrupt(&interrupt.id)).await, ..Delivery::default() })
    }

    async fn send_hand_over(&mut self) -> db::Result<Delivery> {
        let Some(reason) = self.context.db.run(&self.run.id).await?.hand_over else { return Ok(Delivery::default()) };
        let sent = self.send_text(&prompt::hand_over(&self.context.config().prompts, &self.run.task_id, &reason)).await;
        Ok(Delivery { failed: sent.is_none(), ids: sent.into_iter().collect() })
    }

    async fn send_reminder(&mut self) -> db::Result<Delivery> {
        if !self.context.db.mark_reminded(&self.run.id).await? {
            return Ok(Delivery::default());
        }
        let task = self.context.db.task(&self.run.task_id).await?;
        let sent = self.send_text(&prompt::reminder(&self.context.config().prompts, self.run.phase, &task)).await;
        Ok(Delivery { failed: sent.is_none(), ids: sent.into_iter().collect() })
    }

    /// Sends one message. Returns its id, or `None` when the shim did not accept it.
    async fn send_text(&mut self, text: &str) -> Option<Uuid> {
        let id = Uuid::new_v4();
        self.send_line(&encode(text, id)).await.then_some(id)
    }

    /// Returns whether the shim accepted the line.
    async fn send_line(&mut self, line: &str) -> bool {
        let sent = match self.control().await {
            Ok(control) => control.send_line(line).await,
            Err(error) => Err(error),
        };
        if let Err(error) = &sent {
            tracing::warn!(run = %self.run.id, %error, "a message was not delivered; it is sent again later");
        }
        sent.is_ok()
    }

    pub(super) async fn close_stdin(&mut self) {
        if let Ok(control) = self.control().await {
            // The agent may have exited, which is the aim.
            drop(control.close_stdin().await);
        }
    }

    /// Tells the agent to exit; the shim kills it 5 s later. Returns whether the signal arrived or the agent is gone.
    pub(super) async fn terminate(&mut self) -> bool {
        let sent = match self.control().await {
            Ok(control) => control.signal(SignalName::Terminate).await,
            Err(error) => Err(error),
        };
        match sent {
            Ok(()) | Err(ControlError::Gone) => true,
            Err(error) => {
                tracing::warn!(run = %self.run.id, %error, "an agent could not be terminated; it is tried again");
                false
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
