//! Renders the Markdown of people and agents as HTML without scripts, styles or requests to other servers.
//!
//! Two safeguards: HTML in the text is shown as text, and the result passes a list of allowed elements.

use std::collections::HashSet;
use std::sync::LazyLock;

use ammonia::{Builder, UrlRelative};
use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd, html};

static ALLOWED: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut allowed = Builder::default();
    allowed
        .rm_tags(["img", "map", "area", "figure", "figcaption", "wbr"])
        .url_schemes(HashSet::from(["http", "https", "mailto"]))
        // No address of this server is useful in a text.
        .url_relative(UrlRelative::Deny)
        .link_rel(Some("noopener noreferrer"))
        .add_tag_attribute_values("a", "target", ["_blank"])
        .set_tag_attribute_value("a", "target", "_blank");
    allowed
});

/// Renders `text` as safe HTML. Images become links, so that reading a comment sends no request to another server.
pub(crate) fn render(text: &str) -> String {
    let events = Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH).map(|event| match event {
        Event::Html(raw) | Event::InlineHtml(raw) => Event::Text(raw),
        Event::Start(Tag::Image { dest_url, title, id, .. }) => Event::Start(Tag::Link { link_type: LinkType::Inline, dest_url, title, id }),
        Event::End(TagEnd::Image) => Event::End(TagEnd::Link),
        other => other,
    });
    let mut page = String::with_capacity(text.len() * 3 / 2);
    html::push_html(&mut page, events);
    ALLOWED.clean(&page).to_string()
}

#[cfg(test)]
mod tests;
