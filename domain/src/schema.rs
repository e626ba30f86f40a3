//! The macro for OpenAPI schemas of types that are strings in JSON. Must not know any of these types.

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
