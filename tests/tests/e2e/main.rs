//! The integration tests. Each module is one story. It must reach the product only as its users do.

#![expect(clippy::unwrap_used, reason = "a test ends where something unexpected happens")]

mod agents;
mod auth;
mod bad_input;
mod bad_start;
mod browser;
mod chaos;
mod checkpoints;
mod demo;
mod demo_site;
mod drafts;
mod failures;
mod faults;
mod intervention;
mod jail;
mod landing;
mod limits;
mod live;
mod logs;
mod lost_response;
mod minions;
mod newcomer;
mod operations;
mod pages;
mod palette;
mod parking;
mod permissions;
mod pipeline;
mod questions;
mod recovery;
mod report;
mod repository;
mod review;
mod rules;
mod scripted_agent;
mod scripted_model;
mod service;
mod support;
mod tail;
mod team;
mod terminal;
mod unapproved_commits;
mod upgrade;
mod webhook;
