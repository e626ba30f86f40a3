//! The one list of routes: the router, the OpenAPI document and the attack tests are made from it, so none can miss one.
//!
//! The files below it are named after the noun; each function reads its request, asks `db` or `repo`, and wraps the answer.

mod agent;
mod card;
mod comment;
mod contract;
mod demo;
mod event;
mod gate;
mod goal;
mod handshake;
mod hat;
mod health;
mod land;
mod message;
mod plan;
mod project;
mod question;
mod repository;
mod run;
mod server;
mod sign_in;
mod spawn;
mod task;

use axum::http::{Method, Uri};
use axum::{Router, middleware};

use crate::error::Error;
use crate::openapi::Common;
use crate::state::AppState;
use crate::{assets, guard};

/// Who may ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Anybody who reaches the server under its own name.
    Open,
    /// The person, by token or cookie.
    Person,
}

/// One address with one method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// In lower case, as OpenAPI writes it.
    pub method: &'static str,
    /// With `{…}` where something is to be filled in.
    pub path: &'static str,
    pub access: Access,
}

macro_rules! routes {
    (
        open { $($open_method:ident $open_path:literal $open_noun:ident::$open_verb:ident)+ }
        person { $($method:ident $path:literal $noun:ident::$verb:ident)+ }
    ) => {
        /// Every route. The board's files, and what is mounted beside, are no routes.
        pub const ROUTES: &[Route] = &[
            $(Route { method: stringify!($open_method), path: $open_path, access: Access::Open },)+
            $(Route { method: stringify!($method), path: $path, access: Access::Person },)+
        ];

        fn open() -> Router<AppState> {
            Router::new()$(.route($open_path, axum::routing::$open_method($open_noun::$open_verb)))+
        }

        fn person() -> Router<AppState> {
            Router::new()$(.route($path, axum::routing::$method($noun::$verb)))+
        }

        /// The interface as an OpenAPI document.
        #[derive(utoipa::OpenApi)]
        #[openapi(
            info(title = "vibe-relay", description = "The board as its page and scripts see it."),
            paths($($open_noun::$open_verb,)+ $($noun::$verb,)+),
            components(schemas(domain::wire::Problem, domain::wire::Frame)),
            modifiers(&Common)
        )]
        pub(crate) struct Document;
    };
}

routes! {
    open {
        get "/api/health" health::health
        get "/sign-in" sign_in::sign_in
        get "/demo/site/" demo::index
        get "/demo/site/{*path}" demo::file
    }
    person {
        get "/api/projects" project::list
        post "/api/projects" project::create
        get "/api/projects/{id}" project::show
        patch "/api/projects/{id}" project::edit
        get "/api/projects/{id}/board" project::board
        get "/api/projects/{id}/cards" card::list
        post "/api/projects/{id}/tasks" task::create
        post "/api/projects/{id}/plan/approve" plan::approve
        post "/api/projects/{id}/plan/revise" plan::revise
        post "/api/projects/{id}/land" land::land
        get "/api/projects/{id}/agents" agent::list
        post "/api/projects/{id}/agents/remove" agent::remove
        post "/api/projects/{id}/tokens" agent::token
        post "/api/projects/{id}/room-token" agent::room_token
        get "/api/projects/{id}/messages" message::list
        post "/api/projects/{id}/messages" message::create
        get "/api/projects/{id}/inbox" message::inbox
        post "/api/projects/{id}/inbox/read" message::read
        get "/api/projects/{id}/goals" goal::list
        post "/api/projects/{id}/goals" goal::create
        get "/api/goals/{id}" goal::show
        post "/api/goals/{id}/verify" goal::verify
        get "/api/projects/{id}/handshakes" handshake::list
        post "/api/projects/{id}/handshakes" handshake::create
        post "/api/handshakes/{id}/acknowledge" handshake::acknowledge
        get "/api/projects/{id}/contracts" contract::list
        post "/api/projects/{id}/contracts" contract::create
        get "/api/contracts/{id}/versions" contract::versions
        get "/api/projects/{id}/spawn-policies" spawn::policies
        put "/api/projects/{id}/spawn-policies" spawn::set
        get "/api/projects/{id}/minions" spawn::minions
        get "/api/projects/{id}/hats" hat::list
        get "/api/tasks/{id}" task::show
        patch "/api/tasks/{id}" task::change
        post "/api/tasks/{id}/start" task::start
        post "/api/tasks/{id}/retry" task::retry
        post "/api/tasks/{id}/stop" task::stop
        post "/api/tasks/{id}/cancel" task::cancel
        post "/api/tasks/{id}/answer" question::answer
        post "/api/tasks/{id}/assign" gate::assign
        post "/api/tasks/{id}/approve" gate::approve
        post "/api/tasks/{id}/verify" gate::verify
        post "/api/tasks/{id}/reject-verification" gate::reject_verification
        post "/api/tasks/{id}/goal" goal::link
        get "/api/tasks/{id}/comments" comment::list
        post "/api/tasks/{id}/comments" comment::create
        get "/api/tasks/{id}/runs" run::list
        get "/api/tasks/{id}/diff" task::diff
        get "/api/runs/{id}" run::show
        get "/api/runs/{id}/output" run::output
        post "/api/runs/{id}/stop" run::stop
        post "/api/runs/{id}/message" run::message
        get "/api/repository" repository::show
        get "/api/server" server::show
        get "/api/events" event::list
        get "/api/ws" event::follow
        get "/api/openapi.json" server::document
        post "/api/demo/pull-the-plug" demo::pull_the_plug
    }
}

/// The whole server: the routes, `mounted` (behind the same door; who may use it is its own business), and the board's files.
pub fn router(state: AppState, mounted: Router) -> Router {
    let door = |limit| middleware::from_fn_with_state((state.port, limit), guard::door);
    let person = person().route_layer(middleware::from_fn_with_state(state.clone(), guard::person));
    let routes = open().merge(person).method_not_allowed_fallback(method_not_allowed).with_state(state.clone());
    routes.fallback(assets::page).layer(door(guard::BODY_LIMIT)).merge(mounted.layer(door(guard::MOUNTED_BODY_LIMIT)))
}

async fn method_not_allowed(method: Method, uri: Uri) -> Error {
    Error::Method { method, path: uri.path().to_owned() }
}
