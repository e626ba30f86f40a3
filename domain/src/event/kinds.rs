//! The macro that declares the events of a noun. Must not know any noun.

/// Declares the events of a noun, each with its kind on the wire, which never changes after a release. The enum also needs a line in
/// `event.rs`.
///
/// Kinds are matched as `tt`, because the OpenAPI derive does not see a literal that a macro passes on as `literal`.
macro_rules! events {
    ($(#[$doc:meta])* $name:ident {
        $($(#[$variant_doc:meta])* $variant:ident $kind:tt { $($(#[$field_doc:meta])* $field:ident: $type:ty),* $(,)? })+
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, utoipa::ToSchema)]
        #[serde(tag = "kind")]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $kind)] $variant { $($(#[$field_doc])* $field: $type),* },)+
        }

        impl $name {
            pub(crate) const KINDS: &'static [&'static str] = &[$($kind),+];

            pub(crate) const fn kind(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $kind,)+
                }
            }
        }
    };
}

pub(crate) use events;
