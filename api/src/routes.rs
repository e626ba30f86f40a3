//! The router and the OpenAPI document, built from one list: the `routes` functions here and of the areas.
//!
//! The files below are named after their noun; each handler reads its request, calls `db` or `repo`, and wraps the answer.

mod board;
mod context;
mod demo;
mod event;
mod health;
mod markdown;
mod metrics;
mod repository;
mod runs;
mod server;
mod sign_in;
mod team;
mod warroom;

use std::sync::LazyLock;

use axum::http::{Method, Uri};
use axum::{Router, middleware};
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::error::Error;
use crate::openapi::{self, Access};
use crate::state::AppState;
use crate::{assets, guard};

/// The document that `/api/openapi.json` serves.
pub(crate) static DOCUMENT: LazyLock<OpenApi> =
    LazyLock::new(|| openapi::document(areas().map(|area| (area.tag, area.access, area.routes.into_openapi()))));

/// Routes that share a tag and a rule of access.
struct Area {
    tag: &'static str,
    access: Access,
    routes: OpenApiRouter<AppState>,
}

/// Every route. The board's files and the mounted router are not routes.
fn areas() -> [Area; 13] {
    [
        Area { tag: "server", access: Access::Any, routes: open_routes() },
        Area { tag: "server", access: Access::Person, routes: server_routes() },
        Area { tag: "server", access: Access::Reader, routes: reader_routes() },
        Area { tag: "board", access: Access::Person, routes: board::routes() },
        Area { tag: "board", access: Access::Owner, routes: board::owner_routes() },
        Area { tag: "runs", access: Access::Person, routes: runs::routes() },
        Area { tag: "runs", access: Access::Owner, routes: runs::owner_routes() },
        Area { tag: "team", access: Access::Any, routes: team::open_routes() },
        Area { tag: "team", access: Access::Person, routes: team::routes() },
        Area { tag: "team", access: Access::Owner, routes: team::owner_routes() },
        Area { tag: "context", access: Access::Person, routes: context::routes() },
        Area { tag: "context", access: Access::Owner, routes: context::owner_routes() },
        Area { tag: "warroom", access: Access::Person, routes: warroom::routes() },
    ]
}

fn open_routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(health::get_health))
        .routes(routes!(sign_in::sign_in))
        .routes(routes!(demo::get_demo_index))
        .routes(routes!(demo::get_demo_file))
}

fn server_routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(repository::probe_repository))
        .routes(routes!(repository::count_uncommitted))
        .routes(routes!(server::get_server))
        .routes(routes!(server::get_settings))
        .routes(routes!(metrics::get_metrics))
        .routes(routes!(server::get_document))
        .routes(routes!(event::list_events))
        .routes(routes!(event::follow_events))
        .routes(routes!(demo::pull_the_plug))
}

/// Requests with a body that change nothing.
fn reader_routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(markdown::render_markdown))
}

/// The whole server: the routes, `mounted` (which passes the same request checks and does its own authentication), and the board's files.
pub fn router(state: AppState, mounted: Router) -> Router {
    // Other devices reach the board and no tools.
    let names = |config| guard::Names { port: state.port, config };
    let check = |names, limit| middleware::from_fn_with_state((names, limit), guard::check_request);
    let (board, tools) = (check(names(Some(state.config.clone())), guard::BODY_LIMIT), check(names(None), guard::MOUNTED_BODY_LIMIT));
    let routes = areas().into_iter().fold(Router::new(), |router, area| {
        let routes = Router::from(area.routes);
        router.merge(match area.access {
            Access::Any => routes,
            access => routes.route_layer(middleware::from_fn_with_state((state.clone(), access), guard::require_person)),
        })
    });
    let routes = routes.method_not_allowed_fallback(method_not_allowed).fallback(assets::page).with_state(state.clone());
    routes.layer(board).merge(mounted.layer(tools))
}

async fn method_not_allowed(method: Method, uri: Uri) -> Error {
    Error::Method { method, path: uri.path().to_owned() }
}
