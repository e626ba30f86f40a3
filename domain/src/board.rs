//! The board's nouns: projects, tasks and their cards, plans, comments, questions, goals, and which move is legal.

pub mod attention;
pub mod card;
pub mod comment;
pub mod dependency;
pub mod goal;
pub mod project;
pub mod question;
pub mod reducer;
pub mod stage;
pub mod status;
pub mod task;
pub mod transition;
pub mod wait_reason;
