//! Contributions to a task: building, approving and verifying it. A contributor of one kind is refused the next. Must not know the moves.

use domain::board::card::Card;
use domain::board::transition::refusal::MoveRefusal;
use domain::id::TaskId;

use crate::engine::tx::Tx;
use crate::error::Result;

/// A kind of contribution to a task.
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

/// Records a contribution. Contributions are never deleted.
pub(crate) async fn record(tx: &mut Tx, task: &TaskId, name: &str, kind: Contribution) -> Result<()> {
    sqlx::query("INSERT INTO contributions (task_id, agent_name, kind, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING")
        .bind(task.as_str())
        .bind(name)
        .bind(kind.as_str())
        .bind(tx.now.to_string())
        .execute(&mut tx.connection)
        .await?;
    Ok(())
}

/// Whether an agent `$2` of the project `$4` contributed to a task `$1` as `$3`, under its present or a former name.
const BY_AGENT: &str = "SELECT 1 FROM contributions WHERE task_id = $1 AND kind = $3
  AND (agent_name = $2 OR agent_name IN (SELECT former FROM former_names WHERE project_id = $4 AND name = $2)) LIMIT 1";

/// Refuses `action` to a participant that made one of these contributions to the task, or is building it now.
pub(crate) async fn require_independent(tx: &mut Tx, card: &Card, name: &str, kinds: &[Contribution], action: &'static str) -> Result<()> {
    let own = |part: &'static str| MoveRefusal::NotIndependent { task: card.id.clone(), agent: name.to_owned(), part, action };
    for kind in kinds {
        if *kind == Contribution::Built && card.contributors.assigned_to.as_deref() == Some(name) {
            return Err(own(kind.as_str()).into());
        }
        let found: Option<i64> = sqlx::query_scalar(BY_AGENT)
            .bind(card.id.as_str())
            .bind(name)
            .bind(kind.as_str())
            .bind(card.project_id.as_str())
            .fetch_optional(&mut tx.connection)
            .await?;
        if found.is_some() {
            return Err(own(kind.as_str()).into());
        }
    }
    Ok(())
}
