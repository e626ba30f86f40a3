//! The parts that pages are made of.

pub(crate) mod attempts;
pub(crate) mod badge;
pub(crate) mod card;
pub(crate) mod coded;
pub(crate) mod column;
pub(crate) mod comment_thread;
pub(crate) mod composer;
pub(crate) mod dialog;
pub(crate) mod diff_view;
pub(crate) mod help;
pub(crate) mod icon;
pub(crate) mod menu;
pub(crate) mod new_project;
pub(crate) mod new_task;
pub(crate) mod project_head;
pub(crate) mod question;
pub(crate) mod run_log;
pub(crate) mod task_actions;
pub(crate) mod task_details;
pub(crate) mod task_form;
pub(crate) mod task_panel;
pub(crate) mod toast;
pub(crate) mod top_bar;
