//! Who had a hand in a task: built, approved or verified it. Whoever had one part may not take the next.

use domain::board::card::Card;
use domain::id::TaskId;
use domain::refusal::Refusal;

use crate::engine::tx::Tx;
use crate::error::Result;

/// What somebody did for a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Contribution {
    Built,
    Approved,
    Verified,
}

impl Contribution {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Built => "built",
            Self::Approved => "approved",
            Self::Verified => "verified",
        }
    }
}

/// Writes down that `name` had a part in the task. It is never taken back.
pub(crate) async fn record(tx: &mut Tx, task: &TaskId, name: &str, part: Contribution) -> Result<()> {
    sqlx::query("INSERT INTO contributions (task_id, agent_name, kind, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING")
        .bind(task.as_str())
        .bind(name)
        .bind(part.as_str())
        .bind(tx.now.to_string())
        .execute(&mut tx.connection)
        .await?;
    Ok(())
}

/// Refuses somebody who had one of `parts` in the task, or has it now, from doing `action` to it.
pub(crate) async fn require_independent(tx: &mut Tx, card: &Card, name: &str, parts: &[Contribution], action: &'static str) -> Result<()> {
    let own = |part: &'static str| Refusal::NotIndependent { task: card.id.clone(), agent: name.to_owned(), part, action };
    for part in parts {
        if *part == Contribution::Built && card.contributors.assigned_to.as_deref() == Some(name) {
            return Err(own(part.as_str()).into());
        }
        let found: Option<i64> = sqlx::query_scalar("SELECT 1 FROM contributions WHERE task_id = $1 AND agent_name = $2 AND kind = $3")
            .bind(card.id.as_str())
            .bind(name)
            .bind(part.as_str())
            .fetch_optional(&mut tx.connection)
            .await?;
        if found.is_some() {
            return Err(own(part.as_str()).into());
        }
    }
    Ok(())
}
