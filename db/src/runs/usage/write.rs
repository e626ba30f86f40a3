//! Keeps the sums over all runs of a project. Must be called by every write that changes the usage of a run.

use domain::id::ProjectId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::usage::UsageSums;

use crate::engine::tx::Tx;
use crate::error::Result;

/// Adds to the sums of a project: by kind of agent, in total and on the day of this use case.
pub(crate) async fn add(tx: &mut Tx, project: &ProjectId, phase: AgentKind, added: UsageSums) -> Result<()> {
    let by_kind = "INSERT INTO usage_by_kind (project_id, phase, turns, input_tokens, output_tokens, cost_micro_usd) VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (project_id, phase) DO UPDATE SET turns = usage_by_kind.turns + excluded.turns,
           input_tokens = usage_by_kind.input_tokens + excluded.input_tokens, output_tokens = usage_by_kind.output_tokens + excluded.output_tokens,
           cost_micro_usd = usage_by_kind.cost_micro_usd + excluded.cost_micro_usd";
    let by_day = "INSERT INTO usage_by_day (project_id, phase, turns, input_tokens, output_tokens, cost_micro_usd, day)
         VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (project_id, day, phase) DO UPDATE SET turns = usage_by_day.turns + excluded.turns,
           input_tokens = usage_by_day.input_tokens + excluded.input_tokens, output_tokens = usage_by_day.output_tokens + excluded.output_tokens,
           cost_micro_usd = usage_by_day.cost_micro_usd + excluded.cost_micro_usd";
    for (statement, day) in [(by_kind, None), (by_day, Some(tx.now.day()))] {
        let statement = sqlx::query(statement)
            .bind(project.as_str())
            .bind(phase.as_str())
            .bind(added.turns)
            .bind(added.input_tokens)
            .bind(added.output_tokens)
            .bind(added.cost_micro_usd);
        let statement = if let Some(day) = day { statement.bind(day) } else { statement };
        statement.execute(&mut tx.connection).await?;
    }
    Ok(())
}
