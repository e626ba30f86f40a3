//! The one integration test program: each module is one story. It must reach the product only as its users do.

#![expect(clippy::unwrap_used, reason = "a test ends where something unexpected happens")]

mod agents;
mod asking;
mod bad_input;
mod bad_start;
mod browser;
mod demo;
mod demo_site;
mod door;
mod failing;
mod foreign;
mod intervention;
mod landing;
mod live;
mod lost_answer;
mod minions;
mod parking;
mod pipeline;
mod recovery;
mod scene;
mod scripted_agent;
mod scripted_model;
mod tail;
mod team;
