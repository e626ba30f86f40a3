//! Renders the Markdown of people and agents as HTML without scripts, styles or requests to other servers.
//!
//! Two safeguards: HTML in the text is shown as text, and the result passes a list of allowed elements.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

use ammonia::{Builder, UrlRelative};
use domain::id::TaskId;
use pulldown_cmark::{CowStr, Event, LinkType, Options, Parser, Tag, TagEnd, TextMergeStream, html};

mod autolink;
mod code;

const OPTIONS: Options = Options::ENABLE_TABLES.union(Options::ENABLE_STRIKETHROUGH).union(Options::ENABLE_TASKLISTS);

/// Elements whose direction follows their own text, so that Hebrew is readable below English.
const BLOCKS: [&str; 13] = ["p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "th", "td"];

/// The class of a box of a checklist, which the board shows instead of the bullet.
const CHECK: &str = "check";
const CHECKED: &str = "<span class=\"check\">☑</span> ";
const UNCHECKED: &str = "<span class=\"check\">☐</span> ";

static ALLOWED: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut allowed = Builder::default();
    allowed
        .rm_tags(["img", "map", "area", "figure", "figcaption", "wbr"])
        .url_schemes(HashSet::from(["http", "https", "mailto"]))
        // No other address of this server is useful in a text.
        .url_relative(UrlRelative::Custom(Box::new(task_address)))
        .link_rel(Some("noopener noreferrer"))
        .add_tag_attribute_values("a", "target", ["_blank"])
        .set_tag_attribute_value("a", "target", "_blank")
        .add_allowed_classes("span", code::CLASSES.into_iter().chain([CHECK]));
    for block in BLOCKS {
        allowed.set_tag_attribute_value(block, "dir", "auto");
    }
    // Long lines of code and wide tables are scrolled by keyboard too.
    for scrolled in ["pre", "div"] {
        allowed.set_tag_attribute_value(scrolled, "tabindex", "0");
    }
    allowed
});

/// Renders `text` as safe HTML. Images become links, so that reading a comment sends no request to another server. Addresses and ids of
/// tasks become links too.
pub(crate) fn render(text: &str) -> String {
    // The number of open elements whose text stays as it is: links, and blocks of code.
    let (mut verbatim, mut blocks) = (0_usize, code::CodeBlocks::default());
    let events = TextMergeStream::new(Parser::new_ext(text, OPTIONS)).flat_map(|event| {
        match &event {
            Event::Start(Tag::Link { .. } | Tag::Image { .. } | Tag::CodeBlock(_)) => verbatim += 1,
            Event::End(TagEnd::Link | TagEnd::Image | TagEnd::CodeBlock) => verbatim = verbatim.saturating_sub(1),
            _ => {}
        }
        match &event {
            Event::Start(Tag::CodeBlock(kind)) => blocks.begin(kind),
            Event::Text(text) if blocks.take(text) => return Vec::new(),
            Event::End(TagEnd::CodeBlock) => {
                let end = [event];
                return blocks.end().into_iter().flatten().chain(end).collect();
            }
            _ => {}
        }
        match event {
            Event::Text(text) if verbatim == 0 => autolink::linked(text),
            // A wide table is scrolled in a box of its own.
            Event::Start(Tag::Table(alignment)) => vec![Event::Html(CowStr::Borrowed("<div>")), Event::Start(Tag::Table(alignment))],
            Event::End(TagEnd::Table) => vec![Event::End(TagEnd::Table), Event::Html(CowStr::Borrowed("</div>"))],
            Event::Html(raw) | Event::InlineHtml(raw) => vec![Event::Text(raw)],
            Event::TaskListMarker(done) => vec![Event::InlineHtml(CowStr::Borrowed(if done { CHECKED } else { UNCHECKED }))],
            Event::Start(Tag::Image { dest_url, title, id, .. }) => {
                vec![Event::Start(Tag::Link { link_type: LinkType::Inline, dest_url, title, id })]
            }
            Event::End(TagEnd::Image) => vec![Event::End(TagEnd::Link)],
            other => vec![other],
        }
    });
    let mut page = String::with_capacity(text.len() * 3 / 2);
    html::push_html(&mut page, events);
    ALLOWED.clean(&page).to_string()
}

/// The only address of this server that a text may contain: the page of a task.
fn task_address(address: &str) -> Option<Cow<'_, str>> {
    address.strip_prefix(autolink::TASKS)?.parse::<TaskId>().ok().map(|_| Cow::Borrowed(address))
}

#[cfg(test)]
mod tests;
