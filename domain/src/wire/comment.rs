//! A comment as pages show it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::board::comment::Comment;

/// A comment with its rendered content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CommentView {
    #[serde(flatten)]
    pub comment: Comment,
    /// The content as sanitized HTML.
    pub content_html: String,
}
