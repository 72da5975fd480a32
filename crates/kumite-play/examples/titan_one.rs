//! A library for tests: the entry points of the Titan One's, and no adapter behind them.
//!
//! Each call is a line in the file that `TITAN_ONE_LOG` names: µs since `gcdapi_Load`, what is called, and for a write the
//! 36 values. `TITAN_ONE` says how it misbehaves: `unloadable`, `connects=N` (at the Nth look, 0 for never), `refuses=N`
//! (the Nth write).

use std::fs::File;
use std::io::Write;
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

struct Adapter {
    log: File,
    began: Instant,
    looks: usize,
    writes: usize,
}

static ADAPTER: Mutex<Option<Adapter>> = Mutex::new(None);

fn adapter() -> MutexGuard<'static, Option<Adapter>> {
    ADAPTER.lock().expect("no call panics")
}

impl Adapter {
    fn says(&mut self, what: &str) {
        writeln!(self.log, "{} {what}", self.began.elapsed().as_micros()).expect("the log can be written");
    }
}

/// N of `what=N` in `TITAN_ONE`.
fn environment_number(what: &str) -> Option<usize> {
    let told = std::env::var("TITAN_ONE").ok()?;
    told.strip_prefix(what)?.strip_prefix('=')?.parse().ok()
}

/// 1 if it is ready.
#[unsafe(no_mangle)]
pub extern "system" fn gcdapi_Load() -> u8 {
    let log = std::env::var_os("TITAN_ONE_LOG").expect("TITAN_ONE_LOG names a file");
    let log = File::create(log).expect("the log can be made");
    let mut adapter = adapter();
    assert!(adapter.is_none(), "loaded twice");
    let adapter = adapter.insert(Adapter { log, began: Instant::now(), looks: 0, writes: 0 });
    adapter.says("gcdapi_Load");
    (std::env::var("TITAN_ONE").as_deref() != Ok("unloadable")).into()
}

/// The end.
#[unsafe(no_mangle)]
pub extern "system" fn gcdapi_Unload() {
    adapter().take().expect("loaded").says("gcdapi_Unload");
}

/// 1 if it is connected.
#[unsafe(no_mangle)]
pub extern "system" fn gcapi_IsConnected() -> u8 {
    let mut adapter = adapter();
    let adapter = adapter.as_mut().expect("loaded");
    adapter.looks += 1;
    adapter.says("gcapi_IsConnected");
    let at = environment_number("connects").unwrap_or(1);
    (at > 0 && adapter.looks >= at).into()
}

/// Some version.
#[unsafe(no_mangle)]
pub extern "system" fn gcapi_GetFWVer() -> u16 {
    adapter().as_mut().expect("loaded").says("gcapi_GetFWVer");
    0x0115
}

/// At a PlayStation 4, with a PlayStation 4's controller. All other bytes are written too, so that a report which is too
/// small is found.
#[unsafe(no_mangle)]
pub extern "system" fn gcapi_Read(report: &mut [u8; 252]) -> u8 {
    adapter().as_mut().expect("loaded").says("gcapi_Read");
    report.fill(0xff);
    report[..2].copy_from_slice(&[3, 0x40]);
    1
}

/// 1 if the values are taken.
#[unsafe(no_mangle)]
pub extern "system" fn gcapi_Write(values: &[i8; 36]) -> u8 {
    let mut adapter = adapter();
    let adapter = adapter.as_mut().expect("loaded");
    adapter.writes += 1;
    adapter.says(&format!("gcapi_Write {values:?}"));
    (environment_number("refuses") != Some(adapter.writes)).into()
}
