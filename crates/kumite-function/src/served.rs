//! A function that is being served: its slots, and what a call goes through.
//!
//! The rules are those that AWS documents for on-demand functions. The init phase has a whole core and a limit of its own;
//! where it fails or is cut off, the process is started once more within the call, with the call's CPU share and time-out,
//! and is then part of what is billed. The invoke phase ends when the runtime client, having answered, asks for the next
//! event. A call that takes too long, and a process that ends, cost the instance.

use std::collections::VecDeque;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tokio::sync::watch;
use uuid::Uuid;

use crate::conversation::{Answer, Event, Initialized};
use crate::instance::{Instance, Setting};
use crate::lines::{self, Report};
use crate::runtime_api::document;
use crate::slots::Slots;
use crate::{FunctionError, Happening, Invocation, Refused, What};

/// The most bytes of a call that is waited for: what AWS documents.
pub(crate) const MOST_PAYLOAD_BYTES: usize = 6_291_456;
/// An instance whose log is longer is replaced.
const MOST_LOG_BYTES: u64 = 64 << 20;
/// So much of a call's log is kept with it.
const KEPT_LOG_BYTES: u64 = 256 << 10;
/// How often the length of the log is looked at.
const LOOK: Duration = Duration::from_millis(250);
/// What a process said in its last moment may come a little later than its end.
const LAST_WORDS: Duration = Duration::from_millis(50);
/// What is remembered of instances.
const MOST_HAPPENINGS: usize = 100_000;

pub(crate) type Tell = dyn Fn(&str) + Send + Sync;

/// A function, its instances, and what has happened to them.
pub(crate) struct Served {
    pub setting: Arc<Setting>,
    slots: Mutex<Slots<Instance>>,
    happenings: Mutex<VecDeque<Happening>>,
    instances: AtomicU32,
    stop: watch::Receiver<bool>,
    tell: Arc<Tell>,
}

/// A call as it is offered.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub request_id: String,
    pub payload: Vec<u8>,
    pub client_context: Option<String>,
    pub offered: Instant,
}

impl Call {
    pub fn new(payload: Vec<u8>) -> Call {
        let request_id = Uuid::new_v4().to_string();
        Call { request_id, payload, client_context: None, offered: Instant::now() }
    }

    /// What may be called with, or why not.
    pub fn check(payload: &[u8], most: usize) -> Result<(), Refused> {
        if payload.len() > most {
            return Err(Refused::TooLarge { bytes: payload.len(), most });
        }
        let json = serde_json::from_slice::<serde::de::IgnoredAny>(payload);
        json.map(drop).map_err(|error| Refused::NotJson(error.to_string()))
    }
}

/// How the invoke phase ended.
enum Invoked {
    /// The instance has answered and waits for the next event since then.
    Answered(Answer, Instant),
    /// The instance is of no more use.
    Over {
        answer: Answer,
        why: What,
        status: Option<&'static str>,
        at: Instant,
    },
    Stopping,
}

/// How an initialization ended.
enum Init {
    Done(Instant),
    Failed { answer: Answer, why: What, status: &'static str },
    Stopping,
}

/// An instance before its call.
struct Begun {
    /// None if its init phase failed.
    instance: Option<Instance>,
    number: u32,
    cold: bool,
    /// Its init phase, as far as it went.
    init: Duration,
    init_cpu: Option<Duration>,
}

/// A slot that is free again when this is dropped, with the instance that is in it.
struct Place<'a> {
    served: &'a Served,
    nth: usize,
    instance: Option<Instance>,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.served.slots().put(self.nth, self.instance.take());
    }
}

impl Served {
    pub fn new(setting: Setting, stop: watch::Receiver<bool>, tell: Arc<Tell>) -> Served {
        let slots = Slots::new(setting.function.routing, setting.function.max_instances);
        Served {
            setting: Arc::new(setting),
            slots: Mutex::new(slots),
            happenings: Mutex::default(),
            instances: AtomicU32::new(0),
            stop,
            tell,
        }
    }

    /// What has happened, in the order of time.
    pub fn happenings(&self) -> Vec<Happening> {
        locked(&self.happenings).iter().cloned().collect()
    }

    /// Ends all instances that are idle; whether no call is in flight.
    pub async fn end_idle(&self) -> bool {
        let (idle, quiet) = self.slots().drain();
        for instance in idle {
            self.end(instance, stopped()).await;
        }
        quiet
    }

    /// A call from its offer to its answer.
    pub async fn call(&self, call: Call) -> Result<Invocation, Refused> {
        let busy = || Refused::Throttled(self.setting.function.max_instances);
        if *self.stop.borrow() {
            return Err(Refused::Stopping);
        }
        let (nth, idle) = self.slots().take().ok_or_else(busy)?;
        let mut place = Place { served: self, nth, instance: None };
        let Begun { instance, number, cold, init, init_cpu } = self.begun(idle, &call.request_id).await?;
        let init_done = instance.is_some();
        let began = Instant::now();
        let deadline = began + self.setting.function.timeout;
        let (mut instance, logged, cpu_before, early) = match instance {
            Some(mut instance) => {
                let (logged, cpu) = (instance.logged(), instance.cpu());
                (instance, logged, cpu, None)
            }
            None => {
                let (instance, early) = self.begun_again(number, &call.request_id, deadline).await?;
                (instance, 0, Some(Duration::ZERO), early)
            }
        };
        let invoked = match early {
            Some(early) => early,
            None => {
                self.happened(number, What::Invoke);
                self.invoke(&mut instance, &call, deadline).await
            }
        };
        let ended = match &invoked {
            Invoked::Answered(_, at) | Invoked::Over { at, .. } => *at,
            Invoked::Stopping => Instant::now(),
        };
        self.happened_at(number, What::InvokeDone, ended);
        let duration = ended.saturating_duration_since(began);
        let cpu = instance.cpu().zip(cpu_before).map(|(now, before)| now.saturating_sub(before));
        let max_memory_bytes = instance.max_memory_bytes();
        self.reject(&instance);
        let wrote = instance.log_since(logged, KEPT_LOG_BYTES);
        let wall = call.offered.elapsed();
        let (answer, status) = self.put_back(&mut place, instance, invoked).await?;
        let (payload, error) = match answer {
            Answer::Right(payload) => (payload, None),
            Answer::Wrong(kind, document) => {
                let message = message_of(&document);
                (document, Some(FunctionError { kind, message }))
            }
        };
        let report = Report {
            request_id: &call.request_id,
            duration,
            billed: self.setting.function.billing.billed(init, duration),
            memory_mb: self.setting.function.memory_mb,
            max_memory_bytes,
            init: (cold && init_done).then_some(init),
            status: status.or(error.as_ref().map(|_| "error")),
        };
        let log = lines::of_call(&wrote, &report);
        (self.tell)(&log);
        Ok(Invocation {
            request_id: call.request_id,
            payload,
            error,
            log,
            instance: number,
            cold,
            inits: u32::from(cold) + u32::from(!init_done),
            offered: call.offered,
            wall,
            init,
            init_cpu,
            duration,
            cpu,
            max_memory_bytes,
        })
    }

    /// The instance of a slot, if it still lives; else a new one, after its init phase.
    async fn begun(&self, idle: Option<Instance>, request_id: &str) -> Result<Begun, Refused> {
        if let Some(idle) = idle
            && let Some(instance) = self.awake(idle).await
        {
            let (number, none) = (instance.number, Duration::ZERO);
            let instance = Some(instance);
            return Ok(Begun { instance, number, cold: false, init: none, init_cpu: Some(none) });
        }
        let number = self.instances.fetch_add(1, Ordering::Relaxed) + 1;
        self.happened(number, What::Init);
        let mut instance = Instance::start(&self.setting, number, false).await.map_err(Refused::Start)?;
        let until = instance.began + self.setting.function.init_limit;
        let initialized = self.initialized(&mut instance, request_id, until, true).await;
        let init_cpu = instance.cpu();
        let mut told = instance.log_since(0, KEPT_LOG_BYTES);
        let (instance, init) = match initialized {
            Init::Done(at) => {
                let init = at.saturating_duration_since(instance.began);
                if let Err(why) = instance.throttle() {
                    self.end(instance, What::Killed(why.clone())).await;
                    return Err(Refused::Start(why));
                }
                self.happened(number, What::InitDone);
                (Some(instance), init)
            }
            Init::Failed { why, status, .. } => {
                let init = instance.began.elapsed().min(self.setting.function.init_limit);
                told += &lines::init_report(init, status);
                self.end(instance, why).await;
                (None, init)
            }
            Init::Stopping => {
                self.end(instance, stopped()).await;
                return Err(Refused::Stopping);
            }
        };
        (self.tell)(&told);
        Ok(Begun { instance, number, cold: true, init, init_cpu })
    }

    /// An instance's process once more, within a call; with how the call ended, if it did by that.
    async fn begun_again(
        &self,
        number: u32,
        request_id: &str,
        deadline: Instant,
    ) -> Result<(Instance, Option<Invoked>), Refused> {
        self.happened(number, What::Reinit);
        let mut instance = Instance::start(&self.setting, number, true).await.map_err(Refused::Start)?;
        let early = match self.initialized(&mut instance, request_id, deadline, false).await {
            Init::Done(_) => {
                self.happened(number, What::InitDone);
                None
            }
            Init::Failed { answer, why, status } => {
                let at = Instant::now().min(deadline);
                Some(Invoked::Over { answer, why, status: Some(status), at })
            }
            Init::Stopping => Some(Invoked::Stopping),
        };
        Ok((instance, early))
    }

    /// After a call the instance is frozen until the next, or ended: what it answered, and what its report says of that.
    async fn put_back(
        &self,
        place: &mut Place<'_>,
        mut instance: Instance,
        invoked: Invoked,
    ) -> Result<(Answer, Option<&'static str>), Refused> {
        match invoked {
            Invoked::Answered(answer, _) => {
                instance.conversation.end();
                if instance.logged() > MOST_LOG_BYTES {
                    self.end(instance, too_much_log()).await;
                    return Ok((answer, None));
                }
                if instance.freeze() {
                    self.happened(instance.number, What::Frozen);
                }
                place.instance = Some(instance);
                Ok((answer, None))
            }
            Invoked::Over { answer, why, status, .. } => {
                self.end(instance, why).await;
                Ok((answer, status))
            }
            Invoked::Stopping => {
                self.end(instance, stopped()).await;
                Err(Refused::Stopping)
            }
        }
    }

    /// A warm instance goes on, if it still lives.
    async fn awake(&self, mut instance: Instance) -> Option<Instance> {
        let number = instance.number;
        if let Some(status) = instance.exited() {
            self.end(instance, What::Exited(words(status))).await;
            return None;
        }
        if instance.thaw() {
            self.happened(number, What::Thawed);
        }
        self.reject(&instance);
        Some(instance)
    }

    /// What the instance said that was not to be said has happened.
    fn reject(&self, instance: &Instance) {
        for rejected in instance.conversation.rejected() {
            self.happened(instance.number, What::Rejected(rejected));
        }
    }

    /// Waits for the end of an initialization.
    async fn initialized(
        &self,
        instance: &mut Instance,
        request_id: &str,
        until: Instant,
        free: bool,
    ) -> Init {
        let conversation = Arc::clone(&instance.conversation);
        let ended = tokio::select! {
            biased;
            said = conversation.initialized() => match said {
                // It is the clock that cuts off, however late it was looked at.
                Initialized::Done(at) if at <= until => return Init::Done(at),
                Initialized::Done(_) => false,
                Initialized::Failed(answer) => {
                    let why = What::Killed("it said that it cannot be initialized".to_owned());
                    return Init::Failed { answer, why, status: "error" };
                }
            },
            () = instance.ended() => true,
            () = tokio::time::sleep_until(until.into()) => false,
            () = stopping(self.stop.clone()) => return Init::Stopping,
        };
        if ended {
            let (answer, why) = exited(instance, request_id);
            let answer = match tokio::time::timeout(LAST_WORDS, conversation.initialized()).await {
                Ok(Initialized::Failed(answer)) => answer,
                _ => answer,
            };
            return Init::Failed { answer, why, status: "error" };
        }
        let (answer, why) = if free {
            let limit = self.setting.function.init_limit;
            let why = What::Killed(format!("its initialization was cut off after {} s", limit.as_secs_f64()));
            (Answer::Right(Vec::new()), why)
        } else {
            self.timed_out(request_id)
        };
        Init::Failed { answer, why, status: "timeout" }
    }

    /// Gives an instance its event and waits for what comes of it.
    async fn invoke(&self, instance: &mut Instance, call: &Call, deadline: Instant) -> Invoked {
        let left = deadline.saturating_duration_since(Instant::now());
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let conversation = Arc::clone(&instance.conversation);
        conversation.give(Event {
            request_id: call.request_id.clone(),
            payload: call.payload.clone(),
            deadline_ms: (now + left).as_millis(),
            arn: self.setting.arn.clone(),
            trace_id: trace_id(now),
            client_context: call.client_context.clone(),
        });
        let done = async {
            let answer = conversation.answered().await;
            (answer, conversation.asked().await)
        };
        tokio::pin!(done);
        loop {
            let look = tokio::select! {
                biased;
                (answer, asked) = &mut done => return Invoked::Answered(answer, asked),
                () = instance.ended() => break,
                () = tokio::time::sleep_until(deadline.into()) => {
                    let (answer, why) = self.timed_out(&call.request_id);
                    return Invoked::Over { answer, why, status: Some("timeout"), at: deadline };
                }
                () = stopping(self.stop.clone()) => return Invoked::Stopping,
                () = tokio::time::sleep(LOOK) => instance.logged(),
            };
            if look > MOST_LOG_BYTES {
                let why = too_much_log();
                let message = format!("RequestId: {} Error: {}", call.request_id, said(&why));
                let answer = wrong("Sandbox.LogTooLong", &message);
                return Invoked::Over { answer, why, status: Some("error"), at: Instant::now() };
            }
        }
        let at = Instant::now();
        let (answer, why) = exited(instance, &call.request_id);
        // An answer that was given stands, whatever the process did after it.
        match tokio::time::timeout(LAST_WORDS, conversation.answered()).await {
            Ok(answer) => Invoked::Over { answer, why, status: None, at },
            Err(_) => Invoked::Over { answer, why, status: Some("error"), at },
        }
    }

    fn timed_out(&self, request_id: &str) -> (Answer, What) {
        let limit = self.setting.function.timeout.as_secs_f64();
        let message = format!("RequestId: {request_id} Error: Task timed out after {limit:.2} seconds");
        (wrong("Sandbox.Timedout", &message), What::Killed(format!("time-out after {limit} s")))
    }

    async fn end(&self, instance: Instance, why: What) {
        let number = instance.number;
        self.happened(number, why);
        instance.end().await;
        self.happened(number, What::Gone);
    }

    fn happened(&self, instance: u32, what: What) {
        self.happened_at(instance, what, Instant::now());
    }

    fn happened_at(&self, instance: u32, what: What, at: Instant) {
        let told = match &what {
            What::Rejected(what) => Some(format!("it {what}")),
            What::Killed(why) => Some(format!("killed: {why}")),
            What::Exited(how) => Some(format!("exited: {how}")),
            _ => None,
        };
        if let Some(told) = told {
            (self.tell)(&format!("instance {instance} of {}: {told}\n", self.setting.function.name));
        }
        let mut happenings = locked(&self.happenings);
        if happenings.len() == MOST_HAPPENINGS {
            happenings.pop_front();
        }
        happenings.push_back(Happening { instance, at, what });
    }

    fn slots(&self) -> MutexGuard<'_, Slots<Instance>> {
        locked(&self.slots)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing here panics while it is held.
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Until the host is stopped.
pub(crate) async fn stopping(mut stop: watch::Receiver<bool>) {
    // Who could stop it is gone: so is the host.
    let _ = stop.wait_for(|stop| *stop).await;
}

fn stopped() -> What {
    What::Killed("the host is stopped".to_owned())
}

fn too_much_log() -> What {
    What::Killed(format!("it wrote more than {} MiB to its log", MOST_LOG_BYTES >> 20))
}

fn said(why: &What) -> &str {
    match why {
        What::Killed(why) | What::Exited(why) => why,
        _ => "",
    }
}

/// What callers are told of a process that has ended by itself.
fn exited(instance: &mut Instance, request_id: &str) -> (Answer, What) {
    let status = instance.exited();
    let how = status.map_or_else(|| "in an unknown way".to_owned(), words);
    let (kind, how) = match instance.ran_out_of_memory() {
        true => ("Runtime.OutOfMemory", format!("out of memory, {how}")),
        false => ("Runtime.ExitError", how),
    };
    let message = match status {
        Some(status) if status.success() => "Runtime exited without providing a reason".to_owned(),
        _ => format!("Runtime exited with error: {how}"),
    };
    (wrong(kind, &format!("RequestId: {request_id} Error: {message}")), What::Exited(how))
}

fn wrong(kind: &str, message: &str) -> Answer {
    Answer::Wrong(kind.to_owned(), document(kind, message))
}

fn words(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(9)) => "signal: killed".to_owned(),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "an unknown way".to_owned(),
    }
}

fn message_of(document: &[u8]) -> String {
    let parsed = serde_json::from_slice::<serde_json::Value>(document).ok();
    let message = parsed.as_ref().and_then(|document| document.get("errorMessage")?.as_str());
    message.unwrap_or_default().to_owned()
}

/// As X-Ray's are: who calls whom cannot be told here, so each call is a trace of its own.
fn trace_id(now: Duration) -> String {
    let random = Uuid::new_v4().simple().to_string();
    let parent = Uuid::new_v4().simple().to_string();
    format!("Root=1-{:08x}-{};Parent={};Sampled=0", now.as_secs(), &random[..24], &parent[..16])
}
