//! OpenAPI schemas for texts: ids, times, and the limits of what people and agents write.
//!
//! The limits themselves are defined where they are enforced; this file only repeats them to readers of the document.

use crate::team::agent::MAX_NAME_BYTES;
use crate::text::{BODY_BYTES, TITLE_BYTES};

/// Describes `$type` as a string in the OpenAPI document, with the given properties of an `ObjectBuilder`.
macro_rules! string_schema {
    ($type:ty, $name:expr, $description:expr, $example:expr $(, $property:ident = $value:expr)*) => {
        impl utoipa::PartialSchema for $type {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                let example: String = $example.into();
                let text = utoipa::openapi::ObjectBuilder::new().schema_type(utoipa::openapi::schema::Type::String);
                text.description(Some($description)).examples([example])$(.$property(Some($value)))*.into()
            }
        }

        impl utoipa::ToSchema for $type {
            fn name() -> std::borrow::Cow<'static, str> {
                std::borrow::Cow::Borrowed($name)
            }
        }
    };
}

pub(crate) use string_schema;

/// The title of something, for `#[schema(value_type = …)]`.
pub(crate) enum Title {}

string_schema!(Title, "Title", "One line of text, at most 500 bytes in UTF-8.", "Add a footer", min_length = 1, max_length = TITLE_BYTES);

/// A text that must not be blank.
pub(crate) enum Body {}

string_schema!(
    Body,
    "Body",
    "Text without the character U+0000, at most 64 KiB in UTF-8; Markdown is rendered.",
    "Use the colours of the header.",
    min_length = 1,
    max_length = BODY_BYTES
);

/// A text that may be blank, which counts as missing.
pub(crate) enum OptionalBody {}

string_schema!(
    OptionalBody,
    "OptionalBody",
    "Text without the character U+0000, at most 64 KiB in UTF-8; a blank text counts as missing.",
    "At the **end** of the page.",
    max_length = BODY_BYTES
);

/// The name of a participant, in full or short.
pub(crate) enum ParticipantName {}

string_schema!(
    ParticipantName,
    "ParticipantName",
    "Name of a participant, with its team in front where it has one: `platform/mara`. A short name is enough where it is unique.",
    "mara",
    min_length = 1,
    max_length = MAX_NAME_BYTES
);
