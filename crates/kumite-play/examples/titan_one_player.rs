//! Plays on a library in place of the Titan One's: `titan_one_player HOW LIBRARY MACRO FPS`. A library has one adapter and
//! is told by the environment what to do, so that each play of the tests is a process of its own.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use kumite_play::{Control, Device, Gcapi, Macro, PadState, PlayEnd, play};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [how, library, combo, fps] = &args[..] else { panic!("{args:?}") };
    let mut device = match Gcapi::connect(Path::new(library)) {
        Ok(device) => device,
        Err(error) => return println!("not connected: {error}"),
    };
    println!("device: {}", device.description().expect("it is connected"));
    let mut schedule = Macro::parse(combo.as_bytes()).expect("it is a macro").schedule();
    let fps = fps.parse().expect("a number of frames");
    let (stop, at) = (AtomicBool::new(false), AtomicUsize::new(0));
    if how == "stop" {
        // However late the stop comes.
        schedule.0.last_mut().expect("it has states").frames = u32::from(u16::MAX);
    }
    std::thread::scope(|scope| {
        if how == "stop" {
            scope.spawn(|| {
                while at.load(Ordering::Relaxed) < 4 {
                    std::thread::sleep(Duration::from_millis(1));
                }
                stop.store(true, Ordering::Relaxed);
            });
        }
        if how == "panic" {
            device.write(PadState::from_iter([Control::Cross]), Duration::ZERO).expect("it takes it");
            panic!("with a button pressed");
        }
        match play(&schedule, fps, &mut device, &stop, &at).ended {
            PlayEnd::Failed(error) => println!("failed: {error}"),
            ended => println!("ended: {ended:?}"),
        }
    });
}
