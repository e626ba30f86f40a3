//! Tests of the store: one file a noun, each on a database of its own. They know no repository: evidence is made up.

mod call;
mod comment;
mod coverage;
mod feed;
mod fence;
mod fold;
mod merge;
mod message;
mod open;
mod park;
mod plan;
mod project;
mod question;
mod reference;
mod review;
mod round;
mod run;
mod state;
mod store;
mod task_create;
mod task_edit;
mod task_move;
mod token;
mod writer;
