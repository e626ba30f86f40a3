//! The server as its clients see it, most of it without a socket.

mod attack;
mod bench;
mod land;
mod live;
mod page;
mod repository;
mod story;
mod team;
