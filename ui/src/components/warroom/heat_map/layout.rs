//! The layout of a treemap: a rectangle for each weight, with an area that is proportional to it and a shape that is near to a square
//! (squarified, after Bruls, Huizing and van Wijk). Pure.
//!
//! Must not know what a weight stands for, nor how it is drawn.

/// A part of the drawing.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Rectangle {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// Divides an area among `weights`, in their order. A weight that is not above zero gets a rectangle without an area.
pub(super) fn layout(weights: &[f64], width: f64, height: f64) -> Vec<Rectangle> {
    let mut places = vec![Rectangle::default(); weights.len()];
    let total: f64 = weights.iter().filter(|weight| **weight > 0.0).sum();
    if total <= 0.0 || width <= 0.0 || height <= 0.0 {
        return places;
    }
    // The largest first. A stable sort leaves equal ones in their order.
    let mut order: Vec<usize> = (0..weights.len()).filter(|index| weights[*index] > 0.0).collect();
    order.sort_by(|one, other| weights[*other].total_cmp(&weights[*one]));
    let areas: Vec<f64> = order.iter().map(|index| weights[*index] / total * width * height).collect();
    let mut free = Rectangle { left: 0.0, top: 0.0, width, height };
    let mut first = 0;
    while first < areas.len() {
        let end = end_of_row(&areas, first, free.width.min(free.height));
        let rest = place_row(&areas[first..end], free, |place, rectangle| places[order[first + place]] = rectangle);
        (free, first) = (rest, end);
    }
    places
}

/// The end of the row that begins with `first`: it grows while its worst shape becomes better.
fn end_of_row(areas: &[f64], first: usize, side: f64) -> usize {
    let mut end = first + 1;
    while end < areas.len() && worst(&areas[first..=end], side) <= worst(&areas[first..end], side) {
        end += 1;
    }
    end
}

/// The worst ratio of the sides of a row along `side`. Areas are in falling order.
fn worst(row: &[f64], side: f64) -> f64 {
    let sum: f64 = row.iter().sum();
    let (largest, smallest) = (row.first().copied().unwrap_or(sum), row.last().copied().unwrap_or(sum));
    let (side, sum) = (side * side, sum * sum);
    (side * largest / sum).max(sum / (side * smallest))
}

/// Places a row along the shorter side of `free`, and returns what stays free.
fn place_row(row: &[f64], free: Rectangle, mut place: impl FnMut(usize, Rectangle)) -> Rectangle {
    let is_column = free.width >= free.height;
    let side = if is_column { free.height } else { free.width };
    let depth = row.iter().sum::<f64>() / side;
    let mut along = 0.0;
    for (index, area) in row.iter().enumerate() {
        let length = area / depth;
        let rectangle = if is_column {
            Rectangle { left: free.left, top: free.top + along, width: depth, height: length }
        } else {
            Rectangle { left: free.left + along, top: free.top, width: length, height: depth }
        };
        place(index, rectangle);
        along += length;
    }
    if is_column {
        Rectangle { left: free.left + depth, width: (free.width - depth).max(0.0), ..free }
    } else {
        Rectangle { top: free.top + depth, height: (free.height - depth).max(0.0), ..free }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTH: f64 = 600.0;
    const HEIGHT: f64 = 400.0;

    /// Sizes as those of folders: few large ones, many small ones.
    fn sizes(count: u32) -> Vec<f64> {
        (1..=count).map(|place| 1_000.0 / f64::from(place) + f64::from(place * 7 % 5)).collect()
    }

    fn ratio(place: &Rectangle) -> f64 {
        (place.width / place.height).max(place.height / place.width)
    }

    fn mean(ratios: impl ExactSizeIterator<Item = f64>) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "there are few")]
        let count = ratios.len() as f64;
        ratios.sum::<f64>() / count
    }

    #[test]
    fn areas_are_proportional_to_weights() {
        let weights = sizes(40);
        let total: f64 = weights.iter().sum();
        for (weight, place) in weights.iter().zip(layout(&weights, WIDTH, HEIGHT)) {
            let area = weight / total * WIDTH * HEIGHT;
            assert!((place.width * place.height - area).abs() < 1e-6 * WIDTH * HEIGHT, "{weight}: {place:?}");
        }
    }

    #[test]
    fn rectangles_fill_the_area_without_overlap() {
        for count in [1, 2, 3, 7, 40, 200] {
            let places = layout(&sizes(count), WIDTH, HEIGHT);
            for (index, one) in places.iter().enumerate() {
                let is_inside = one.left > -1e-6 && one.top > -1e-6 && one.left + one.width < WIDTH + 1e-6 && one.top + one.height < HEIGHT + 1e-6;
                assert!(is_inside, "{one:?}");
                for other in &places[index + 1..] {
                    let across = (one.left + one.width).min(other.left + other.width) - one.left.max(other.left);
                    let down = (one.top + one.height).min(other.top + other.height) - one.top.max(other.top);
                    assert!(across < 1e-6 || down < 1e-6, "{one:?} {other:?}");
                }
            }
        }
    }

    #[test]
    fn shapes_are_nearer_to_squares_than_slices() {
        for count in [4, 12, 40] {
            let weights = sizes(count);
            let total: f64 = weights.iter().sum();
            let slices = weights.iter().map(|weight| ratio(&Rectangle { left: 0.0, top: 0.0, width: weight / total * WIDTH, height: HEIGHT }));
            let places = layout(&weights, WIDTH, HEIGHT);
            let (squarified, sliced) = (mean(places.iter().map(ratio)), mean(slices));
            assert!(squarified < 2.0 && squarified * 1.5 < sliced, "{count}: {squarified} against {sliced}");
        }
    }

    #[test]
    fn result_is_in_the_order_of_the_weights() {
        let places = layout(&[1.0, 0.0, 3.0, -2.0], 400.0, 100.0);
        assert_eq!(places[0], Rectangle { left: 300.0, top: 0.0, width: 100.0, height: 100.0 });
        assert_eq!(places[2], Rectangle { left: 0.0, top: 0.0, width: 300.0, height: 100.0 });
        assert_eq!((places[1], places[3]), (Rectangle::default(), Rectangle::default()));
        assert_eq!(layout(&[], WIDTH, HEIGHT), []);
        assert_eq!(layout(&[1.0], 0.0, HEIGHT), [Rectangle::default()]);
    }
}
