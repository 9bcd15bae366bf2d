//! Where a flow and pages meet: what the flow says of itself, what pages ask and order, and the answers.
//!
//! The flow never waits for a page, unless it has been told to pause. A question waits for the flow: until its next visit that
//! the budget allows, or until the patience of who asks is over.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::ask::{Answer, Ask, Refused};
use super::budget::{Budgets, Work};

use crate::output::progress::Status;

/// Most questions that wait at a time.
const QUESTIONS: usize = 8;

/// What a flow does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// It is being set up.
    Preparing,
    /// It goes on.
    Running,
    /// It waits for a page to let it go on.
    Paused,
    /// It does no more steps.
    Over,
}

/// What pages have ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Orders {
    /// To wait.
    pub pause: bool,
    /// To write the fields of this step.
    pub fields: bool,
    /// To write a restart file of this step.
    pub restart: bool,
}

/// The desk of a run.
#[derive(Debug)]
pub struct Desk {
    shared: Mutex<Shared>,
    changed: Condvar,
}

#[derive(Debug)]
struct Shared {
    phase: Phase,
    status: Option<Status>,
    orders: Orders,
    questions: Vec<Question>,
    asked: u64,
    budgets: Budgets,
}

#[derive(Debug)]
struct Question {
    number: u64,
    ask: Ask,
    answer: Option<Answer>,
}

impl Default for Desk {
    fn default() -> Desk {
        let shared = Shared {
            phase: Phase::Preparing,
            status: None,
            orders: Orders::default(),
            questions: vec![],
            asked: 0,
            budgets: Budgets::new(Instant::now()),
        };
        Desk { shared: Mutex::new(shared), changed: Condvar::new() }
    }
}

impl Desk {
    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// For the flow: how it goes.
    pub fn publish(&self, status: Status) {
        self.lock().status = Some(status);
    }

    /// For the flow: what it does; what is ordered, of which each writing is taken once; and a question that may be answered now.
    pub fn visit(&self, phase: Phase) -> (Orders, Option<Ask>) {
        let mut shared = self.lock();
        let shared = &mut *shared;
        shared.phase = phase;
        let orders = shared.orders;
        shared.orders = Orders { pause: orders.pause, ..Orders::default() };
        let now = Instant::now();
        let budgets = &mut shared.budgets;
        let mut may = |ask: &Ask| phase == Phase::Paused || budgets.allow(ask.work(), now);
        let mut open = shared.questions.iter().filter(|question| question.answer.is_none());
        let ask = open.find(|question| may(&question.ask)).map(|question| question.ask);
        (orders, ask)
    }

    /// For the flow: answers all who have asked this, and pays for the time that it took.
    pub fn answer(&self, ask: &Ask, answer: &Answer, spent: Duration) {
        let mut shared = self.lock();
        shared.budgets.pay(ask.work(), spent);
        let open = shared.questions.iter_mut().filter(|question| question.answer.is_none() && question.ask == *ask);
        open.for_each(|question| question.answer = Some(answer.clone()));
        self.changed.notify_all();
    }

    /// For a flow that pauses: waits until something is asked or ordered, but no longer than this.
    pub fn wait(&self, longest: Duration) {
        let is_quiet = |shared: &mut Shared| {
            let is_open = shared.questions.iter().any(|question| question.answer.is_none());
            shared.orders == Orders { pause: true, ..Orders::default() } && !is_open
        };
        drop(self.changed.wait_timeout_while(self.lock(), longest, is_quiet));
    }

    /// The flow does no more steps.
    pub fn close(&self) {
        self.lock().phase = Phase::Over;
        self.changed.notify_all();
    }

    /// For pages: what the flow does, how it goes, and whether it is to pause.
    pub(super) fn state(&self) -> (Phase, Option<Status>, bool) {
        let shared = self.lock();
        (shared.phase, shared.status, shared.orders.pause)
    }

    /// For pages: orders something.
    pub(super) fn order(&self, change: impl FnOnce(&mut Orders)) -> Result<(), Refused> {
        let mut shared = self.lock();
        if shared.phase == Phase::Over {
            return Err(Refused::Over);
        }
        change(&mut shared.orders);
        self.changed.notify_all();
        Ok(())
    }

    /// For pages: asks the flow, and waits for its answer, but no longer than this.
    pub(super) fn ask(&self, ask: Ask, patience: Duration) -> Result<Answer, Refused> {
        let mut shared = self.lock();
        if shared.questions.len() >= QUESTIONS {
            return Err(Refused::Busy);
        }
        let number = shared.asked;
        shared.asked += 1;
        shared.questions.push(Question { number, ask, answer: None });
        self.changed.notify_all();
        let is_open = |shared: &mut Shared| {
            let own = shared.questions.iter().find(|question| question.number == number);
            shared.phase != Phase::Over && own.is_some_and(|own| own.answer.is_none())
        };
        let waited = self.changed.wait_timeout_while(shared, patience, is_open);
        let (mut shared, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let at = shared.questions.iter().position(|question| question.number == number);
        let answer = at.and_then(|at| shared.questions.swap_remove(at).answer);
        answer.ok_or(if shared.phase == Phase::Over { Refused::Over } else { Refused::Busy })
    }

    /// For pages: pays for time that was spent on a page.
    pub(super) fn pay(&self, work: Work, spent: Duration) {
        self.lock().budgets.pay(work, spent);
    }

    /// For pages: whether time may be spent on them.
    pub(super) fn allows(&self, work: Work) -> bool {
        let mut shared = self.lock();
        matches!(shared.phase, Phase::Paused | Phase::Over) || shared.budgets.allow(work, Instant::now())
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn a_question_is_answered_at_a_visit_and_all_who_ask_the_same_get_the_answer() {
        let desk = Desk::default();
        thread::scope(|scope| {
            let askers = [(); 2].map(|()| scope.spawn(|| desk.ask(Ask::Fields, Duration::from_secs(60))));
            let ask = loop {
                let both = desk.lock().questions.len() == 2;
                if let (_, Some(ask)) = desk.visit(Phase::Running)
                    && both
                {
                    break ask;
                }
                thread::yield_now();
            };
            desk.answer(&ask, &Answer::Fields(None), Duration::ZERO);
            askers.into_iter().for_each(|asker| assert!(matches!(asker.join().unwrap(), Ok(Answer::Fields(None)))));
        });
        assert_eq!(desk.visit(Phase::Running), (Orders::default(), None));
    }

    #[test]
    fn who_is_not_answered_in_time_leaves_no_question_behind_and_when_the_flow_is_over_nobody_waits() {
        let desk = Desk::default();
        assert!(matches!(desk.ask(Ask::Fields, Duration::from_millis(1)), Err(Refused::Busy)));
        assert_eq!(desk.visit(Phase::Running).1, None);
        thread::scope(|scope| {
            let asker = scope.spawn(|| desk.ask(Ask::Fields, Duration::from_secs(3600)));
            while desk.visit(Phase::Running).1.is_none() {
                thread::yield_now();
            }
            desk.close();
            assert!(matches!(asker.join().unwrap(), Err(Refused::Over)));
        });
        assert!(desk.order(|orders| orders.pause = true).is_err());
    }

    #[test]
    fn what_is_to_be_written_is_ordered_once_and_a_pause_lasts() {
        let desk = Desk::default();
        let all = Orders { pause: true, fields: true, restart: true };
        desk.order(|orders| *orders = all).unwrap();
        assert_eq!(desk.visit(Phase::Running).0, all);
        assert_eq!(desk.visit(Phase::Paused).0, Orders { pause: true, ..Orders::default() });
    }

    #[test]
    fn a_flow_that_is_in_debt_to_its_steps_is_asked_nothing_unless_it_pauses() {
        let desk = Desk::default();
        desk.pay(Work::Much, Duration::from_secs(1000));
        thread::scope(|scope| {
            let asker = scope.spawn(|| desk.ask(Ask::Fields, Duration::from_secs(3600)));
            while desk.lock().questions.is_empty() {
                thread::yield_now();
            }
            assert_eq!(desk.visit(Phase::Running).1, None);
            assert_eq!(desk.visit(Phase::Paused).1, Some(Ask::Fields));
            desk.close();
            assert!(asker.join().unwrap().is_err());
        });
    }
}
