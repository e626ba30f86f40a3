//! Tests of projects, tasks, plans, comments, questions, review gates and goals.

mod activity;
mod card;
mod comment;
mod gate;
mod gate_fold;
mod gate_table;
mod goal;
mod needs_you;
mod order;
mod plan;
mod project;
mod question;
mod report;
mod retry;
mod review;
mod round;
mod search;
mod summary;
mod takeover;
mod task_assign;
mod task_create;
mod task_edit;
mod task_move;
mod unresponsive;
