//! A function that is being served: its slots, its instances, and what has happened to them.
//!
//! The rules are those that AWS documents for on-demand functions. The init phase has at least a whole core, and a
//! limit of its own. If it fails or is cut off, the process is started once more within the call, with the call's CPU
//! share and time-out, and that time is billed. The invoke phase ends when the runtime client, having answered, asks
//! for the next event. An instance ends when a call takes too long, when its log is too long, or when its process
//! ends.

mod call;
mod events;
mod failure;
mod init;

use std::collections::VecDeque;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tokio::sync::{Semaphore, watch};

pub(crate) use call::{Call, MOST_PAYLOAD_BYTES};

use crate::instance::{Instance, Setting};
use crate::slots::Slots;
use crate::turns::Turns;
use crate::{InstanceEvent, Lifecycle};

/// The most bytes of a call's log that are kept with it: its end.
const KEPT_LOG_BYTES: u64 = 256 << 10;
/// The longest wait for a process's last request, after the end of the process.
const LAST_WORDS: Duration = Duration::from_millis(50);
/// The most events of a function's instances that are remembered: the last ones.
const MOST_EVENTS: usize = 100_000;

pub(crate) type Tell = dyn Fn(&str) + Send + Sync;

/// A function that is being served, with its instances and what has happened to them.
pub(crate) struct FunctionState {
    pub setting: Arc<Setting>,
    turns: Turns<Instance>,
    /// The places for calls that nobody waits for.
    room: Arc<Semaphore>,
    timeline: Mutex<VecDeque<InstanceEvent>>,
    instances: AtomicU32,
    stop: watch::Receiver<bool>,
    tell: Arc<Tell>,
}

impl FunctionState {
    pub fn new(setting: Setting, stop: watch::Receiver<bool>, tell: Arc<Tell>) -> FunctionState {
        let slots = Slots::new(setting.function.routing, setting.function.max_instances);
        FunctionState {
            setting: Arc::new(setting),
            turns: Turns::new(slots),
            room: events::room(),
            timeline: Mutex::default(),
            instances: AtomicU32::new(0),
            stop,
            tell,
        }
    }

    /// The events of all instances, in the order in which they were recorded: at most the last [`MOST_EVENTS`]. A
    /// moment may be earlier than that of the event before.
    pub fn timeline(&self) -> Vec<InstanceEvent> {
        locked(&self.timeline).iter().cloned().collect()
    }

    /// Ends all instances that are idle. True if no call has a slot.
    pub async fn end_idle(&self) -> bool {
        let (idle, quiet) = self.turns.drain();
        for instance in idle {
            self.end(instance, failure::STOPPED).await;
        }
        quiet
    }

    /// Records the requests of an instance that broke the protocol.
    fn record_rejected(&self, instance: &Instance) {
        for rejected in instance.protocol.rejected() {
            self.record(instance.number, Lifecycle::Rejected(rejected));
        }
    }

    async fn end(&self, instance: Instance, why: Lifecycle) {
        let number = instance.number;
        self.record(number, why);
        instance.end().await;
        self.record(number, Lifecycle::Gone);
    }

    fn record(&self, instance: u32, what: Lifecycle) {
        self.record_at(instance, what, Instant::now());
    }

    fn record_at(&self, instance: u32, what: Lifecycle, at: Instant) {
        let told = match &what {
            Lifecycle::Rejected(what) => Some(format!("it {what}")),
            Lifecycle::Killed(why) => Some(format!("killed: {why}")),
            Lifecycle::Exited(how) => Some(format!("exited: {how}")),
            _ => None,
        };
        if let Some(told) = told {
            (self.tell)(&format!("instance {instance} of {}: {told}\n", self.setting.function.name));
        }
        let mut timeline = locked(&self.timeline);
        if timeline.len() == MOST_EVENTS {
            timeline.pop_front();
        }
        timeline.push_back(InstanceEvent { instance, at, what });
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing here panics while the lock is held.
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Waits until the host is stopped.
pub(crate) async fn stopping(mut stop: watch::Receiver<bool>) {
    // An error means that nobody is left who could stop the host: it is gone.
    let _ = stop.wait_for(|stop| *stop).await;
}
