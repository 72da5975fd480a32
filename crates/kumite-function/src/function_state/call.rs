//! A call from its offer to its answer: its slot, its instance, the invoke phase and the report.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use axum::body::Bytes;
use serde::de::IgnoredAny;
use uuid::Uuid;

use super::failure::{MOST_LOG_BYTES, STOPPED, TOO_MUCH_LOG, exited, message_of, timed_out, wrong};
use super::init::{Init, InitPhase};
use super::{FunctionState, KEPT_LOG_BYTES, LAST_WORDS, stopping};
use crate::instance::Instance;
use crate::lines::{self, Report};
use crate::runtime_protocol::{Answer, Event};
use crate::turns::Turn;
use crate::{ContentError, FunctionError, Invocation, Lifecycle, Refused};

/// The most bytes of the payload of a call that is waited for, as AWS documents it.
pub(crate) const MOST_PAYLOAD_BYTES: usize = 6_291_456;
/// The time between two looks at the length of the log.
const LOOK: Duration = Duration::from_millis(250);

/// A call that was offered.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub request_id: String,
    pub payload: Bytes,
    pub client_context: Option<String>,
    pub offered: Instant,
}

impl Call {
    pub fn new(payload: Bytes) -> Call {
        let request_id = Uuid::new_v4().to_string();
        Call { request_id, payload, client_context: None, offered: Instant::now() }
    }

    /// Refuses a payload that is longer than `most` bytes, or is no JSON.
    pub fn check(payload: &[u8], most: usize) -> Result<(), Refused> {
        if payload.len() > most {
            return Err(Refused::TooLarge { bytes: payload.len(), most });
        }
        // The parser does not check the encoding of text that it skips.
        let text = std::str::from_utf8(payload).map_err(ContentError::from)?;
        serde_json::from_str::<IgnoredAny>(text).map_err(ContentError::from)?;
        Ok(())
    }
}

/// The outcome of the invoke phase.
enum Invoked {
    /// The instance has answered, and has waited for the next event since this moment.
    Answered(Answer, Instant),
    /// The instance is of no more use; it is ended for the reason `why`.
    Over {
        answer: Answer,
        why: Lifecycle,
        status: Option<&'static str>,
        at: Instant,
    },
    Stopping,
}

impl Invoked {
    /// The outcome of an invoke phase in which a second initialization did not succeed; none if it did.
    fn without_event(init: Init, deadline: Instant) -> Option<Invoked> {
        match init {
            Init::Done(_) => None,
            Init::Failed { answer, why, status } => {
                Some(Invoked::Over { answer, why, status: Some(status), at: Instant::now().min(deadline) })
            }
            Init::Stopping => Some(Invoked::Stopping),
        }
    }
}

/// The measurements of an invoke phase.
struct InvokePhase {
    /// The length of the phase, a second initialization included.
    took: Duration,
    cpu: Duration,
    max_memory_bytes: u64,
    /// The text that the function wrote to its log: at most the last [`KEPT_LOG_BYTES`].
    wrote: String,
    /// The time from the offer of the call until the invoke phase was over and measured.
    wall: Duration,
}

impl FunctionState {
    /// Makes a call, from its offer to its answer. It is refused if as many calls with a caller are under way as there
    /// may be instances, if an instance cannot be started, or if the host stops.
    pub async fn call(&self, call: Call) -> Result<Invocation, Refused> {
        let busy = || Refused::Throttled(self.setting.function.max_instances);
        let turn = tokio::select! {
            biased;
            () = stopping(self.stop.clone()) => return Err(Refused::Stopping),
            turn = self.turns.of_caller() => turn.ok_or_else(busy)?,
        };
        self.called(turn, call).await
    }

    /// Makes a call that has its turn.
    pub(super) async fn called(
        &self,
        mut turn: Turn<'_, Instance>,
        call: Call,
    ) -> Result<Invocation, Refused> {
        let idle = turn.instance.take();
        let (instance, init) = self.begin(idle, &call.request_id).await?;
        let began = Instant::now();
        let deadline = began + self.setting.function.timeout;
        let (mut instance, logged, cpu_before, early) = match instance {
            Some(mut instance) => {
                let (logged, cpu) = (instance.logged(), instance.cpu());
                (instance, logged, cpu, None)
            }
            None => {
                let (instance, again) = self.begin_again(init.number, &call.request_id, deadline).await?;
                (instance, 0, Duration::ZERO, Invoked::without_event(again, deadline))
            }
        };
        let invoked = match early {
            Some(early) => early,
            None => {
                self.record(init.number, Lifecycle::Invoke);
                self.invoke(&mut instance, &call, deadline).await
            }
        };
        let ended = match &invoked {
            Invoked::Answered(_, at) | Invoked::Over { at, .. } => *at,
            Invoked::Stopping => Instant::now(),
        };
        self.record_at(init.number, Lifecycle::InvokeDone, ended);
        let cpu = instance.cpu().saturating_sub(cpu_before);
        let max_memory_bytes = instance.max_memory_bytes();
        self.record_rejected(&instance);
        let invoke = InvokePhase {
            took: ended.saturating_duration_since(began),
            cpu,
            max_memory_bytes,
            wrote: instance.log_since(logged, KEPT_LOG_BYTES),
            wall: call.offered.elapsed(),
        };
        let (answer, status) = self.put_back(&mut turn, instance, invoked).await?;
        Ok(self.invocation(call, init, invoke, answer, status))
    }

    /// The record of a call. Its log is also passed to `tell`.
    fn invocation(
        &self,
        call: Call,
        init: InitPhase,
        invoke: InvokePhase,
        answer: Answer,
        status: Option<&'static str>,
    ) -> Invocation {
        let (payload, error) = match answer {
            Answer::Right(payload) => (payload, None),
            Answer::Wrong(kind, document) => {
                let message = message_of(&document);
                (document, Some(FunctionError { kind, message }))
            }
        };
        let report = Report {
            request_id: &call.request_id,
            duration: invoke.took,
            billed: self.setting.function.billing.billed(init.took, invoke.took),
            memory_mb: self.setting.function.memory_mb,
            max_memory_bytes: invoke.max_memory_bytes,
            init: (init.cold && init.done).then_some(init.took),
            status: status.or(error.as_ref().map(|_| "error")),
        };
        let log = lines::of_call(&invoke.wrote, &report);
        (self.tell)(&log);
        Invocation {
            request_id: call.request_id,
            payload,
            error,
            log,
            instance: init.number,
            cold: init.cold,
            inits: u32::from(init.cold) + u32::from(!init.done),
            offered: call.offered,
            wall: invoke.wall,
            init: init.took,
            init_cpu: init.cpu,
            duration: invoke.took,
            cpu: invoke.cpu,
            max_memory_bytes: invoke.max_memory_bytes,
        }
    }

    /// Freezes the instance until the next call, or ends it. Returns the answer, and the status for the report if the
    /// instance was ended before it had answered. An error if the host is stopped.
    async fn put_back(
        &self,
        turn: &mut Turn<'_, Instance>,
        mut instance: Instance,
        invoked: Invoked,
    ) -> Result<(Answer, Option<&'static str>), Refused> {
        match invoked {
            Invoked::Answered(answer, _) => {
                instance.protocol.end();
                if instance.logged() > MOST_LOG_BYTES {
                    self.end(instance, Lifecycle::Killed(TOO_MUCH_LOG)).await;
                    return Ok((answer, None));
                }
                if instance.freeze() {
                    self.record(instance.number, Lifecycle::Frozen);
                }
                turn.instance = Some(instance);
                Ok((answer, None))
            }
            Invoked::Over { answer, why, status, .. } => {
                self.end(instance, why).await;
                Ok((answer, status))
            }
            Invoked::Stopping => {
                self.end(instance, STOPPED).await;
                Err(Refused::Stopping)
            }
        }
    }

    /// Gives an instance its event, and waits for the outcome until `deadline`.
    async fn invoke(&self, instance: &mut Instance, call: &Call, deadline: Instant) -> Invoked {
        let left = deadline.saturating_duration_since(Instant::now());
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let protocol = Arc::clone(&instance.protocol);
        protocol.give(Event {
            request_id: call.request_id.clone(),
            payload: call.payload.clone(),
            deadline_ms: (now + left).as_millis(),
            arn: self.setting.arn.clone(),
            trace_id: trace_id(now),
            client_context: call.client_context.clone(),
        });
        let done = async {
            let answer = protocol.answered().await;
            (answer, protocol.asked().await)
        };
        tokio::pin!(done);
        loop {
            let look = tokio::select! {
                biased;
                (answer, asked) = &mut done => return Invoked::Answered(answer, asked),
                () = instance.ended() => break,
                () = tokio::time::sleep_until(deadline.into()) => {
                    let (answer, why) = timed_out(self.setting.function.timeout, &call.request_id);
                    return Invoked::Over { answer, why, status: Some("timeout"), at: deadline };
                }
                () = stopping(self.stop.clone()) => return Invoked::Stopping,
                () = tokio::time::sleep(LOOK) => instance.logged(),
            };
            if look > MOST_LOG_BYTES {
                let message = format!("RequestId: {} Error: {}", call.request_id, TOO_MUCH_LOG);
                let answer = wrong("Sandbox.LogTooLong", &message);
                let why = Lifecycle::Killed(TOO_MUCH_LOG);
                return Invoked::Over { answer, why, status: Some("error"), at: Instant::now() };
            }
        }
        let at = Instant::now();
        let (answer, why) = exited(instance, &call.request_id);
        // An answer that was given stands, whatever the process did after it.
        match tokio::time::timeout(LAST_WORDS, protocol.answered()).await {
            Ok(answer) => Invoked::Over { answer, why, status: None, at },
            Err(_) => Invoked::Over { answer, why, status: Some("error"), at },
        }
    }
}

/// A trace id in the form of X-Ray's. Each call is a trace of its own, since the host cannot tell who calls whom.
fn trace_id(now: Duration) -> String {
    let random = Uuid::new_v4().simple().to_string();
    let parent = Uuid::new_v4().simple().to_string();
    format!("Root=1-{:08x}-{};Parent={};Sampled=0", now.as_secs(), &random[..24], &parent[..16])
}
