//! The order of a recording: which launches wait for which others.
//!
//! Launches say which places they read and write. One waits for the last that wrote what it reads or writes, and for all that have
//! read what it writes since; nothing else keeps it from running at once.

/// Something that launches read and write, by a number of the caller's, which counts from 0: all of an array, or a part that others do not
/// touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(pub u32);

/// What launches work on.
#[derive(Clone, Debug, Default)]
pub struct Accesses {
    /// What they read and do not write.
    pub reads: Vec<Place>,
    /// What they write, or read and write.
    pub writes: Vec<Place>,
    /// Whether they go before others that could begin at the same time, because another device waits for what they do.
    pub ahead: bool,
}

/// Nodes that have been added, by number, as far as later ones may have to wait for them.
#[derive(Debug, Default)]
pub struct Order {
    /// By number.
    places: Vec<Users>,
}

#[derive(Clone, Debug, Default)]
struct Users {
    writer: Option<usize>,
    /// Those that have read since.
    readers: Vec<usize>,
}

impl Order {
    /// What a node with these accesses waits for, each once.
    pub fn before(&self, accesses: &Accesses) -> Vec<usize> {
        let mut nodes = vec![];
        for users in accesses.reads.iter().filter_map(|place| self.places.get(place.0 as usize)) {
            nodes.extend(users.writer);
        }
        for users in accesses.writes.iter().filter_map(|place| self.places.get(place.0 as usize)) {
            nodes.extend(users.writer.iter().chain(&users.readers));
        }
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// Adds a node behind all others.
    pub fn add(&mut self, node: usize, accesses: &Accesses) {
        for place in &accesses.reads {
            self.users(*place).readers.push(node);
        }
        for place in &accesses.writes {
            let users = self.users(*place);
            users.writer = Some(node);
            users.readers.clear();
        }
    }

    fn users(&mut self, place: Place) -> &mut Users {
        let at = place.0 as usize;
        if at >= self.places.len() {
            self.places.resize(at + 1, Users::default());
        }
        &mut self.places[at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accesses(reads: &[u32], writes: &[u32]) -> Accesses {
        let places = |numbers: &[u32]| numbers.iter().map(|number| Place(*number)).collect();
        Accesses { reads: places(reads), writes: places(writes), ahead: false }
    }

    #[test]
    fn readers_wait_for_the_last_writer_and_a_writer_for_all_readers_since() {
        let mut order = Order::default();
        let steps = [
            (accesses(&[], &[1]), vec![]),
            (accesses(&[1], &[2]), vec![0]),
            (accesses(&[1], &[3]), vec![0]),
            (accesses(&[], &[1]), vec![0, 1, 2]),
            (accesses(&[1, 2], &[]), vec![1, 3]),
            (accesses(&[4], &[5]), vec![]),
        ];
        for (node, (accesses, before)) in steps.into_iter().enumerate() {
            assert_eq!(order.before(&accesses), before, "node {node}");
            order.add(node, &accesses);
        }
    }
}
