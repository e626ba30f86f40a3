//! The people of the board, and their tokens.

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use db::Caller;
use domain::team::person::{NewPerson, Person, PersonPatch};
use domain::wire::{CreatedPersonToken, List, NewPersonToken};

use crate::error::Result;
use crate::extract::{Body, NoBody, NumericId, OptionalBody};
use crate::state::AppState;

/// List the persons of the board, the owner first
#[utoipa::path(get, path = "/api/persons", responses((status = 200, body = List<Person>)))]
pub(crate) async fn list_persons(State(state): State<AppState>) -> Result<Json<List<Person>>> {
    Ok(Json(List { items: state.db.persons().await?, next: None }))
}

/// Add a person, or restore one who was removed
#[utoipa::path(post, path = "/api/persons", request_body = NewPerson, responses((status = 201, body = Person)))]
pub(crate) async fn add_person(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Body(new): Body<NewPerson>,
) -> Result<(StatusCode, Json<Person>)> {
    Ok((StatusCode::CREATED, Json(state.db.add_person(&caller, new).await?)))
}

/// Change the role of a person
///
/// It applies at once. The token and the browser sessions of the person stay valid.
#[utoipa::path(
    patch,
    path = "/api/persons/{id}",
    params(("id" = i64, Path, minimum = 1)),
    request_body = PersonPatch,
    responses((status = 200, body = Person))
)]
pub(crate) async fn change_person_role(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    NumericId(person): NumericId,
    Body(patch): Body<PersonPatch>,
) -> Result<Json<Person>> {
    Ok(Json(state.db.change_person_role(&caller, person, patch.role).await?))
}

/// Remove a person
///
/// What the person did keeps their name.
#[utoipa::path(
    delete,
    path = "/api/persons/{id}",
    params(("id" = i64, Path, minimum = 1)),
    responses((status = 204, description = "The token and the browser sessions of the person are revoked, and their connections closed."))
)]
pub(crate) async fn remove_person(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    NumericId(person): NumericId,
    _: NoBody,
) -> Result<StatusCode> {
    state.db.remove_person(&caller, person).await?;
    state.sign_in.revoke(person);
    Ok(StatusCode::NO_CONTENT)
}

/// Create a person's token, and a link that signs their browser in
///
/// An earlier token of the person is revoked, and their browsers are signed out.
#[utoipa::path(
    post,
    path = "/api/persons/{id}/token",
    params(("id" = i64, Path, minimum = 1)),
    request_body(content = NewPersonToken, description = "May be empty"),
    responses((status = 201, body = CreatedPersonToken))
)]
pub(crate) async fn create_person_token(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    NumericId(person): NumericId,
    OptionalBody(given): OptionalBody<NewPersonToken>,
) -> Result<(StatusCode, Json<CreatedPersonToken>)> {
    let token = state.db.create_person_token(&caller, person, given).await?;
    Ok((StatusCode::CREATED, Json(CreatedPersonToken { token, sign_in_link: state.sign_in.link(state.port, person) })))
}
