//! Markdown as HTML, for previews and for texts that are part of a larger answer.

use axum::Json;
use domain::refusal::Refusal;
use domain::wire::{MarkdownTexts, RenderedTexts};

use crate::error::Result;
use crate::extract::Body;
use crate::markdown;

/// One request renders at most this many texts.
const MAX_TEXTS: usize = 200;

/// Render texts as sanitized HTML, in their order
#[utoipa::path(post, path = "/api/markdown", request_body = MarkdownTexts, responses((status = 200, body = RenderedTexts)))]
pub(crate) async fn render_markdown(Body(given): Body<MarkdownTexts>) -> Result<Json<RenderedTexts>> {
    if given.texts.len() > MAX_TEXTS {
        return Err(Refusal::invalid("texts", format!("there are more than {MAX_TEXTS}"), "Send them in several requests.").into());
    }
    Ok(Json(RenderedTexts { html: given.texts.iter().map(|text| markdown::render(text)).collect() }))
}
