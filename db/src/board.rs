//! Use cases of the board: projects, tasks, plans, comments, questions and goals.

pub(crate) mod activity;
pub(crate) mod card;
pub(crate) mod comment;
pub(crate) mod goal;
pub(crate) mod needs_you;
pub(crate) mod plan;
pub(crate) mod project;
pub(crate) mod question;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod review_round;
pub(crate) mod search;
pub(crate) mod statistics;
pub(crate) mod takeover;
pub(crate) mod task;

pub(crate) mod attention {
    pub(crate) mod row;
    pub(crate) mod write;
}
pub(crate) mod dependency {
    pub(crate) mod write;
}
pub(crate) mod finished {
    pub(crate) mod row;
    pub(crate) mod write;
}
