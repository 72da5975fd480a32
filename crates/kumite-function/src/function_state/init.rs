//! The beginning of a call: the instance of its slot goes on, or a new one is initialized.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::failure::{STOPPED, exited, timed_out};
use super::{FunctionState, KEPT_LOG_BYTES, LAST_WORDS, stopping};
use crate::instance::Instance;
use crate::lines;
use crate::runtime_protocol::{Answer, Initialized};
use crate::{Exit, KillReason, Lifecycle, Refused};

/// The outcome of an initialization.
pub(super) enum Init {
    Done(Instant),
    Failed { answer: Answer, why: Lifecycle, status: &'static str },
    Stopping,
}

/// The init phase of a call's instance; on a warm instance it has no length.
pub(super) struct InitPhase {
    /// The number of the instance.
    pub number: u32,
    pub cold: bool,
    /// The length of the phase, as far as it went.
    pub took: Duration,
    pub cpu: Duration,
    /// True if the phase did not fail.
    pub done: bool,
}

impl FunctionState {
    /// The slot's instance if it still lives, else a new one after its init phase; none if that failed.
    pub(super) async fn begin(
        &self,
        idle: Option<Instance>,
        request_id: &str,
    ) -> Result<(Option<Instance>, InitPhase), Refused> {
        if let Some(idle) = idle
            && let Some(instance) = self.awake(idle).await
        {
            let (number, none) = (instance.number, Duration::ZERO);
            let phase = InitPhase { number, cold: false, took: none, cpu: none, done: true };
            return Ok((Some(instance), phase));
        }
        let number = self.instances.fetch_add(1, Ordering::Relaxed) + 1;
        self.record(number, Lifecycle::Init);
        let mut instance = Instance::start(&self.setting, number, false).await?;
        let until = instance.began + self.setting.function.init_limit;
        let initialized = self.initialized(&mut instance, request_id, until, true).await;
        let cpu = instance.cpu();
        let mut told = instance.log_since(0, KEPT_LOG_BYTES);
        let (instance, took) = match initialized {
            Init::Done(at) => {
                let took = at.saturating_duration_since(instance.began);
                if let Err(error) = instance.throttle() {
                    self.end(instance, Lifecycle::Killed(KillReason::NoShare(error.to_string()))).await;
                    return Err(error.into());
                }
                self.record(number, Lifecycle::InitDone);
                (Some(instance), took)
            }
            Init::Failed { why, status, .. } => {
                let took = instance.began.elapsed().min(self.setting.function.init_limit);
                told += &lines::init_report(took, status);
                self.end(instance, why).await;
                (None, took)
            }
            Init::Stopping => {
                self.end(instance, STOPPED).await;
                return Err(Refused::Stopping);
            }
        };
        (self.tell)(&told);
        let done = instance.is_some();
        Ok((instance, InitPhase { number, cold: true, took, cpu, done }))
    }

    /// Starts the process of an instance once more, within a call that ends at `deadline`.
    pub(super) async fn begin_again(
        &self,
        number: u32,
        request_id: &str,
        deadline: Instant,
    ) -> Result<(Instance, Init), Refused> {
        self.record(number, Lifecycle::Reinit);
        let mut instance = Instance::start(&self.setting, number, true).await?;
        let init = self.initialized(&mut instance, request_id, deadline, false).await;
        if let Init::Done(_) = init {
            self.record(number, Lifecycle::InitDone);
        }
        Ok((instance, init))
    }

    /// Thaws a warm instance. None if its process has ended meanwhile.
    async fn awake(&self, mut instance: Instance) -> Option<Instance> {
        let number = instance.number;
        if let Some(status) = instance.exited() {
            self.end(instance, Lifecycle::Exited(Exit { status: Some(status), out_of_memory: false })).await;
            return None;
        }
        if instance.thaw() {
            self.record(number, Lifecycle::Thawed);
        }
        self.record_rejected(&instance);
        Some(instance)
    }

    /// Waits for the end of an initialization, at most until `until`. If it is cut off there, the call goes on if
    /// `free`, and has timed out otherwise.
    async fn initialized(
        &self,
        instance: &mut Instance,
        request_id: &str,
        until: Instant,
        free: bool,
    ) -> Init {
        let protocol = Arc::clone(&instance.protocol);
        let ended = tokio::select! {
            biased;
            said = protocol.initialized() => match said {
                // The moment at which the instance asked counts, however late that was noticed.
                Initialized::Done(at) if at <= until => return Init::Done(at),
                Initialized::Done(_) => false,
                Initialized::Failed(answer) => {
                    return Init::Failed { answer, why: Lifecycle::Killed(KillReason::Uninitialized), status: "error" };
                }
            },
            () = instance.ended() => true,
            () = tokio::time::sleep_until(until.into()) => false,
            () = stopping(self.stop.clone()) => return Init::Stopping,
        };
        if ended {
            let (answer, why) = exited(instance, request_id);
            let answer = match tokio::time::timeout(LAST_WORDS, protocol.initialized()).await {
                Ok(Initialized::Failed(answer)) => answer,
                _ => answer,
            };
            return Init::Failed { answer, why, status: "error" };
        }
        let (answer, why) = if free {
            let limit = self.setting.function.init_limit;
            (Answer::Right(Vec::new()), Lifecycle::Killed(KillReason::InitCutOff { limit }))
        } else {
            timed_out(self.setting.function.timeout, request_id)
        };
        Init::Failed { answer, why, status: "timeout" }
    }
}
