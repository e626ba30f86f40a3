//! Checks responses against the OpenAPI document that the server serves, for tests in this crate and over HTTP.
//!
//! Knows nothing but the document: no route, no handler and no type of the domain.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use jsonschema::{Draft, Validator};
use serde_json::Value;

/// One response, and the request that it answers.
#[derive(Debug, Clone, Copy)]
pub struct Response<'a> {
    pub method: &'a str,
    /// The path, with or without a query string.
    pub path: &'a str,
    pub status: u16,
    /// The `Content-Type` header, empty if missing.
    pub content_type: &'a str,
    pub body: &'a [u8],
}

/// Validates responses against a document.
#[derive(Debug)]
pub struct ResponseValidator {
    document: Value,
    operations: Vec<Operation>,
    /// Compiled schemas by their place in the document.
    schemas: Mutex<HashMap<String, Arc<Validator>>>,
    /// Schemas with bodies that fit them, because tests receive the same refusal many times.
    fitting: Mutex<HashSet<(String, Vec<u8>)>>,
    validated: AtomicUsize,
}

impl ResponseValidator {
    pub fn new(document: Value) -> Self {
        let paths = document["paths"].as_object().into_iter().flatten();
        let operations = paths.flat_map(|(path, item)| item.as_object().into_iter().flatten().map(|(method, _)| Operation::new(method, path)));
        let mut operations: Vec<Operation> = operations.collect();
        // Fixed segments take precedence over parameters.
        operations.sort_by_key(|operation| operation.segments.iter().filter(|segment| segment.is_none()).count());
        Self { document, operations, schemas: Mutex::default(), fitting: Mutex::default(), validated: AtomicUsize::new(0) }
    }

    /// The number of responses that were validated against an operation.
    pub fn validated(&self) -> usize {
        self.validated.load(Ordering::Relaxed)
    }

    /// Checks the status, the content type and the body. Addresses below `/api` without an operation must answer with a problem; other
    /// addresses without one, like the board's files, are not described and pass.
    ///
    /// # Errors
    /// A sentence that says how the response differs from the document.
    pub fn check(&self, response: Response<'_>) -> Result<(), String> {
        let address = response.path.split('?').next().unwrap_or_default();
        let describe = |problem: String| format!("{} {} answered {}: {problem}", response.method, response.path, response.status);
        match self.operations.iter().find(|operation| operation.matches(response.method, address)) {
            Some(operation) => {
                self.check_operation(&operation.pointer, response).map_err(describe)?;
                self.validated.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
            None if address.starts_with("/api/") => self.check_schema("/components/schemas/Problem", response.body).map_err(describe),
            None => Ok(()),
        }
    }

    fn check_operation(&self, operation: &str, response: Response<'_>) -> Result<(), String> {
        let place = format!("{operation}/responses/{}", response.status);
        let documented = self.document.pointer(&place).ok_or("the status is not documented")?;
        // The connection leaves HTTP, or a header says everything.
        if response.status == 101 || response.method.eq_ignore_ascii_case("head") {
            return Ok(());
        }
        let Some(content) = documented["content"].as_object().filter(|content| !content.is_empty()) else {
            return if response.body.is_empty() { Ok(()) } else { Err("the document has no body for it".to_owned()) };
        };
        let given = response.content_type.split(';').next().unwrap_or_default().trim();
        let media = content.keys().find(|media| *media == "*/*" || media.eq_ignore_ascii_case(given));
        let media = media.ok_or_else(|| format!("the content type {given:?} is not documented"))?;
        if media.ends_with("json") { self.check_schema(&format!("{place}/content/{}/schema", escape(media)), response.body) } else { Ok(()) }
    }

    /// Checks a frame of the WebSocket.
    ///
    /// # Errors
    /// A sentence that says how the frame differs from the document.
    pub fn check_frame(&self, frame: &str) -> Result<(), String> {
        self.check_component("Frame", frame.as_bytes())
    }

    /// Checks JSON against a schema of the document.
    ///
    /// # Errors
    /// A sentence that says how it differs.
    pub fn check_component(&self, name: &str, body: &[u8]) -> Result<(), String> {
        self.check_schema(&format!("/components/schemas/{name}"), body)
    }

    fn check_schema(&self, place: &str, body: &[u8]) -> Result<(), String> {
        let key = (place.to_owned(), body.to_owned());
        if self.fitting.lock().unwrap_or_else(PoisonError::into_inner).contains(&key) {
            return Ok(());
        }
        let body: Value = serde_json::from_slice(body).map_err(|error| format!("the body is not valid JSON: {error}"))?;
        let schema = self.schema(place)?;
        let errors: Vec<String> = schema.iter_errors(&body).take(5).map(|error| format!("{}: {error}", error.instance_path())).collect();
        if !errors.is_empty() {
            return Err(format!("{}\n{body}", errors.join("\n")));
        }
        self.fitting.lock().unwrap_or_else(PoisonError::into_inner).insert(key);
        Ok(())
    }

    fn schema(&self, place: &str) -> Result<Arc<Validator>, String> {
        let mut schemas = self.schemas.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(schema) = schemas.get(place) {
            return Ok(schema.clone());
        }
        let mut root = self.document.pointer(place).cloned().ok_or_else(|| format!("the document has no schema at {place}"))?;
        // References point into the components, so every schema is compiled with them.
        root["components"] = self.document["components"].clone();
        let schema = jsonschema::options().with_draft(Draft::Draft202012).should_validate_formats(true).build(&root);
        let schema = Arc::new(schema.map_err(|error| format!("the schema at {place} is invalid: {error}"))?);
        schemas.insert(place.to_owned(), schema.clone());
        Ok(schema)
    }
}

/// A method at a path of the document.
#[derive(Debug)]
struct Operation {
    method: String,
    /// The path's segments; `None` for a parameter.
    segments: Vec<Option<String>>,
    /// Its place in the document.
    pointer: String,
}

impl Operation {
    fn new(method: &str, path: &str) -> Self {
        let segments = path.split('/').map(|segment| (!segment.starts_with('{')).then(|| segment.to_owned())).collect();
        Self { method: method.to_owned(), segments, pointer: format!("/paths/{}/{method}", escape(path)) }
    }

    fn matches(&self, method: &str, address: &str) -> bool {
        let method = if method.eq_ignore_ascii_case("head") { "get" } else { method };
        let mut given = address.split('/');
        let fits = |expected: &Option<String>| match (expected, given.next()) {
            (Some(expected), Some(given)) => expected == given,
            (None, Some(given)) => !given.is_empty(),
            (_, None) => false,
        };
        self.method.eq_ignore_ascii_case(method) && self.segments.iter().all(fits) && given.next().is_none()
    }
}

/// `segment` as a part of a JSON pointer.
fn escape(segment: &str) -> String {
    segment.replace('~', "~0").replace('/', "~1")
}
