//! The board's nouns: projects, tasks and their cards, comments, questions, goals, and the legal moves.

pub mod activity;
pub mod attention;
pub mod card;
pub mod comment;
pub mod dependency;
pub mod flow;
pub mod goal;
pub mod needs_you;
pub mod order;
pub mod plan;
pub mod planned_files;
pub mod project;
pub mod question;
pub mod reducer;
pub mod replay;
pub mod report;
pub mod review;
pub mod review_round;
pub mod search;
pub mod stage;
pub mod statistics;
pub mod status;
pub mod takeover;
pub mod task;
pub mod transition;
pub mod wait_reason;
