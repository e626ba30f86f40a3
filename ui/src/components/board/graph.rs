//! A graph of tasks and their dependencies, in layers: what waits for what.
//!
//! Must not compute positions: `layout` does.

mod layout;

use domain::id::TaskId;
use leptos::prelude::*;
use web_sys::MouseEvent;

use crate::components::badge::card_state::CardState;
use crate::components::glyph::StateGlyph;
use layout::{Layout, Point, layout};

/// A task in the graph.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GraphTask {
    pub(crate) id: TaskId,
    pub(crate) title: String,
    pub(crate) state: CardState,
    pub(crate) depends_on: Vec<TaskId>,
}

/// The size of a node and the space around it, in pixels, along the layers and across them.
#[derive(Debug, Clone, Copy)]
struct Measures {
    along: f64,
    along_gap: f64,
    across: f64,
    across_gap: f64,
    /// Whether layers follow each other from top to bottom instead of from left to right.
    downwards: bool,
}

/// Nodes with titles, for a page of their own.
const WIDE: Measures = Measures { along: 216.0, along_gap: 56.0, across: 44.0, across_gap: 12.0, downwards: false };
/// Nodes with ids, beside a list with the titles.
const NARROW: Measures = Measures { along: 24.0, along_gap: 24.0, across: 88.0, across_gap: 8.0, downwards: true };

impl Measures {
    #[expect(clippy::cast_precision_loss, reason = "numbers of layers fit into f64")]
    fn start(self, layer: usize) -> f64 {
        layer as f64 * (self.along + self.along_gap)
    }

    fn across(self, point: Point) -> f64 {
        point.across * (self.across + self.across_gap)
    }

    /// Width and height of the whole graph.
    fn extent(self, layout: &Layout) -> (f64, f64) {
        let along = (self.start(layout.layers) - self.along_gap).max(0.0);
        let across = (layout.breadth * (self.across + self.across_gap) - self.across_gap).max(0.0);
        if self.downwards { (across, along) } else { (along, across) }
    }

    /// Left, top, width and height of a node.
    fn node(self, point: Point) -> (f64, f64, f64, f64) {
        let (along, across) = (self.start(point.layer), self.across(point));
        if self.downwards { (across, along, self.across, self.along) } else { (along, across, self.along, self.across) }
    }

    /// The path of a line: a curve between layers, and straight past the nodes of a layer between.
    fn path(self, points: &[Point]) -> String {
        let spot = |along: f64, across: f64| if self.downwards { format!("{across:.1} {along:.1}") } else { format!("{along:.1} {across:.1}") };
        let middle = |point: Point| self.across(point) + self.across / 2.0;
        let Some(first) = points.first() else { return String::new() };
        let mut path = format!("M{}", spot(self.start(first.layer) + self.along, middle(*first)));
        for pair in points.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            let (leave, arrive) = (self.start(from.layer) + self.along, self.start(to.layer));
            let half = leave.midpoint(arrive);
            path += &format!("C{} {} {}", spot(half, middle(from)), spot(half, middle(to)), spot(arrive, middle(to)));
            path += &format!("L{}", spot(arrive + self.along, middle(to)));
        }
        path
    }
}

/// The edges between tasks of the graph, by their places in it.
fn edges(tasks: &[GraphTask]) -> Vec<(usize, usize)> {
    let place = |id: &TaskId| tasks.iter().position(|task| task.id == *id);
    let dependencies = |(index, task): (usize, &GraphTask)| task.depends_on.iter().filter_map(|id| Some((place(id)?, index))).collect::<Vec<_>>();
    tasks.iter().enumerate().flat_map(dependencies).collect()
}

/// `pointed` is the task that the pointer or the focus is on, here or elsewhere on the page. `open` receives a pressed node.
#[component]
pub(crate) fn DependencyGraph(
    #[prop(into)] tasks: Signal<Vec<GraphTask>>,
    /// Whether nodes show only ids, from top to bottom.
    #[prop(optional)]
    narrow: bool,
    pointed: RwSignal<Option<TaskId>>,
    /// The address of a task.
    href: Callback<TaskId, String>,
    open: Callback<(TaskId, MouseEvent)>,
) -> impl IntoView {
    let measures = if narrow { NARROW } else { WIDE };
    move || {
        let tasks = tasks.get();
        let edges = edges(&tasks);
        let layout = layout(tasks.len(), &edges);
        let (width, height) = measures.extent(&layout);
        let lines = edges.iter().zip(&layout.edges).filter(|(_, points)| points.len() > 1).map(|((from, to), points)| {
            let ends = [tasks[*from].id.clone(), tasks[*to].id.clone()];
            let is_pointed = move || pointed.with(|pointed| pointed.as_ref().is_some_and(|pointed| ends.contains(pointed)));
            // A line ends at the edge of its last node, so the last segment is cut off.
            let path = measures.path(points);
            let path = path.rfind('L').map_or(path.clone(), |end| path[..end].to_owned());
            view! { <path d=path data-pointed=move || is_pointed().then_some("")></path> }
        });
        let lines = lines.collect_view();
        let nodes = tasks.into_iter().zip(layout.nodes).map(|(task, point)| {
            view! { <GraphNode task=task at=measures.node(point) narrow=narrow pointed=pointed href=href open=open /> }
        });
        view! {
            <div class="graph" class:narrow=narrow style:width=format!("{width}px") style:height=format!("{height}px")>
                <svg width=width.to_string() height=height.to_string() aria-hidden="true">{lines}</svg>
                <ul>{nodes.collect_view()}</ul>
            </div>
        }
    }
}

#[component]
fn GraphNode(
    task: GraphTask,
    at: (f64, f64, f64, f64),
    narrow: bool,
    pointed: RwSignal<Option<TaskId>>,
    href: Callback<TaskId, String>,
    open: Callback<(TaskId, MouseEvent)>,
) -> impl IntoView {
    let GraphTask { id, title, state, depends_on } = task;
    let (left, top, width, height) = at;
    let after = if depends_on.is_empty() {
        String::new()
    } else {
        format!(", after {}", depends_on.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", "))
    };
    let (name, id) = (id.to_string(), StoredValue::new(id));
    let is_pointed = move || pointed.with(|pointed| id.with_value(|id| pointed.as_ref() == Some(id)));
    let point = move |_| pointed.set(Some(id.get_value()));
    // A narrow node has no room for its title.
    let class = if narrow { "visually-hidden" } else { "title" };
    let text = view! { <span class=class>{title.clone()}</span> };
    view! {
        <li style:left=format!("{left:.1}px") style:top=format!("{top:.1}px") style:width=format!("{width}px") style:height=format!("{height}px")>
            <a
                href=href.run(id.get_value())
                title=title
                data-state=state.as_str()
                data-pointed=move || is_pointed().then_some("")
                on:click=move |event| open.run((id.get_value(), event))
                on:pointerenter=point
                on:pointerleave=move |_| pointed.set(None)
                on:focus=move |_| pointed.set(Some(id.get_value()))
            >
                <StateGlyph glyph=state.glyph() tone=state.tone() label=state.label() />
                {text}
                <span class="id">{name}</span>
                <span class="visually-hidden">{after}</span>
            </a>
        </li>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(number: u64, depends_on: &[u64]) -> GraphTask {
        let depends_on = depends_on.iter().map(|number| TaskId::new(*number)).collect();
        GraphTask { id: TaskId::new(number), title: String::new(), state: CardState::Ready, depends_on }
    }

    #[test]
    fn edges_lead_to_dependents_that_are_shown() {
        assert_eq!(edges(&[task(2, &[]), task(3, &[2, 9]), task(4, &[3, 2])]), [(0, 1), (1, 2), (0, 2)]);
    }

    #[test]
    fn lines_begin_after_a_node_and_end_before_the_next() {
        let points = [Point { layer: 0, across: 0.0 }, Point { layer: 1, across: 1.0 }];
        assert_eq!(WIDE.path(&points), "M216.0 22.0C244.0 22.0 244.0 78.0 272.0 78.0L488.0 78.0");
        assert_eq!(NARROW.path(&points), "M44.0 24.0C44.0 36.0 140.0 36.0 140.0 48.0L140.0 72.0");
        assert_eq!(WIDE.path(&[]), "");
    }

    #[test]
    fn extent_holds_every_node() {
        let layout = layout(3, &[(0, 1)]);
        for measures in [WIDE, NARROW] {
            let (width, height) = measures.extent(&layout);
            for point in &layout.nodes {
                let (left, top, own_width, own_height) = measures.node(*point);
                assert!(left >= 0.0 && top >= 0.0 && left + own_width <= width + 0.01 && top + own_height <= height + 0.01, "{point:?}");
            }
        }
    }
}
