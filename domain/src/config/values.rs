//! The values that a key may have: their form in JSON, and the words for them in the reference and in refusals. Must not know a key.

use crate::vocabulary::vocabulary;

vocabulary! {
    /// The form of a value in JSON.
    Form, "form of a value" {
        String = "string",
        Integer = "integer",
        Number = "number",
        Boolean = "boolean",
        Strings = "list of strings",
        TwoIntegers = "list of two integers",
        Variables = "object of strings",
        Objects = "list of objects",
    }
}

/// The values that a key may have. The texts are Markdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Values {
    pub form: Form,
    /// Whether the value can also be null.
    pub or_null: bool,
    pub unit: &'static str,
    /// The limits, and behind a semicolon what explains them.
    pub allowed: &'static str,
}

pub(super) const fn values(form: Form, unit: &'static str, allowed: &'static str) -> Values {
    Values { form, or_null: false, unit, allowed }
}

pub(super) const fn or_null(form: Form, unit: &'static str, allowed: &'static str) -> Values {
    Values { form, or_null: true, unit, allowed }
}

impl Values {
    /// The type in the reference, as Markdown.
    pub fn to_markdown(self) -> String {
        let end = if self.or_null { " or `null`" } else { "" };
        format!("{}{end}", self.form)
    }

    /// The only values of a name, without the marks of Markdown.
    pub fn choices(self) -> Option<String> {
        let is_closed = self.unit == "name" && self.allowed.starts_with('`');
        is_closed.then(|| self.limits().replace('`', ""))
    }

    /// Completes "expected …".
    pub fn expected(self) -> String {
        let (form, unit, limits) = (self.form, self.unit, self.limits());
        let limits = if limits.contains(" to ") { format!(" from {limits}") } else { format!(" of {limits}") };
        let mut expected = match (form, self.choices()) {
            (_, Some(choices)) => format!("one of {choices}"),
            (Form::Boolean, None) => "true or false".to_owned(),
            (Form::Integer, None) => format!("an {form}{limits}"),
            (Form::Number | Form::TwoIntegers, None) => format!("a {form}{limits}"),
            (Form::Variables, None) => format!("an {form} ({unit})"),
            (Form::String | Form::Strings | Form::Objects, None) => format!("a {form} ({unit})"),
        };
        if self.or_null {
            expected += ", or null";
        }
        expected
    }

    /// The allowed values, without what explains them.
    pub(super) fn limits(self) -> &'static str {
        self.allowed.split(';').next().unwrap_or_default()
    }
}
