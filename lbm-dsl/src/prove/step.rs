//! A step of disturbances in cells between faces: a sparse linear map.
//!
//! In: the derivatives of a collision and of the rules at faces. The cells are those along one axis, or a box along two, whose sides are faces; along
//! other axes a disturbance is a wave. Where two faces meet, what comes back is what kernels have: a link through both is that of the first axis, of
//! faces that are no symmetry planes before those that are, and a cell between two faces with rules of nodes has the rule of the first, in its form for
//! an edge.

use nalgebra::DMatrix;

use crate::expr::DEEP;
use crate::prove::ends::{End, Face, Stream};

/// A factor of a matrix: to, from, how much.
type Entry = (usize, usize, f64);

/// A part of a sum of complex numbers: to, from, by what.
type Term = (usize, usize, [f64; 2]);

/// Which faces there are: both of one axis, or those of two, and what rules of nodes do where two of them meet.
#[derive(Clone, Copy)]
pub(super) struct Sides<'e> {
    /// For each axis the lower and the upper face.
    pub ends: [Option<[&'e End; 2]>; 2],
    /// `edges[first][second]`: where a face of the first axis meets one of the second.
    pub edges: [[Option<&'e End>; 2]; 2],
}

/// What faces bring to the cells beside them: sums of what there is after the collision, and of what has arrived.
#[derive(Default)]
struct Returned {
    targets: Vec<usize>,
    /// To the position of a target.
    from_post: Vec<Term>,
    from_arrived: Vec<Term>,
}

/// A step. Of each value of a cell there are the real parts in all cells, then the imaginary ones.
pub(super) struct Step {
    /// Cells along both axes of faces; one along the second where there is none.
    cells: [usize; 2],
    /// For each population its velocity along these axes, and the phase by which it turns along others.
    ways: Vec<([i32; 2], [f64; 2])>,
    own: Vec<Entry>,
    shown: Vec<Entry>,
    values_shown: usize,
    /// For each velocity: how far along the axes, the phase along others, and how the collision reads.
    around: Vec<([i32; 2], [f64; 2], Vec<Entry>)>,
    /// What the collision reads of places behind faces: to what it gives, from what cells show.
    behind: Vec<Term>,
    links: Returned,
    nodes: Returned,
}

/// What a step works with.
pub(super) struct Work {
    /// After the collision.
    post: Vec<f64>,
    /// What cells show.
    shown: Vec<f64>,
    /// What faces bring.
    given: Vec<[f64; 2]>,
}

/// A place: the cells along both axes.
type Place = [usize; 2];

impl Step {
    pub fn new(stream: &Stream, sides: &Sides, cells: [usize; 2], wave: &[f64]) -> Self {
        let axes = sides.ends.map(|ends| ends.map(|[low, _]| low.face().axis));
        let along = |velocity: &[i32]| axes.map(|axis| axis.map_or(0, |axis| velocity[axis]));
        let phase = |velocity: &[i32]| -> f64 { velocity.iter().zip(wave).map(|(c, k)| f64::from(*c) * k).sum() };
        let turn = |angle: f64| [angle.cos(), angle.sin()];
        let collision = &stream.collision;
        let mut step = Step {
            cells,
            ways: stream.velocities.iter().map(|velocity| (along(velocity), turn(-phase(velocity)))).collect(),
            own: entries(&collision.own),
            shown: entries(&collision.shown),
            values_shown: collision.shown.nrows(),
            around: (collision.around.iter())
                .map(|(velocity, by)| (along(velocity), turn(phase(velocity)), entries(by)))
                .collect(),
            behind: vec![],
            links: Returned::default(),
            nodes: Returned::default(),
        };
        let places = (0..cells[1]).flat_map(|y| (0..cells[0]).map(move |x| [x, y]));
        let is_beside =
            |place: &Place| (0..2).any(|k| sides.ends[k].is_some() && (place[k] == 0 || place[k] == cells[k] - 1));
        for place in places.filter(is_beside) {
            step.add_links(stream, sides, place);
            step.add_node(sides, place);
            step.add_behind(stream, sides, place);
        }
        step
    }

    /// Numbers in a state.
    pub fn size(&self) -> usize {
        2 * self.ways.len() * self.cells[0] * self.cells[1]
    }

    /// Products of a step.
    pub fn products(&self) -> usize {
        let read: usize = self.around.iter().map(|(_, _, by)| by.len()).sum();
        let of_a_cell = 2 * (self.own.len() + self.shown.len()) + 4 * (read + self.ways.len());
        let returned =
            [&self.links, &self.nodes].map(|returned| returned.from_post.len() + returned.from_arrived.len());
        self.cells[0] * self.cells[1] * of_a_cell + 4 * (self.behind.len() + returned.iter().sum::<usize>())
    }

    pub fn work(&self) -> Work {
        let shown = 2 * self.values_shown * self.cells[0] * self.cells[1];
        Work { post: vec![0.0; self.size()], shown: vec![0.0; shown], given: Vec::new() }
    }

    /// Where the real part of a value of a cell is.
    fn at(&self, value: usize, [x, y]: Place) -> usize {
        2 * value * self.cells[0] * self.cells[1] + y * self.cells[0] + x
    }

    /// The faces that are crossed on a way from a cell, one along each axis: the number of the face, if it is crossed.
    fn crossed(&self, place: Place, shift: [i32; 2]) -> [Option<usize>; 2] {
        [0, 1].map(|k| match place[k].checked_add_signed(shift[k] as isize) {
            None => Some(0),
            Some(there) if there >= self.cells[k] => Some(1),
            Some(_) => None,
        })
    }

    /// The cell that lies so far away, and along axes across which a face is crossed as far as the one at hand.
    fn image(&self, place: Place, shift: [i32; 2], crossed: [Option<usize>; 2]) -> Place {
        [0, 1].map(|k| match crossed[k] {
            Some(_) => place[k],
            None => place[k].saturating_add_signed(shift[k] as isize),
        })
    }

    /// Which face decides, of those that are crossed: one that is no mirror before those that are. And whether all are mirrors.
    fn decides<'e>(sides: &Sides<'e>, crossed: [Option<usize>; 2]) -> Option<(&'e End, bool)> {
        let all = || (0..2).filter_map(|k| Some(sides.ends[k]?[crossed[k]?]));
        let other = all().find(|end| !end.is_mirror()).map(|end| (end, false));
        other.or_else(|| all().next().map(|end| (end, true)))
    }

    fn add_links(&mut self, stream: &Stream, sides: &Sides, place: Place) {
        for pop in 0..self.ways.len() {
            let back = |pop: usize| self.ways[pop].0.map(|c| -c);
            let crossed = self.crossed(place, back(pop));
            let Some((end, _)) = Self::decides(sides, crossed).filter(|(end, _)| !end.is_node()) else { continue };
            let Some(row) = end.row(pop) else { continue };
            let target = self.links.targets.len();
            let mut terms: Vec<Term> = vec![];
            for from in 0..self.ways.len() {
                let by = end.sent[(row, from)];
                if by != 0.0 {
                    terms.push((target, self.at(from, place), [by, 0.0]));
                }
                let by = end.mirrored[(row, from)];
                if by != 0.0 {
                    let axes = (0..2).filter_map(|k| crossed[k].and(sides.ends[k]).map(|[low, _]| low.face().axis));
                    let source = axes.fold(from, |pop, axis| stream.mirrored(pop, axis));
                    let there = self.image(place, back(from), crossed);
                    let [cos, sin] = self.ways[from].1;
                    terms.push((target, self.at(source, there), [by * cos, by * sin]));
                }
            }
            let at = self.at(pop, place);
            self.links.targets.push(at);
            self.links.from_post.extend(terms);
        }
    }

    fn add_node(&mut self, sides: &Sides, place: Place) {
        let side = |k: usize| -> Option<usize> {
            let ends = sides.ends[k]?;
            let side = if place[k] == 0 { 0 } else { 1 };
            (place[k] == 0 || place[k] == self.cells[k] - 1).then_some(side).filter(|side| ends[*side].is_node())
        };
        let met = [side(0), side(1)];
        let end = match met {
            [Some(first), Some(second)] => sides.edges[first][second],
            [Some(first), None] => sides.ends[0].map(|ends| ends[first]),
            [None, Some(second)] => sides.ends[1].map(|ends| ends[second]),
            [None, None] => None,
        };
        let Some(end) = end else { return };
        let inwards = |cells: isize| -> Place {
            [0, 1].map(|k| match met[k] {
                Some(0) => place[k] + cells as usize,
                Some(_) => place[k].saturating_add_signed(-cells),
                None => place[k],
            })
        };
        let first = self.nodes.targets.len();
        let take = |matrix: &DMatrix<f64>, there: Place| -> Vec<Term> {
            entries(matrix).iter().map(|(row, from, by)| (first + row, self.at(*from, there), [*by, 0.0])).collect()
        };
        let arrived =
            [take(&end.streamed, place), take(&end.inside, inwards(1)), take(&end.deep, inwards(DEEP as isize))];
        let sent = take(&end.sent, place);
        let targets: Vec<usize> = end.gives().iter().map(|pop| self.at(*pop, place)).collect();
        self.nodes.targets.extend(targets);
        self.nodes.from_post.extend(sent);
        self.nodes.from_arrived.extend(arrived.into_iter().flatten());
    }

    /// What the collision of a cell reads of places behind faces.
    fn add_behind(&mut self, stream: &Stream, sides: &Sides, place: Place) {
        let mut terms: Vec<Term> = vec![];
        for (shift, [cos, sin], reads) in &self.around {
            let crossed = self.crossed(place, *shift);
            let Some((end, all_mirrors)) = Self::decides(sides, crossed) else { continue };
            let there = self.image(place, *shift, crossed);
            for (to, value, by) in reads {
                let mut term = |shown: usize, factor: f64| {
                    let by = by * factor;
                    // Shown values are numbered as the values of a cell are.
                    terms.push((self.at(*to, place), self.at(shown, there), [by * cos, by * sin]));
                };
                match all_mirrors {
                    // The normal component of a vector is turned round by each.
                    true => {
                        let is_turned = |k: usize| {
                            let axis = crossed[k].and(sides.ends[k]).map(|[low, _]| low.face().axis);
                            axis.is_some() && axis == stream.axis_of_shown(*value)
                        };
                        term(*value, if is_turned(0) || is_turned(1) { -1.0 } else { 1.0 });
                    }
                    false => (0..end.beyond.ncols()).for_each(|from| term(from, end.beyond[(*value, from)])),
                }
            }
        }
        self.behind.extend(terms.into_iter().filter(|(_, _, by)| *by != [0.0; 2]));
    }

    /// Some steps; the growth in a step, of the logarithm.
    pub fn advance(&self, state: &mut [f64], work: &mut Work, steps: usize) -> f64 {
        normalise(state);
        let mut growth = 0.0;
        let mut done = 0;
        while done < steps {
            // Before numbers are too large.
            let some = (steps - done).min(64);
            (0..some).for_each(|_| self.step(state, work));
            growth += normalise(state);
            done += some;
        }
        growth / steps as f64
    }

    /// A step: from what has arrived in each cell to what arrives next.
    pub fn step(&self, state: &mut [f64], work: &mut Work) {
        let count = self.cells[0] * self.cells[1];
        work.post.fill(0.0);
        apply(&self.own, 2 * count, &mut work.post, state);
        if !self.around.is_empty() {
            self.read(state, work);
        }
        for (pop, (shift, [cos, sin])) in self.ways.iter().enumerate() {
            let of = 2 * count * pop..2 * count * (pop + 1);
            let (re, im) = state[of.clone()].split_at_mut(count);
            let (post_re, post_im) = work.post[of].split_at(count);
            for (to, from) in rows(self.cells, *shift) {
                let sources = post_re[from.clone()].iter().zip(&post_im[from]);
                for ((re, im), (from_re, from_im)) in re[to.clone()].iter_mut().zip(&mut im[to]).zip(sources) {
                    *re = cos * from_re - sin * from_im;
                    *im = cos * from_im + sin * from_re;
                }
            }
        }
        for returned in [&self.links, &self.nodes] {
            self.bring(returned, state, work);
        }
    }

    /// Adds what the collision reads of the cells around.
    fn read(&self, state: &[f64], work: &mut Work) {
        let count = self.cells[0] * self.cells[1];
        let (post, shown) = (&mut work.post, &mut work.shown);
        shown.fill(0.0);
        apply(&self.shown, 2 * count, shown, state);
        for (shift, [cos, sin], reads) in &self.around {
            // What streams that way comes from there.
            for (here, there) in rows(self.cells, shift.map(|c| -c)) {
                for (to, from, by) in reads {
                    let (re, im) = post[2 * count * to..2 * count * (to + 1)].split_at_mut(count);
                    let (shown_re, shown_im) = shown[2 * count * from..2 * count * (from + 1)].split_at(count);
                    let sources = shown_re[there.clone()].iter().zip(&shown_im[there.clone()]);
                    let into = re[here.clone()].iter_mut().zip(&mut im[here.clone()]);
                    for ((re, im), (from_re, from_im)) in into.zip(sources) {
                        *re += by * (cos * from_re - sin * from_im);
                        *im += by * (cos * from_im + sin * from_re);
                    }
                }
            }
        }
        for (to, from, [cos, sin]) in &self.behind {
            let (re, im) = (shown[*from], shown[from + count]);
            post[*to] += cos * re - sin * im;
            post[to + count] += cos * im + sin * re;
        }
    }

    /// What faces bring to the cells beside them.
    fn bring(&self, returned: &Returned, state: &mut [f64], work: &mut Work) {
        let count = self.cells[0] * self.cells[1];
        let given = &mut work.given;
        given.clear();
        given.resize(returned.targets.len(), [0.0; 2]);
        for (terms, of) in [(&returned.from_post, &work.post[..]), (&returned.from_arrived, &*state)] {
            for (to, from, [cos, sin]) in terms {
                let (re, im) = (of[*from], of[from + count]);
                given[*to][0] += cos * re - sin * im;
                given[*to][1] += cos * im + sin * re;
            }
        }
        for (at, value) in returned.targets.iter().zip(given) {
            [state[*at], state[at + count]] = *value;
        }
    }

    /// Faces beside which a disturbance lies: more than half of it within a quarter of the cells.
    pub fn beside_which(&self, state: &[f64], sides: &Sides) -> Vec<Face> {
        let count = self.cells[0] * self.cells[1];
        let squares: Vec<f64> =
            (0..count).map(|cell| state.iter().skip(cell).step_by(count).map(|v| v * v).sum()).collect();
        let all: f64 = squares.iter().sum();
        let faces =
            sides.ends.iter().enumerate().flat_map(|(k, ends)| ends.iter().flatten().map(move |end| (k, end.face())));
        let lies = |(k, face): &(usize, Face)| {
            let place = |cell: usize| if *k == 0 { cell % self.cells[0] } else { cell / self.cells[0] };
            let depth = |cell: usize| if face.high { self.cells[*k] - 1 - place(cell) } else { place(cell) };
            let near = squares.iter().enumerate().filter(|(cell, _)| depth(*cell) < self.cells[*k] / 4);
            near.map(|(_, square)| square).sum::<f64>() > 0.5 * all
        };
        faces.filter(lies).map(|(_, face)| face).collect()
    }
}

/// For each row of cells along the first axis: where what moves so far goes to, and where it comes from.
fn rows(cells: [usize; 2], shift: [i32; 2]) -> impl Iterator<Item = (std::ops::Range<usize>, std::ops::Range<usize>)> {
    let range = |k: usize| -> (std::ops::Range<usize>, usize) {
        match shift[k] {
            1 => (1..cells[k], 0),
            -1 => (0..cells[k] - 1, 1),
            _ => (0..cells[k], 0),
        }
    };
    let ((to_x, from_x), (to_y, from_y)) = (range(0), range(1));
    let length = to_x.len();
    to_y.enumerate().map(move |(number, y)| {
        let (to, from) = (y * cells[0] + to_x.start, (from_y + number) * cells[0] + from_x);
        (to..to + length, from..from + length)
    })
}

fn entries(matrix: &DMatrix<f64>) -> Vec<Entry> {
    let all = (0..matrix.nrows()).flat_map(|row| (0..matrix.ncols()).map(move |column| (row, column)));
    all.filter(|at| matrix[*at] != 0.0).map(|(row, column)| (row, column, matrix[(row, column)])).collect()
}

/// Adds a matrix times what each cell has: rows of so many numbers.
fn apply(matrix: &[Entry], numbers: usize, into: &mut [f64], from: &[f64]) {
    for (to, of, by) in matrix {
        let into = &mut into[to * numbers..(to + 1) * numbers];
        for (into, from) in into.iter_mut().zip(&from[of * numbers..(of + 1) * numbers]) {
            *into += by * from;
        }
    }
}

/// Makes the norm one; the logarithm of what it was.
fn normalise(state: &mut [f64]) -> f64 {
    let norm = state.iter().map(|value| value * value).sum::<f64>().sqrt();
    if norm > 0.0 {
        state.iter_mut().for_each(|value| *value /= norm);
    }
    norm.ln()
}
