//! The server as its clients see it, mostly without a socket.
//!
//! Every response that a test receives is checked against the OpenAPI document.

mod attack;
mod audit;
mod cookie_jar;
mod idle;
mod land;
mod live;
mod monitoring;
mod oracle;
mod page;
mod pairing;
mod person;
mod pull_request;
mod report;
mod repository;
mod rescue;
mod story;
mod support;
mod team_refusals;
mod token;
mod warroom_enforced;
mod webhook;
