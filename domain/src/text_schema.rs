//! OpenAPI schemas for texts from the human and from agents, with their limits.
//!
//! Must not define a limit: limits are defined where they are enforced.

use crate::schema::string_schema;
use crate::team::agent::MAX_NAME_BYTES;
use crate::text::{BODY_BYTES, TITLE_BYTES};

/// A title, for `#[schema(value_type = …)]`.
pub(crate) enum Title {}

string_schema!(Title, "Title", "One line of text, at most 500 bytes in UTF-8.", "Add a footer", min_length = 1, max_length = TITLE_BYTES);

/// A text that must not be blank, for `#[schema(value_type = …)]`.
pub(crate) enum Body {}

string_schema!(
    Body,
    "Body",
    "Text without the character U+0000, at most 64 KiB in UTF-8; Markdown is rendered.",
    "Use the colours of the header.",
    min_length = 1,
    max_length = BODY_BYTES
);

/// A text that can be blank, for `#[schema(value_type = …)]`. A blank text counts as missing.
pub(crate) enum OptionalBody {}

string_schema!(
    OptionalBody,
    "OptionalBody",
    "Text without the character U+0000, at most 64 KiB in UTF-8; a blank text counts as missing.",
    "At the **end** of the page.",
    max_length = BODY_BYTES
);

/// The full or short name of a participant, for `#[schema(value_type = …)]`.
pub(crate) enum ParticipantName {}

string_schema!(
    ParticipantName,
    "ParticipantName",
    "Name of a participant, after its team if it has one: `platform/mara`. A unique short name is enough.",
    "mara",
    min_length = 1,
    max_length = MAX_NAME_BYTES
);
