//! Components of the area *board*: projects, tasks, comments, questions, review gates and goals.

pub(crate) mod card;
pub(crate) mod card_facts;
pub(crate) mod column;
pub(crate) mod comment;
pub(crate) mod edit_project;
pub(crate) mod flow;
pub(crate) mod gate;
pub(crate) mod goal_bar;
pub(crate) mod goal_strip;
pub(crate) mod new_goal;
pub(crate) mod new_project;
pub(crate) mod new_task;
pub(crate) mod project_header;
pub(crate) mod question;
pub(crate) mod report;
pub(crate) mod retry;
pub(crate) mod takeover;
pub(crate) mod task_actions;
pub(crate) mod task_composer;
pub(crate) mod task_contributors;
pub(crate) mod task_details;
pub(crate) mod task_form;
pub(crate) mod task_link;
pub(crate) mod task_messages;
pub(crate) mod task_options;
pub(crate) mod task_panel;
