//! Dependencies between the launches of a graph capture.
//!
//! Each launch declares the resources ("places") that it reads and writes. It waits for the last writer of every
//! resource that it reads or writes, and for all readers, since that write, of every resource that it writes. There are
//! no other dependencies.

/// A resource that launches read and write: a whole array, or a section of one that is disjoint from all other places.
/// The caller numbers places from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Resource(pub u32);

/// The places that a launch reads and writes.
#[derive(Clone, Debug, Default)]
pub struct Accesses {
    /// Places that are read only.
    pub reads: Vec<Resource>,
    /// Places that are written, or read and written.
    pub writes: Vec<Resource>,
    /// Whether the launch has priority over others that are ready, because another device waits for its result.
    pub ahead: bool,
}

/// For each place, the nodes that later nodes may have to wait for.
#[derive(Debug, Default)]
pub struct Order {
    /// Indexed by the number of the place.
    places: Vec<Users>,
}

#[derive(Clone, Debug, Default)]
struct Users {
    writer: Option<usize>,
    /// The nodes that have read since `writer`.
    readers: Vec<usize>,
}

impl Order {
    /// The nodes that a node with these accesses must wait for, sorted and without duplicates.
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

    /// Registers `node` as the latest user of its places.
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

    fn users(&mut self, place: Resource) -> &mut Users {
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
        let places = |numbers: &[u32]| numbers.iter().map(|number| Resource(*number)).collect();
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
