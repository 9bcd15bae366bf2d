//! Asynchronous output: a thread writes files from copies while the run continues.
//!
//! ```text
//! flow ──▶ copy under way ──▶ job in a queue ──▶ writer: snapshot ──▶ recorder ──▶ files
//!   ▲                                               │
//!   └─────────── memory for the next copy ◀─────────┘
//! ```
//!
//! In: jobs, in the order of steps. After [`beside`]: all jobs have been done in that order, whether the flow ended
//! normally, with an error or in a panic. The files are therefore the same as if the flow had written them between its
//! steps. The number of staging buffers is fixed ([`Copies`]): if writing is slower than stepping, the flow waits for a
//! buffer, and no output is dropped.
//!
//! A failed job does not prevent later jobs. The first failure ends the run at its next [`Outbox::check`], at the
//! latest when the flow ends.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Instant;

use lbm_runtime::device::{Device, DeviceError, Staging, Stagings};
use lbm_runtime::solver::memory::Copies;

use super::error::FlowError;

/// A job for the writer thread, which passes it the writer.
type Job<'env, W> = Box<dyn FnOnce(&mut W) -> Result<(), FlowError> + Send + 'env>;

/// The sending side of the queue, used by the flow.
pub(super) struct Outbox<'env, 'scope, W> {
    jobs: Sender<Job<'env, W>>,
    failure: &'scope FirstFailure,
    fields: Stagings,
    states: Stagings,
}

/// The first failure of a job, until it is reported.
#[derive(Default)]
struct FirstFailure(OnceLock<Mutex<Option<Failure>>>);

enum Failure {
    Error(FlowError),
    Panic(Box<dyn Any + Send>),
}

impl FirstFailure {
    fn set(&self, failure: Failure) {
        // An earlier failure takes precedence.
        let _ = self.0.set(Mutex::new(Some(failure)));
    }

    /// Returns the error of the first failed job, once; a panic is resumed here.
    fn check(&self) -> Result<(), FlowError> {
        let first = self.0.get().and_then(|first| first.lock().unwrap_or_else(PoisonError::into_inner).take());
        match first {
            None => Ok(()),
            Some(Failure::Error(error)) => Err(error),
            Some(Failure::Panic(panic)) => resume_unwind(panic),
        }
    }
}

/// Runs a flow concurrently with a thread that does its jobs on `writer`. Without a writer, jobs are dropped.
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
            // Jobs and their buffers are then dropped.
            None => drop(queue),
        }
        let (fields, states) = (device.stagings(copies.fields), device.stagings(copies.states));
        // The outbox is dropped with the flow, which closes the queue; the thread ends when the queue is empty.
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
    /// The error of a failed job.
    pub(super) fn check(&self) -> Result<(), FlowError> {
        self.failure.check()
    }

    /// Posts a job, which runs after the earlier ones.
    pub(super) fn post(&self, job: impl FnOnce(&mut W) -> Result<(), FlowError> + Send + 'env) {
        // The writer receives as long as the outbox exists; without a writer, jobs are dropped.
        let _ = self.jobs.send(Box::new(job));
    }

    /// A staging buffer for fields. Adds the seconds that the flow waits for it to `waited`.
    pub(super) fn for_fields(&self, waited: &mut f64) -> Staging {
        taken(&self.fields, waited)
    }

    /// A staging buffer for the state. Adds the seconds that the flow waits for it to `waited`.
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

    /// A flow whose jobs record their numbers.
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
