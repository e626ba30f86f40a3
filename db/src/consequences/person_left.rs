//! A person may no longer take part: handshakes stop waiting for them, and the senders of what they have not read are notified.

use domain::id::ProjectId;

use crate::engine::tx::Tx;
use crate::error::Result;
use crate::team::handshake::write as handshake;
use crate::team::message::{run_end, write};

/// The projects in which a participant has unread messages.
pub(crate) const UNREAD_IN: &str = "SELECT p.id FROM projects p
    WHERE EXISTS (SELECT 1 FROM deliveries d WHERE d.project_id = p.id AND d.recipient = $1 AND d.read_at IS NULL)";

/// Applies what follows when the participant `name` becomes a viewer or is removed.
pub(crate) async fn person_left(tx: &mut Tx, name: &str) -> Result<()> {
    handshake::drop_departed_person(tx, name).await?;
    let projects: Vec<String> = sqlx::query_scalar(UNREAD_IN).bind(name).fetch_all(&mut tx.connection).await?;
    for project in projects {
        let project: ProjectId = project.parse()?;
        run_end::tell_undelivered(tx, &project, None, name).await?;
        write::mark_all_read(tx, &project, name).await?;
    }
    Ok(())
}
