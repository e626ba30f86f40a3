//! The layout of a dependency graph in layers: a node lies in the layer after its last dependency, and lines cross as little as possible. Pure.
//!
//! Must not know what a node stands for, nor how it is drawn.

use std::collections::VecDeque;

/// Sweeps over all layers that reduce crossings.
const SWEEPS: usize = 12;
/// Passes that move nodes towards their neighbours.
const PASSES: usize = 6;

/// A place in the graph: the layer, and the position across it. Neighbours in a layer are at least 1 apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    pub(crate) layer: usize,
    pub(crate) across: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Layout {
    /// In the order of the nodes.
    pub(crate) nodes: Vec<Point>,
    /// In the order of the edges: the first node, a point in each layer between, and the last node.
    pub(crate) edges: Vec<Vec<Point>>,
    pub(crate) layers: usize,
    /// The extent across the layers.
    pub(crate) breadth: f64,
}

/// Lays out `count` nodes. An edge leads from a node to one that depends on it; an edge that closes a cycle is not drawn.
pub(crate) fn layout(count: usize, edges: &[(usize, usize)]) -> Layout {
    let depth = depths(count, edges);
    let mut graph = Layers::new(&depth, edges);
    graph.reduce_crossings();
    let across = graph.coordinates();
    let point = |vertex: usize| Point { layer: graph.layer_of[vertex], across: across[vertex] };
    let nodes: Vec<Point> = (0..count).map(point).collect();
    let edges = graph.chains.iter().map(|chain| chain.iter().map(|vertex| point(*vertex)).collect()).collect();
    let breadth = across.iter().fold(0.0_f64, |most, at| most.max(*at)) + if count == 0 { 0.0 } else { 1.0 };
    Layout { nodes, edges, layers: graph.order.len(), breadth }
}

/// The layer of each node: one after the last of its dependencies.
fn depths(count: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let (mut waits_for, mut dependents) = (vec![0_usize; count], vec![Vec::new(); count]);
    for (from, to) in edges.iter().filter(|(from, to)| from != to) {
        waits_for[*to] += 1;
        dependents[*from].push(*to);
    }
    let mut depth = vec![0; count];
    let mut ready: VecDeque<usize> = (0..count).filter(|node| waits_for[*node] == 0).collect();
    while let Some(node) = ready.pop_front() {
        for dependent in &dependents[node] {
            depth[*dependent] = depth[*dependent].max(depth[node] + 1);
            waits_for[*dependent] -= 1;
            if waits_for[*dependent] == 0 {
                ready.push_back(*dependent);
            }
        }
    }
    depth
}

/// The vertices of all layers: the nodes, and a bend for each layer that an edge passes.
struct Layers {
    layer_of: Vec<usize>,
    /// The vertices of each layer in order.
    order: Vec<Vec<usize>>,
    /// The vertices of each edge.
    chains: Vec<Vec<usize>>,
    before: Vec<Vec<usize>>,
    after: Vec<Vec<usize>>,
}

impl Layers {
    fn new(depth: &[usize], edges: &[(usize, usize)]) -> Self {
        let mut layers = Self {
            layer_of: depth.to_vec(),
            order: vec![Vec::new(); depth.iter().map(|layer| layer + 1).max().unwrap_or(0)],
            chains: Vec::with_capacity(edges.len()),
            before: vec![Vec::new(); depth.len()],
            after: vec![Vec::new(); depth.len()],
        };
        for (node, layer) in depth.iter().enumerate() {
            layers.order[*layer].push(node);
        }
        for (from, to) in edges {
            let chain = layers.chain(*from, *to);
            layers.chains.push(chain);
        }
        layers
    }

    /// Connects two nodes through a bend in each layer between them.
    fn chain(&mut self, from: usize, to: usize) -> Vec<usize> {
        if self.layer_of[from] >= self.layer_of[to] {
            return Vec::new();
        }
        let mut chain = vec![from];
        for layer in self.layer_of[from] + 1..self.layer_of[to] {
            let bend = self.layer_of.len();
            self.layer_of.push(layer);
            self.order[layer].push(bend);
            self.before.push(Vec::new());
            self.after.push(Vec::new());
            chain.push(bend);
        }
        chain.push(to);
        for pair in chain.windows(2) {
            self.after[pair[0]].push(pair[1]);
            self.before[pair[1]].push(pair[0]);
        }
        chain
    }

    /// Sorts every layer by the mean position of its neighbours in the layer before it, then after it, and keeps the best order.
    fn reduce_crossings(&mut self) {
        let mut best = (self.crossings(), self.order.clone());
        for sweep in 0..SWEEPS {
            let forwards = sweep % 2 == 0;
            let layers: Vec<usize> = if forwards { (1..self.order.len()).collect() } else { (0..self.order.len().saturating_sub(1)).rev().collect() };
            for layer in layers {
                self.sort_layer(layer, forwards);
            }
            let crossings = self.crossings();
            if crossings < best.0 {
                best = (crossings, self.order.clone());
            }
        }
        self.order = best.1;
    }

    fn sort_layer(&mut self, layer: usize, forwards: bool) {
        let places = self.places();
        let neighbours = if forwards { &self.before } else { &self.after };
        let mean = |vertex: &usize| mean(neighbours[*vertex].iter().map(|other| places[*other])).unwrap_or(places[*vertex]);
        self.order[layer].sort_by(|one, other| mean(one).total_cmp(&mean(other)));
    }

    /// The place of every vertex in its layer.
    #[expect(clippy::cast_precision_loss, reason = "numbers of tasks fit into f64")]
    fn places(&self) -> Vec<f64> {
        let mut places = vec![0.0; self.layer_of.len()];
        for layer in &self.order {
            layer.iter().enumerate().for_each(|(place, vertex)| places[*vertex] = place as f64);
        }
        places
    }

    fn crossings(&self) -> usize {
        let places = self.places();
        let crossings_after = |layer: &Vec<usize>| {
            let lines: Vec<(f64, f64)> = layer.iter().flat_map(|from| self.after[*from].iter().map(|to| (places[*from], places[*to]))).collect();
            let crosses = |one: &(f64, f64), other: &(f64, f64)| (one.0 - other.0) * (one.1 - other.1) < 0.0;
            lines.iter().enumerate().map(|(index, one)| lines[index + 1..].iter().filter(|other| crosses(one, other)).count()).sum::<usize>()
        };
        self.order.iter().map(crossings_after).sum()
    }

    /// Moves the vertices of each layer towards their neighbours, without changing their order.
    fn coordinates(&self) -> Vec<f64> {
        let mut across = self.places();
        for pass in 0..PASSES {
            let layers: Vec<usize> = if pass % 2 == 0 { (0..self.order.len()).collect() } else { (0..self.order.len()).rev().collect() };
            for layer in layers {
                let wanted: Vec<f64> = self.order[layer]
                    .iter()
                    .map(|vertex| {
                        mean(self.before[*vertex].iter().chain(&self.after[*vertex]).map(|other| across[*other])).unwrap_or(across[*vertex])
                    })
                    .collect();
                for (vertex, at) in self.order[layer].iter().zip(spread(&wanted)) {
                    across[*vertex] = at;
                }
            }
        }
        let least = across.iter().copied().fold(f64::INFINITY, f64::min);
        across.iter().map(|at| at - least).collect()
    }
}

/// The nearest positions to the wanted ones that are at least 1 apart and in the same order.
fn spread(wanted: &[f64]) -> Vec<f64> {
    let mut placed: Vec<f64> = Vec::with_capacity(wanted.len());
    for want in wanted {
        let least = placed.last().map_or(f64::NEG_INFINITY, |last| last + 1.0);
        placed.push(want.max(least));
    }
    // Pushing apart moved all in one direction.
    let moved = mean(placed.iter().zip(wanted).map(|(placed, wanted)| placed - wanted)).unwrap_or(0.0);
    placed.iter().map(|at| at - moved).collect()
}

#[expect(clippy::cast_precision_loss, reason = "numbers of tasks fit into f64")]
fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0_usize, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0).then(|| sum / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crossings(layout: &Layout) -> usize {
        let lines: Vec<(Point, Point)> = layout.edges.iter().flat_map(|edge| edge.windows(2).map(|pair| (pair[0], pair[1]))).collect();
        let crosses = |one: &(Point, Point), other: &(Point, Point)| {
            one.0.layer == other.0.layer && (one.0.across - other.0.across) * (one.1.across - other.1.across) < 0.0
        };
        lines.iter().enumerate().map(|(index, one)| lines[index + 1..].iter().filter(|other| crosses(one, other)).count()).sum()
    }

    fn is_spaced(layout: &Layout) -> bool {
        let points: Vec<Point> = layout.nodes.to_vec();
        points
            .iter()
            .enumerate()
            .all(|(index, one)| points[index + 1..].iter().all(|other| one.layer != other.layer || (one.across - other.across).abs() > 0.99))
    }

    #[test]
    fn node_lies_after_its_last_dependency() {
        let layout = layout(4, &[(0, 1), (1, 2), (0, 2), (3, 2)]);
        assert_eq!(layout.nodes.iter().map(|node| node.layer).collect::<Vec<_>>(), [0, 1, 2, 0]);
        assert_eq!((layout.layers, layout.edges.iter().map(Vec::len).collect::<Vec<_>>()), (3, vec![2, 2, 3, 3]), "long edges bend in each layer");
        assert!(is_spaced(&layout));
    }

    #[test]
    fn crossings_are_removed_where_an_order_without_them_exists() {
        // Every task depends on one that is at the other end of the layer before it.
        let edges = [(0, 5), (1, 4), (2, 3), (5, 6), (4, 7), (3, 8)];
        let layout = layout(9, &edges);
        assert_eq!(crossings(&layout), 0);
        assert!(is_spaced(&layout));
        // The plan of the visual reference: nodes 0 to 8.
        let plan = [(0, 3), (1, 3), (1, 4), (2, 4), (1, 5), (3, 6), (4, 7), (4, 8), (6, 8)];
        let layout = super::layout(9, &plan);
        assert!(crossings(&layout) <= 1, "{layout:?}");
        assert!(is_spaced(&layout));
    }

    #[test]
    fn straight_chain_is_straight() {
        let layout = layout(3, &[(0, 1), (1, 2)]);
        assert!(layout.nodes.iter().all(|node| node.across.abs() < 1e-9), "{layout:?}");
        assert!((layout.breadth - 1.0).abs() < 1e-9);
    }

    #[test]
    fn empty_graphs_and_cycles_are_laid_out() {
        assert_eq!(layout(0, &[]), Layout { nodes: Vec::new(), edges: Vec::new(), layers: 0, breadth: 0.0 });
        let cycle = layout(3, &[(0, 1), (1, 2), (2, 1), (2, 2)]);
        assert_eq!(cycle.nodes.len(), 3);
        assert!(cycle.edges.iter().all(|edge| edge.is_empty() || edge.windows(2).all(|pair| pair[0].layer + 1 == pair[1].layer)));
        assert!(is_spaced(&cycle));
        let apart = layout(4, &[]);
        assert_eq!((apart.layers, apart.breadth), (1, 4.0));
    }

    #[test]
    fn layout_is_the_same_for_the_same_graph() {
        let edges: Vec<(usize, usize)> = (0..120).map(|number| (number % 37, 37 + (number * 7) % 60)).collect();
        let first = layout(97, &edges);
        assert_eq!(first, layout(97, &edges));
        assert!(is_spaced(&first));
    }
}
