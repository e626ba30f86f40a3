//! OpenAPI schemas for types that are strings in JSON.

/// Describes `$type` as a string in the OpenAPI document.
macro_rules! string_schema {
    ($type:ty, $name:expr, $example:expr) => {
        impl utoipa::PartialSchema for $type {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                let example: String = $example.into();
                utoipa::openapi::ObjectBuilder::new().schema_type(utoipa::openapi::schema::Type::String).examples([example]).into()
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
