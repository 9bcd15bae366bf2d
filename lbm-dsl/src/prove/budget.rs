//! How much a proof may do.
//!
//! After: a search for a closed form, or for an identity of formulas, ends after [`OPERATIONS`] at the latest, the same number on every
//! machine. What gives up says so in its finding. Examinations of [pairs of faces](crate::prove::pair) have budgets of whoever asks for them.

use std::cell::Cell;

/// Most operations of one proof: products of digits of 64 bits, and terms that are written.
pub const OPERATIONS: u64 = 1_000_000;

/// What one proof may still do.
pub struct Budget {
    all: u64,
    left: Cell<u64>,
    exceeded: Cell<bool>,
}

impl Budget {
    /// That of a proof.
    pub(crate) fn new() -> Self {
        Self::of(OPERATIONS)
    }

    /// So many operations.
    pub fn of(all: u64) -> Self {
        Self { all, left: Cell::new(all), exceeded: Cell::new(false) }
    }

    /// Nothing where so many operations are too many: then there are none left.
    pub fn spend(&self, operations: usize) -> Option<()> {
        let left = self.left.get().checked_sub(operations as u64);
        self.left.set(left.unwrap_or(0));
        self.exceeded.set(self.exceeded.get() || left.is_none());
        left.map(|_| ())
    }

    /// What is found with `most` operations of this budget.
    pub fn part<T>(&self, most: u64, find: impl FnOnce(&Budget) -> Option<T>) -> Option<T> {
        let part = Self::of(most.min(self.left.get()));
        let found = find(&part);
        self.left.set(self.left.get() - part.spent());
        found
    }

    /// How many operations it had at first.
    pub fn all(&self) -> u64 {
        self.all
    }

    /// How many operations may still be done.
    pub fn left(&self) -> u64 {
        self.left.get()
    }

    /// How many operations were done.
    pub fn spent(&self) -> u64 {
        self.all - self.left.get()
    }

    /// Whether more were needed.
    pub fn is_exceeded(&self) -> bool {
        self.exceeded.get()
    }
}

#[cfg(test)]
thread_local! {
    /// Most operations of a budget since this was read last.
    static MOST: Cell<u64> = const { Cell::new(0) };
}

#[cfg(test)]
pub(crate) fn most() -> u64 {
    MOST.replace(0)
}

#[cfg(test)]
impl Drop for Budget {
    fn drop(&mut self) {
        MOST.set(MOST.get().max(self.spent()));
    }
}

/// Why a proof was given up.
pub fn gave_up() -> String {
    format!("it takes more than {OPERATIONS} operations")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_of_the_whole_and_what_is_too_much_is_known() {
        let budget = Budget::of(10);
        assert_eq!((budget.spend(4), budget.spent(), budget.is_exceeded()), (Some(()), 4, false));
        assert_eq!(budget.part(3, |part| part.spend(5)), None);
        assert_eq!((budget.spent(), budget.is_exceeded()), (7, false));
        assert_eq!(budget.part(9, |part| part.spend(3)), Some(()));
        assert_eq!((budget.spend(1), budget.spent(), budget.is_exceeded()), (None, 10, true));
    }
}
