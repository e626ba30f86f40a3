//! Completes the OpenAPI document: title, tags, security, and the failures that follow from the shape of an operation.
//!
//! Knows no route; handlers describe their success, and the failures that only they can cause.

use utoipa::OpenApi as _;
use utoipa::openapi::path::{HttpMethod, Operation, ParameterIn, PathItem};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{Content, OpenApi, Ref, RefOr, Response};

/// The callers that a route is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Anyone who reaches the server under its own name.
    Any,
    /// Persons, by token or session: all may read, and those who may work on boards may do the rest.
    Person,
    /// Persons of every role, because the route changes nothing, whatever its method.
    Reader,
    /// The owner alone.
    Owner,
}

const TAGS: [(&str, &str); 6] = [
    ("server", "The server itself, its repository, the event log and signing in."),
    ("board", "Projects, plans, tasks, their threads, review gates and goals."),
    ("runs", "Processes of agents, their output, and landing."),
    ("team", "Persons, agents and their tokens, browser sessions, messages, handshakes, contracts, hats and minions."),
    ("context", "Context sessions with their messages, and the memory of agents."),
    ("warroom", "Claims of files, battle plans, the raid log, and the agents that are present with the context that each has left."),
];

#[derive(utoipa::OpenApi)]
#[openapi(
    info(title = "vibe-relay", description = "The board as its page and scripts see it."),
    components(schemas(domain::wire::Problem, domain::wire::Frame))
)]
struct Base;

/// One document of the operations of all areas, each with its tag and access.
pub(crate) fn document(areas: impl IntoIterator<Item = (&'static str, Access, OpenApi)>) -> OpenApi {
    let mut document = Base::openapi();
    document.tags = Some(TAGS.map(|(name, description)| TagBuilder::new().name(name).description(Some(description)).build()).to_vec());
    let token = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("A person's token: the owner's is in the file beside the database. Browsers send the cookie of a session and its key (`Vibe-Relay-Session-Key`) instead."))
        .build();
    document.components.get_or_insert_default().add_security_scheme("token", SecurityScheme::Http(token));
    for (tag, access, mut area) in areas {
        let paths = std::mem::take(&mut area.paths.paths);
        area.paths.paths = paths.into_iter().map(|(path, item)| (documented(&path), item)).collect();
        for item in area.paths.paths.values_mut() {
            for (method, operation) in operations(item) {
                complete(operation, method, tag, access);
            }
        }
        document.merge(area);
    }
    document
}

/// OpenAPI has no notation for "the rest of the path".
fn documented(path: &str) -> String {
    path.replace("{*", "{")
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = (HttpMethod, &mut Operation)> {
    let methods = [
        (HttpMethod::Get, &mut item.get),
        (HttpMethod::Post, &mut item.post),
        (HttpMethod::Put, &mut item.put),
        (HttpMethod::Patch, &mut item.patch),
        (HttpMethod::Delete, &mut item.delete),
    ];
    methods.into_iter().filter_map(|(method, operation)| Some((method, operation.as_mut()?)))
}

fn complete(operation: &mut Operation, method: HttpMethod, tag: &str, access: Access) {
    operation.tags = Some(vec![tag.to_owned()]);
    if access != Access::Any {
        operation.security = Some(vec![SecurityRequirement::new::<_, [&str; 0], &str>("token", [])]);
    }
    for status in failures(operation, method, access) {
        operation.responses.responses.entry(status.to_string()).or_insert_with(|| RefOr::T(Response::default()));
    }
    for (status, response) in &mut operation.responses.responses {
        let RefOr::T(response) = response else { continue };
        if response.description.is_empty() {
            response.description = meaning(status).to_owned();
        }
        if status.as_str() >= "400" && response.content.is_empty() {
            let problem = RefOr::T(Content::new(Some(Ref::from_schema_name("Problem"))));
            response.content.insert("application/problem+json".to_owned(), problem);
        }
    }
}

/// The statuses of failures that any operation of this shape can answer.
fn failures(operation: &Operation, method: HttpMethod, access: Access) -> Vec<u16> {
    // Address, host and origin, announced length.
    let mut statuses = vec![400, 403, 413];
    if access != Access::Any {
        // The store looks the token up.
        statuses.extend([401, 429, 500, 503]);
    }
    if method != HttpMethod::Get {
        statuses.extend([415, 422, 507]);
    }
    for parameter in operation.parameters.iter().flatten() {
        let RefOr::T(parameter) = parameter else { continue };
        statuses.push(if parameter.parameter_in == ParameterIn::Path { 404 } else { 422 });
    }
    statuses
}

fn meaning(status: &str) -> &'static str {
    match status {
        "200" => "OK",
        "201" => "Created",
        "400" => "The address or the body is malformed.",
        "401" => "The request has no valid token.",
        "403" => "The host, the origin or the caller is not allowed.",
        "404" => "The addressed object does not exist.",
        "413" => "The body is too large.",
        "415" => "The body is not JSON.",
        "422" => "The request is well-formed but cannot be carried out: a value is invalid, or the board's state does not allow it.",
        "429" => "The caller has to wait as long as `Retry-After` says.",
        "500" => "The server failed; its log has the cause.",
        "503" => "The server is shutting down.",
        "507" => "The disk of the database is full.",
        _ => "See the body.",
    }
}
