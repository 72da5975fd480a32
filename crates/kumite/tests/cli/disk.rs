use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use kumite_disk::{available, file_text, unmount, write_files};
use kumite_testing::{Capability, lacks};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use crate::place::{Place, Said};
use crate::printed::printed;
use crate::schema::assert_right;

/// Of each of the files.
const SIZE: usize = 20_000;

/// A disk at work: `files`, with three files, is mounted at `disk`.
struct Disk {
    /// None once it is ended.
    child: Option<Child>,
    at: PathBuf,
}

impl Disk {
    fn start(place: &Place, arguments: &[&str]) -> Disk {
        folders(place);
        let arguments = [&["disk", "files", "disk"], arguments].concat();
        let mut command = place.command(&arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        // Byte by byte, so that nothing of what follows is taken.
        BufReader::with_capacity(1, child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let at = place.path("disk").canonicalize().unwrap();
        assert_eq!(line, format!("mounted at {}\n", at.display()));
        Disk { child: Some(child), at }
    }

    fn file(&self, nth: usize) -> PathBuf {
        self.at.join(nth.to_string())
    }

    fn signal(&mut self, signal: Signal) -> Said {
        let child = self.child.take().unwrap();
        kill(Pid::from_raw(child.id() as i32), signal).unwrap();
        Said::of(child.wait_with_output().unwrap())
    }

    fn end(mut self) -> Said {
        let said = self.signal(Signal::SIGTERM).ended(0);
        assert_eq!(said.err, "");
        assert!(!is_mounted(&self.at));
        said
    }
}

impl Drop for Disk {
    /// None is left behind, also where a test fails.
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
        let _ = unmount(&self.at);
    }
}

fn folders(place: &Place) {
    for folder in ["files", "files/sub", "disk"] {
        std::fs::create_dir(place.path(folder)).unwrap();
    }
    write_files(&place.path("files"), 3, SIZE).unwrap();
}

fn is_mounted(at: &Path) -> bool {
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
    mounts.lines().any(|line| line.starts_with(&format!("kumite-disk {} fuse ", at.display())))
}

/// True if there can be no disk here, which is then said.
fn cannot_mount() -> bool {
    let Err(why) = available() else { return false };
    lacks(Capability::Fuse, why);
    true
}

#[test]
fn its_files_are_those_of_the_folder_and_cannot_be_changed() {
    if cannot_mount() {
        return;
    }
    let place = Place::new("", &[]);
    let disk = Disk::start(&place, &["--delay", "1ms"]);
    assert!(is_mounted(&disk.at));
    let entries = std::fs::read_dir(&disk.at).unwrap().map(|entry| entry.unwrap());
    let mut names: Vec<_> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["0", "1", "2"]);
    for nth in 0..3 {
        assert_eq!(std::fs::metadata(disk.file(nth)).unwrap().len(), SIZE as u64);
        assert_eq!(std::fs::read_to_string(disk.file(nth)).unwrap(), file_text(nth, SIZE));
    }
    for gone in ["3", "sub"] {
        assert_eq!(File::open(disk.at.join(gone)).unwrap_err().kind(), std::io::ErrorKind::NotFound);
    }
    let error = File::options().write(true).open(disk.file(0)).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ReadOnlyFilesystem);
    disk.end();
}

#[test]
fn each_first_read_waits_for_the_delay_and_two_at_once_for_two() {
    if cannot_mount() {
        return;
    }
    let place = Place::new("", &[]);
    let disk = Disk::start(&place, &["--delay", "30ms"]);
    // The second reading of a file costs the same: nothing is cached.
    for _ in 0..2 {
        let start = Instant::now();
        std::fs::read(disk.file(0)).unwrap();
        assert!(start.elapsed() >= Duration::from_millis(30));
    }
    let start = Instant::now();
    let readers = [0, 1].map(|nth| {
        let file = disk.file(nth);
        thread::spawn(move || std::fs::read(file).unwrap())
    });
    for reader in readers {
        reader.join().unwrap();
    }
    assert!(start.elapsed() >= Duration::from_millis(60));
    let open = File::open(disk.file(2)).unwrap();
    let start = Instant::now();
    for offset in [5000, 0] {
        open.read_exact_at(&mut [0; 100], offset).unwrap();
    }
    assert!(start.elapsed() >= Duration::from_millis(60));
    let said = disk.end();
    printed!(said.words());
}

#[test]
fn the_size_of_the_chunks_changes_nothing_but_the_number_of_reads() {
    if cannot_mount() {
        return;
    }
    let place = Place::new("", &[]);
    let disk = Disk::start(&place, &["--delay", "1ms", "--json", "disk.json"]);
    for (nth, chunk) in [(0, SIZE), (1, 8192), (2, 1000)] {
        let mut open = File::open(disk.file(nth)).unwrap();
        let (mut chunk, mut text) = (vec![0; chunk], Vec::new());
        loop {
            match open.read(&mut chunk).unwrap() {
                0 => break,
                bytes => text.extend_from_slice(&chunk[..bytes]),
            }
        }
        assert_eq!(text, file_text(nth, SIZE).into_bytes());
    }
    let said = disk.end();
    // Each file in 1, 3, and 20 reads, and one more that finds its end.
    printed!(said.words());
    let did = serde_json::from_str(&place.read("disk.json")).unwrap();
    assert_right("disk", &did);
    let counts = json!([did["opens"], did["seeks"], did["reads"], did["bytes"], did["delay_us"]]);
    assert_eq!(counts, json!([3, 3, 27, 60_000, 1000.0]));
    assert!(did["late_us"]["max"].as_f64().unwrap() > 0.0, "{did}");
    assert_eq!(did["command"], "kumite disk files disk --delay 1ms --json disk.json");
}

#[test]
fn what_follows_a_seek_is_none_and_neither_is_to_open() {
    if cannot_mount() {
        return;
    }
    let place = Place::new("", &[]);
    let disk = Disk::start(&place, &["--delay", "1ms"]);
    let mut begun = File::open(disk.file(0)).unwrap();
    begun.read_exact(&mut [0; 100]).unwrap();
    let mut rest = String::new();
    begun.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, file_text(0, SIZE)[100..]);
    assert_eq!(File::open(disk.file(2)).unwrap().metadata().unwrap().len(), SIZE as u64);
    let said = disk.end();
    printed!(said.words());
}

#[test]
#[ignore = "timing"]
fn only_seeks_wait_for_seeks() {
    if cannot_mount() {
        return;
    }
    let place = Place::new("", &[]);
    let disk = Disk::start(&place, &["--delay", "1s"]);
    let mut begun = File::open(disk.file(0)).unwrap();
    begun.read_exact(&mut [0; 100]).unwrap();
    let other = disk.file(1);
    let seek = thread::spawn(move || std::fs::read(other).unwrap());
    thread::sleep(Duration::from_millis(100));
    begun.read_to_string(&mut String::new()).unwrap();
    File::open(disk.file(2)).unwrap().metadata().unwrap();
    assert!(!seek.is_finished());
    seek.join().unwrap();
    disk.end();
}

#[test]
fn a_disk_in_use_is_unmounted_and_whoever_waits_gets_an_error() {
    if cannot_mount() {
        return;
    }
    let place = Place::new("", &[]);
    let disk = Disk::start(&place, &["--delay", "10s"]);
    let mut open = File::open(disk.file(0)).unwrap();
    let waits = thread::spawn(move || open.read(&mut [0; 10]));
    thread::sleep(Duration::from_millis(100));
    let start = Instant::now();
    disk.end();
    assert!(waits.join().unwrap().is_err());
    assert!(start.elapsed() < Duration::from_secs(9), "it waited for the delay");
}

#[test]
fn it_ends_when_it_is_unmounted_by_somebody_else() {
    if cannot_mount() {
        return;
    }
    let place = Place::new("", &[]);
    let mut disk = Disk::start(&place, &["--delay", "1ms"]);
    std::fs::read(disk.file(0)).unwrap();
    unmount(&disk.at).unwrap();
    let said = Said::of(disk.child.take().unwrap().wait_with_output().unwrap()).ended(0);
    printed!(said.words());
}

#[test]
fn a_killed_disk_leaves_a_dead_mount_that_is_named_and_can_be_taken_away() {
    if cannot_mount() {
        return;
    }
    let place = Place::new("", &[]);
    let mut disk = Disk::start(&place, &["--delay", "1ms"]);
    assert_eq!(disk.signal(Signal::SIGKILL).code, -1);
    assert!(is_mounted(&disk.at));
    let said = place.kumite(&["disk", "files", "disk", "--delay", "1ms"]).ended(2);
    printed!(said.notes());
    unmount(&disk.at).unwrap();
    assert!(!is_mounted(&disk.at));
    unmount(&disk.at).unwrap();
}

#[test]
fn what_makes_no_sense_is_said_before_it_is_mounted() {
    let place = Place::new("", &[]);
    folders(&place);
    std::fs::create_dir(place.path("empty")).unwrap();
    for arguments in [
        &["missing", "disk", "--delay", "1ms"][..],
        &["files/0", "disk", "--delay", "1ms"],
        &["empty", "disk", "--delay", "1ms"],
        &["files", "missing", "--delay", "1ms"],
        &["files", "files", "--delay", "1ms"],
        &["files", "disk", "--delay", "soon"],
        &["files", "disk", "--delay", "0s"],
        &["files", "disk", "--delay", "11s"],
        &["files", "disk"],
        &["files", "disk", "--delay", "1ms", "--json", "missing/disk.json"],
    ] {
        let said = place.kumite(&[&["disk"], arguments].concat()).ended(2);
        printed!(said.notes());
        assert_eq!(said.out, "", "{arguments:?}");
    }
    assert!(!is_mounted(&place.path("disk").canonicalize().unwrap()));
}

/// A service's, for the time of a trial.
#[test]
fn the_slow_disk_of_a_run_that_was_killed_is_unmounted_by_the_next_one() {
    if cannot_mount() {
        return;
    }
    let place = Place::new("", &[]);
    place.write(
        "experiments/fake/experiment.toml",
        "question = 'x'\nkind = 'command'\nblocks = 1\n[workload]\ntimeout_s = 120\n[services.disk]\nkind = 'files'\n\
         size_bytes = 1000\ndelay_ms = 1\n[answer]\nequals = \"right\\n\"\n",
    );
    let run = r#"cat "$DISK_PATH/0" > "$SCRATCH/x" && touch ../../../../begun
until [ -e ../../../../go ]; do sleep 0.02; done; echo right"#;
    let text =
        format!("version = 'echo 1'\n[[variant]]\nname = 'a'\nmodel = 'sequential'\nrun = '''{run}'''\n");
    place.write("experiments/fake/contenders/a/contender.toml", &text);
    std::fs::create_dir(place.path("tmp")).unwrap();
    let tmp = place.path("tmp").canonicalize().unwrap();
    let mounts = || {
        let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
        mounts.lines().filter(|line| line.contains(&format!(" {}/", tmp.display()))).count()
    };
    let begin = || {
        let mut command = place.command(&["run", "fake"]);
        command.env("TMPDIR", &tmp).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let mut killed = begin();
    kumite_testing::eventually(|| place.path("begun").exists());
    killed.kill().unwrap();
    killed.wait().unwrap();
    kumite_testing::eventually(|| place.left().is_empty());
    assert_eq!(mounts(), 1, "it is dead, and there");
    place.write("go", "");
    let said = Said::of(begin().wait_with_output().unwrap()).ended(0);
    printed!(said.notes());
    assert_eq!((mounts(), std::fs::read_dir(&tmp).unwrap().count()), (0, 0), "{}", said.err);
}
