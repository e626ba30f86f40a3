//! Events of tasks, from their creation to their verification.

use crate::board::attention::Attention;
use crate::board::status::{HeldBy, Status};
use crate::board::wait_reason::WaitReason;
use crate::event::kinds::events;
use crate::id::GoalId;
use crate::runs::evidence::Sha;
use crate::runs::publication::pull_request::PullRequestState;
use crate::warroom::old_task::OldTask;

events! {
    /// A change of a task.
    TaskEvent {
        Created "task_created" {}
        Edited "task_edited" { fields: Vec<String> }
        Moved "task_moved" { from: Status, to: Status, reason: Option<String> }
        /// A reviewer, a lead or the human approved the commit.
        Approved "task_approved" { sha: Sha }
        /// A newer commit revoked the approval.
        ApprovalVoided "approval_voided" { sha: Sha }
        Merged "task_merged" { sha: Sha }
        Held "task_held" { by: HeldBy }
        Released "task_released" {}
        AttentionRequested "task_needs_you" { attention: Attention }
        AttentionCleared "task_settled" {}
        /// The runner updated why the card has no agent.
        WaitReasonChanged "wait_reason_changed" { wait_reason: Option<WaitReason> }
        Assigned "task_assigned" { to: Option<String> }
        /// The assignee submitted a result.
        SubmissionStored "result_stored" {}
        Verified "task_verified" { by: String }
        /// The session ended before anyone started the task, or a lead decided about the task.
        Aged "task_aged" { old: Option<OldTask> }
        /// Its approved commit was pushed, and is under review as a pull request.
        Published "task_published" { pull_request: String, sha: Sha }
        /// Its pull request was merged on its host, or someone closed it.
        PullRequestEnded "task_pull_request_ended" { pull_request: String, state: PullRequestState }
        /// The task was linked to a goal, or unlinked.
        Linked "task_linked" { goal: Option<GoalId> }
    }
}
