//! The share of the time of a run that pages may take: credit grows with time up to a limit, and what is done for a page is paid from it.
//! What needs all fields has a budget of its own, so that a surface which takes long delays no section.

use std::time::{Duration, Instant};

/// Fraction of the time that may be spent from a budget.
const SHARE: f64 = 0.007;
/// Most seconds of credit: what comes first is answered at once, and after a long time in which nobody has looked no more than that is.
const MOST: f64 = 0.1;

/// What is paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Sections and tables.
    Little,
    /// What needs all fields.
    Much,
}

/// A budget for each kind of work.
#[derive(Debug)]
pub(super) struct Budgets([Budget; 2]);

impl Budgets {
    pub(super) fn new(now: Instant) -> Budgets {
        Budgets([(); 2].map(|()| Budget { credit: MOST, at: now }))
    }

    /// Whether something may be done now; what it takes may lead into debt, which is waited for.
    pub(super) fn allow(&mut self, work: Work, now: Instant) -> bool {
        self.0[work as usize].allows(now)
    }

    pub(super) fn pay(&mut self, work: Work, spent: Duration) {
        self.0[work as usize].credit -= spent.as_secs_f64();
    }
}

/// Seconds that may be spent.
#[derive(Debug)]
struct Budget {
    credit: f64,
    at: Instant,
}

impl Budget {
    fn allows(&mut self, now: Instant) -> bool {
        self.credit = (self.credit + SHARE * now.saturating_duration_since(self.at).as_secs_f64()).min(MOST);
        self.at = now;
        self.credit > 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn however_often_is_asked_a_share_of_the_time_is_spent() {
        let start = Instant::now();
        let (mut budgets, mut spent) = (Budgets::new(start), 0.0);
        for tick in 0..100_000 {
            for (work, takes) in [(Work::Little, 0.03), (Work::Much, 0.3)] {
                if budgets.allow(work, start + Duration::from_millis(tick)) {
                    budgets.pay(work, Duration::from_secs_f64(takes));
                    spent += takes;
                }
            }
        }
        assert!((1.3..1.4 + 2.0 * MOST + 0.33).contains(&spent), "{spent} s of 100 s");
    }

    #[test]
    fn a_long_time_without_questions_allows_no_long_answer_time() {
        let start = Instant::now();
        let mut budgets = Budgets::new(start);
        let later = start + Duration::from_secs(36_000);
        assert!(budgets.allow(Work::Much, later));
        budgets.pay(Work::Much, Duration::from_secs_f64(MOST));
        assert!(!budgets.allow(Work::Much, later));
        assert!(budgets.allow(Work::Little, later), "what takes long delays no section");
    }
}
