//! Requests about the war room: the agents that are present.

use domain::id::ProjectId;
use domain::warroom::party::PartyMember;
use domain::wire::List;

use super::{Client, Failure, project_path};

impl Client {
    pub(crate) async fn party(self, project: ProjectId) -> Result<List<PartyMember>, Failure> {
        self.get(&project_path(&project, "/party")).await
    }
}
