//! Pages of the area *board*.

pub(crate) mod activity;
pub(crate) mod all_tasks;
pub(crate) mod charts;
pub(crate) mod goal;
pub(crate) mod graph;
pub(crate) mod needs_you;
pub(crate) mod plan;
pub(crate) mod project;
pub(crate) mod project_list;
pub(crate) mod replay;
pub(crate) mod review;
pub(crate) mod task;
