//! What every operation of the OpenAPI document has in common: the problem body, and who may ask.
//!
//! Knows no route; they describe themselves where they are written.

use utoipa::Modify;
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{Content, OpenApi, Ref, RefOr, Response, ResponseBuilder};

use crate::routes::{Access, ROUTES};

pub(crate) struct Common;

impl Modify for Common {
    fn modify(&self, document: &mut OpenApi) {
        let components = document.components.get_or_insert_default();
        let token = HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .description(Some("The person's token, from the file beside the database. Browsers send a cookie instead."))
            .build();
        components.add_security_scheme("token", SecurityScheme::Http(token));
        for route in ROUTES {
            let path = documented(route.path);
            let Some(operation) = document.paths.paths.get_mut(&path).and_then(|item| operation(item, route.method)) else { continue };
            // Functions are named within their file; operations need names of their own.
            let noun = operation.tags.as_ref().and_then(|tags| tags.first()).cloned().unwrap_or_default();
            operation.operation_id = operation.operation_id.take().map(|verb| format!("{noun}_{verb}"));
            for response in operation.responses.responses.values_mut() {
                if let RefOr::T(response) = response
                    && response.description.is_empty()
                {
                    response.description = "Done".to_owned();
                }
            }
            operation.responses.responses.insert("default".to_owned(), RefOr::T(problem()));
            if route.access == Access::Person {
                operation.security = Some(vec![SecurityRequirement::new::<_, [&str; 0], &str>("token", [])]);
            }
        }
    }
}

/// OpenAPI has no word for "the rest of the path".
pub(crate) fn documented(path: &str) -> String {
    path.replace("{*", "{")
}

fn operation<'a>(item: &'a mut PathItem, method: &str) -> Option<&'a mut Operation> {
    match method {
        "get" => item.get.as_mut(),
        "post" => item.post.as_mut(),
        "put" => item.put.as_mut(),
        "patch" => item.patch.as_mut(),
        _ => None,
    }
}

fn problem() -> Response {
    let schema = Content::new(Some(Ref::from_schema_name("Problem")));
    ResponseBuilder::new().description("Not done: why, and the next legal step").content("application/problem+json", schema).build()
}
