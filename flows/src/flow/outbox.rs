//! Output beside the flow: a thread makes files of copies while the run goes on.
//!
//! ```text
//! flow ──▶ copy under way ──▶ job in a queue ──▶ writer: snapshot ──▶ recorder ──▶ files
//!   ▲                                               │
//!   └─────────── memory for the next copy ◀─────────┘
//! ```
//!
//! In: jobs, in the order of steps. After [`beside`]: all of them are done, in that order, whether the flow has ended well, with an
//! error or in a panic; so files are those that the flow itself had written between its steps. The memory for copies is all that
//! there is of it ([`Copies`]): where files take longer than steps, the flow waits for it, and nothing is left out.
//!
//! A job that fails does not keep those behind it from their files. The first failure ends the run as soon as it asks
//! ([`Outbox::check`]), at the latest when the flow ends.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Instant;

use lbm_runtime::device::{Device, DeviceError, Staging, Stagings};
use lbm_runtime::solver::memory::Copies;

use super::error::FlowError;

/// Something to be done by the writer with what it owns while the flow goes on.
type Job<'env, W> = Box<dyn FnOnce(&mut W) -> Result<(), FlowError> + Send + 'env>;

/// Where the flow leaves what is to be written.
pub(super) struct Outbox<'env, 'scope, W> {
    jobs: Sender<Job<'env, W>>,
    failure: &'scope FirstFailure,
    fields: Stagings,
    states: Stagings,
}

/// The first failure of a job, until somebody has been told.
#[derive(Default)]
struct FirstFailure(OnceLock<Mutex<Option<Failure>>>);

enum Failure {
    Error(FlowError),
    Panic(Box<dyn Any + Send>),
}

impl FirstFailure {
    fn set(&self, failure: Failure) {
        // There may have been one before, which is the one to tell.
        let _ = self.0.set(Mutex::new(Some(failure)));
    }

    /// The error of the first job that has failed, once; a panic goes on here.
    fn check(&self) -> Result<(), FlowError> {
        let first = self.0.get().and_then(|first| first.lock().unwrap_or_else(PoisonError::into_inner).take());
        match first {
            None => Ok(()),
            Some(Failure::Error(error)) => Err(error),
            Some(Failure::Panic(panic)) => resume_unwind(panic),
        }
    }
}

/// Runs a flow beside a thread that does its jobs with `writer`; without one nobody does them.
pub(super) fn beside<'env, W: Send, R>(
    writer: Option<&mut W>,
    device: &Device,
    copies: Copies,
    flow: impl FnOnce(&Outbox<'env, '_, W>) -> Result<R, FlowError>,
) -> Result<R, FlowError> {
    let failure = FirstFailure::default();
    let ended = thread::scope(|scope| {
        let (jobs, queue) = mpsc::channel();
        let (thread, first) = (thread::Builder::new().name("lbmc-output".into()), &failure);
        match writer {
            Some(writer) => {
                thread.spawn_scoped(scope, move || work(queue, writer, first)).map_err(|error| {
                    DeviceError::Driver {
                        device: "CPU".into(),
                        action: "start a thread for output".into(),
                        reason: error.to_string(),
                    }
                })?;
            }
            // Jobs then go away with what they own.
            None => drop(queue),
        }
        let (fields, states) = (device.stagings(copies.fields), device.stagings(copies.states));
        // It goes with the flow, on which the queue ends, and the thread when that is empty.
        flow(&Outbox { jobs, failure: &failure, fields, states })
    });
    failure.check()?;
    ended
}

fn work<W>(queue: Receiver<Job<'_, W>>, writer: &mut W, failure: &FirstFailure) {
    for job in queue {
        match catch_unwind(AssertUnwindSafe(|| job(writer))) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => failure.set(Failure::Error(error)),
            Err(panic) => failure.set(Failure::Panic(panic)),
        }
    }
}

impl<'env, W> Outbox<'env, '_, W> {
    /// The error of a job that has failed.
    pub(super) fn check(&self) -> Result<(), FlowError> {
        self.failure.check()
    }

    /// Leaves a job, which is done after those before it.
    pub(super) fn post(&self, job: impl FnOnce(&mut W) -> Result<(), FlowError> + Send + 'env) {
        // A writer takes jobs for as long as this is here; without one they go away.
        let _ = self.jobs.send(Box::new(job));
    }

    /// Memory for a copy of fields; adds the seconds for which the flow waits for it.
    pub(super) fn for_fields(&self, waited: &mut f64) -> Staging {
        taken(&self.fields, waited)
    }

    /// Memory for a copy of the state; adds the seconds for which the flow waits for it.
    pub(super) fn for_state(&self, waited: &mut f64) -> Staging {
        taken(&self.states, waited)
    }
}

fn taken(stagings: &Stagings, waited: &mut f64) -> Staging {
    stagings.try_take().unwrap_or_else(|| {
        let began = Instant::now();
        let staging = stagings.take();
        *waited += began.elapsed().as_secs_f64();
        staging
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    const COPIES: Copies = Copies { fields: 2, states: 1, outputs: true };

    /// A flow that leaves jobs, each of which notes its number.
    fn noted<R>(
        flow: impl FnOnce(&Outbox<'static, '_, Vec<u32>>) -> Result<R, FlowError>,
    ) -> (Vec<u32>, Result<R, FlowError>) {
        let mut done = vec![];
        let device = Device::host(1).unwrap();
        let ended = beside(Some(&mut done), &device, COPIES, flow);
        (done, ended)
    }

    fn note(number: u32) -> impl FnOnce(&mut Vec<u32>) -> Result<(), FlowError> + Send {
        move |done| {
            done.push(number);
            Ok(())
        }
    }

    fn wrong(reason: &str) -> FlowError {
        DeviceError::NoGpu { reason: reason.into() }.into()
    }

    #[test]
    fn jobs_are_done_in_their_order_before_a_flow_that_fails_has_ended() {
        let (done, ended) = noted(|outbox| {
            (0..100).for_each(|number| outbox.post(note(number)));
            Err::<(), _>(wrong("of the flow"))
        });
        assert_eq!(done, (0..100).collect::<Vec<_>>());
        assert!(ended.unwrap_err().to_string().contains("of the flow"));
    }

    #[test]
    fn a_job_that_fails_ends_the_run_with_its_error_and_those_behind_it_are_done() {
        let (done, ended) = noted(|outbox| {
            outbox.post(|_| Err(wrong("of the first")));
            outbox.post(|_| Err(wrong("of the second")));
            outbox.post(note(3));
            while outbox.check().is_ok() {
                thread::yield_now();
            }
            outbox.post(note(4));
            Err::<(), _>(wrong("told before"))
        });
        assert_eq!(done, [3, 4]);
        assert!(ended.unwrap_err().to_string().contains("told before"));
        let (_, ended) = noted(|outbox| {
            outbox.post(|_| Err(wrong("of the first")));
            outbox.post(|_| Err(wrong("of the second")));
            Ok(())
        });
        assert!(ended.unwrap_err().to_string().contains("of the first"));
    }

    #[test]
    fn a_panic_of_a_job_is_that_of_the_run_after_all_other_jobs() {
        let mut done = vec![];
        let device = Device::host(1).unwrap();
        let run = || {
            beside(Some(&mut done), &device, COPIES, |outbox| {
                outbox.post(|_| panic!("a bug"));
                outbox.post(note(1));
                Ok(())
            })
        };
        let panic = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"a bug"));
        assert_eq!(done, [1]);
    }

    #[test]
    fn without_a_writer_no_job_is_done_and_memory_for_copies_is_free_again() {
        let device = Device::host(1).unwrap();
        let ended = beside(None, &device, COPIES, |outbox: &Outbox<'_, '_, Vec<u32>>| {
            let mut waited = 0.0;
            for _ in 0..3 {
                let staging = outbox.for_state(&mut waited);
                outbox.post(move |_| {
                    drop(staging);
                    panic!("nobody does it");
                });
            }
            Ok(())
        });
        assert!(ended.is_ok());
    }

    #[test]
    fn jobs_are_done_although_the_flow_panics() {
        let mut done = vec![];
        let device = Device::host(1).unwrap();
        let run = || {
            beside(Some(&mut done), &device, COPIES, |outbox| -> Result<(), FlowError> {
                (0..10).for_each(|number| outbox.post(note(number)));
                panic!("a bug");
            })
        };
        catch_unwind(AssertUnwindSafe(run)).unwrap_err();
        assert_eq!(done.len(), 10);
    }

    #[test]
    fn there_is_memory_for_two_copies_and_the_third_waits_for_the_writer() {
        let gate = Barrier::new(2);
        let mut done = vec![];
        let device = Device::host(1).unwrap();
        let ended = beside(Some(&mut done), &device, COPIES, |outbox: &Outbox<'_, '_, Vec<u32>>| {
            let mut waited = 0.0;
            for number in 0..2 {
                let (staging, gate) = (outbox.for_fields(&mut waited), &gate);
                outbox.post(move |done| {
                    gate.wait();
                    drop(staging);
                    note(number)(done)
                });
            }
            assert_eq!(waited, 0.0);
            assert!(outbox.fields.try_take().is_none());
            thread::scope(|scope| {
                scope.spawn(|| gate.wait());
                drop(outbox.for_fields(&mut waited));
            });
            gate.wait();
            Ok(())
        });
        assert!(ended.is_ok());
        assert_eq!(done, [0, 1]);
    }
}
