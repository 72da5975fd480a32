//! Slurm jobs that hold nodes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use kumite_lab::chain;

use super::ask::ask;
use crate::driver::Driver;
use crate::fresh_key::fresh_key;
use crate::slurm_error::{Error, TaskEnd};

/// The script of a job that kumite submits: it only waits. It ends by itself once two looks, 300 s apart, found no
/// step of the job, as after its submitter was killed. Such rare looks disturb no measurement.
const HOLD: &str = r#"#!/bin/sh
# Holds nodes for kumite, until two looks find no step of the job.
idle=0
while [ $idle -lt 2 ]; do
  sleep 300
  if squeue --noheader --steps="" --jobs="$SLURM_JOB_ID" --format=%i 2>/dev/null | grep -q '\.[0-9]'
  then idle=0; else idle=$((idle + 1)); fi
done
"#;

const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// The longest time between two looks at a job that waits: Slurm's controller has others to answer, too.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(50);
/// The time that an ending task is given until Slurm says how it ended.
const SETTLING: Duration = Duration::from_secs(15);

/// A job of Slurm. If kumite submitted it, dropping it ends the job.
pub struct Job {
    id: String,
    is_ours: bool,
    driver: Driver,
}

/// A part of a job that has nodes of its own: all of a plain job, a task of an array, or a component of a
/// heterogeneous job.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// The number that Slurm gives the task, as to any job.
    pub id: String,
    /// The name that users know and `scancel` takes, such as 12_3 for a task of an array.
    pub name: String,
    /// The task's index in an array; none in any other job.
    pub index: Option<usize>,
    pub state: TaskState,
    /// The state and the reason for it, in Slurm's words.
    pub told: String,
    /// The names of the nodes, as Slurm abbreviates them: n[1-3,7].
    pub nodes: String,
    /// The time for which the task may still have its nodes; none if that is not limited or not known.
    pub left: Option<Duration>,
}

/// The state of a task: Slurm's states, by what they mean for its nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TaskState {
    Waits,
    Runs,
    /// The task is ending, and Slurm does not say yet how.
    Ends,
    /// The task has ended, well or not.
    Ended,
}

impl Task {
    /// The end of the task; none if it waits or runs.
    pub fn end(&self) -> Option<TaskEnd> {
        let has_ended = matches!(self.state, TaskState::Ends | TaskState::Ended);
        has_ended.then(|| TaskEnd::Ended { name: self.name.clone(), told: self.told.clone() })
    }

    /// The job and the component that a step on the task's nodes has to name. If the task is a component of a
    /// heterogeneous job, the job is the whole one; else it is the task's own, and the component is `None`.
    pub fn step_of(&self) -> (String, Option<u32>) {
        let component = self.name.split_once('+').and_then(|(job, nth)| Some((job, nth.parse().ok()?)));
        component.map_or((self.id.clone(), None), |(job, nth)| (job.to_owned(), Some(nth)))
    }
}

impl Job {
    /// Submits a job that holds whole nodes. `words` are options for sbatch; `what` is a part of the job's name. An
    /// error if sbatch cannot be run, or refuses the job.
    pub fn submit(words: &[String], what: &str, driver: &Driver) -> Result<Job, Error> {
        let folder = tempfile::tempdir().map_err(Error::Scratch)?;
        let script = folder.path().join("hold.sh");
        std::fs::write(&script, HOLD).map_err(|source| Error::File { path: script.clone(), source })?;
        let script = script.to_string_lossy();
        let name = format!("kumite-{what}-{}", fresh_key());
        let named = format!("--job-name={name}");
        let mut all =
            vec!["sbatch", "--parsable", "--exclusive", "--no-requeue", "--output=/dev/null", "--chdir=/"];
        // The last --job-name counts, so ours follows those that were given; after a colon it would be another part's.
        let of_first = words.iter().position(|word| word == ":").unwrap_or(words.len());
        all.extend(words[..of_first].iter().map(String::as_str));
        all.push(&named);
        all.extend(words[of_first..].iter().map(String::as_str));
        all.push(&script);
        let submitted = ask(&all, &driver.stop).and_then(|said| {
            number(&said)
                .or_else(|| number_of(&name))
                .or_else(|| said.lines().rev().find_map(number))
                .ok_or_else(|| Error::NoNumber { said: shown(&said) })
        });
        match submitted {
            Ok(id) => {
                driver.note(&format!("submitted job {id}"));
                Ok(Job { id, is_ours: true, driver: driver.clone() })
            }
            Err(why) => {
                // Whatever sbatch printed, it may have submitted a job.
                let _ = ask(&["scancel", &format!("--name={name}")], &AtomicBool::new(false));
                Err(why)
            }
        }
    }

    /// A job that somebody else has submitted, and will end.
    pub fn found(id: String, driver: &Driver) -> Job {
        Job { id, is_ours: false, driver: driver.clone() }
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    /// The tasks of the job that Slurm still knows; empty if it knows none. An error if Slurm does not answer.
    pub fn look(&self) -> Result<Vec<Task>, Error> {
        let jobs = format!("--jobs={}", self.id);
        let said =
            ask(&["squeue", "--noheader", "--array", "--states=all", &jobs, FORMAT], &self.driver.stop);
        match said {
            Ok(said) => Ok(tasks(&said, (!self.is_ours).then_some(&self.id))),
            Err(Error::Refused { said, .. }) if said.contains("Invalid job id") => Ok(Vec::new()),
            Err(why) => Err(why),
        }
    }

    /// Waits until all tasks have their nodes, and returns the tasks. An error if a task ends or Slurm forgets the job
    /// before, after `limit` ([`Error::Late`]), or if all is to stop. If Slurm does not answer, this is noted, and
    /// Slurm is asked again.
    pub fn begun(&self, limit: Duration) -> Result<Vec<Task>, Error> {
        let began = Instant::now();
        let mut said = String::new();
        let mut pause = FIRST_PAUSE;
        loop {
            let told = match self.look() {
                Ok(tasks) if tasks.is_empty() => {
                    return Err(TaskEnd::Forgotten { name: self.id.clone() }.into());
                }
                Ok(tasks) if tasks.iter().all(|task| task.state == TaskState::Runs) => return Ok(tasks),
                Ok(tasks) => match tasks.iter().find(|task| task.state == TaskState::Ended) {
                    Some(task) => {
                        let told = task.told.clone();
                        return Err(Error::NeverBegun { id: self.id.clone(), told });
                    }
                    None => {
                        let waits = tasks.into_iter().find(|task| task.state == TaskState::Waits);
                        waits.map(|task| task.told).unwrap_or_default()
                    }
                },
                Err(why) => chain(&why),
            };
            if self.driver.stop.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            // A job that waits without a reason has not been looked at by Slurm yet.
            if told != said && told != "PENDING" {
                self.driver.note(&format!("job {}: {told}", self.id));
                said = told;
            }
            if began.elapsed() >= limit {
                return Err(Error::Late { id: self.id.clone(), waited: limit, told: said });
            }
            wait(pause, &self.driver.stop);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// The tasks of the job, once none of them is just ending. After 15 s, or when everything is to stop, they are
    /// returned as they are. An error if Slurm does not answer.
    pub fn settled(&self) -> Result<Vec<Task>, Error> {
        let began = Instant::now();
        loop {
            let tasks = self.look()?;
            let is_settled = tasks.iter().all(|task| task.state != TaskState::Ends);
            if is_settled || began.elapsed() >= SETTLING || self.driver.stop.load(Ordering::Relaxed) {
                return Ok(tasks);
            }
            wait(FIRST_PAUSE, &self.driver.stop);
        }
    }

    /// The end of the first task that has ended, or of the job if Slurm has forgotten it; none if no task has ended,
    /// or if Slurm does not answer.
    pub fn lost(&self) -> Option<TaskEnd> {
        let tasks = self.settled().ok()?;
        match tasks.is_empty() {
            true => Some(TaskEnd::Forgotten { name: self.id.clone() }),
            false => tasks.iter().find_map(Task::end),
        }
    }

    /// Ends a task or a whole job, which gives its nodes back. If that fails, it is noted.
    pub fn end(&self, task: &str) {
        // The command runs after Ctrl-C, too: no job that was submitted is left.
        if let Err(why) = ask(&["scancel", task], &AtomicBool::new(false)) {
            self.driver.note(&format!(
                "job {task} may still hold its nodes; `scancel {task}` ends it: {}",
                chain(&why)
            ));
        }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        if self.is_ours {
            self.end(&self.id);
        }
    }
}

/// The number of a job in a text that is nothing else, except for the name of a cluster after a semicolon; none in
/// any other text.
fn number(said: &str) -> Option<String> {
    let id = said.trim().split(';').next()?;
    (!id.is_empty() && id.chars().all(|c| c.is_ascii_digit())).then(|| id.to_owned())
}

/// The number of the job with this name, which no other has; none if Slurm does not know it. For an array, or a job
/// of several parts, it is that of the whole.
fn number_of(name: &str) -> Option<String> {
    let asked = ["squeue", "--noheader", "--states=all", &format!("--name={name}"), "--format=%F"];
    ask(&asked, &AtomicBool::new(false)).ok()?.lines().find_map(number)
}

fn shown(said: &str) -> String {
    said.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).take(200).collect()
}

/// Sleeps for this time, or until `stop` is set.
pub fn wait(time: Duration, stop: &AtomicBool) {
    let until = Instant::now() + time;
    while Instant::now() < until && !stop.load(Ordering::Relaxed) {
        std::thread::sleep(LOOK.min(until - Instant::now()));
    }
}

/// The format of squeue's lines: number, name, index in an array, state, its reason, nodes, time left.
const FORMAT: &str = "--format=%A|%i|%K|%T|%r|%N|%L";

/// Reads squeue's lines in `FORMAT`. With `only`, those of that job alone: asked for the last task of an array by its
/// number, squeue tells of all.
fn tasks(said: &str, only: Option<&String>) -> Vec<Task> {
    let task = |line: &str| {
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let [id, name, index, state, reason, nodes, left] = fields[..] else { return None };
        let told = match reason {
            "None" | "" => state.to_owned(),
            reason => format!("{state} ({reason})"),
        };
        let (id, name, nodes) = (id.to_owned(), name.to_owned(), nodes.to_owned());
        let state = match state {
            "PENDING" | "CONFIGURING" | "REQUEUED" | "REQUEUE_HOLD" | "REQUEUE_FED" | "RESV_DEL_HOLD"
            | "SPECIAL_EXIT" => TaskState::Waits,
            "RUNNING" | "SUSPENDED" | "STOPPED" | "SIGNALING" | "RESIZING" => TaskState::Runs,
            "COMPLETING" => TaskState::Ends,
            _ => TaskState::Ended,
        };
        Some(Task { id, name, index: index.parse().ok(), state, told, nodes, left: time(left) })
    };
    let tasks = said.lines().filter_map(task);
    tasks.filter(|task| only.is_none_or(|only| task.step_of().0 == *only)).collect()
}

/// A time as squeue writes it, `days-hours:minutes:seconds`, of which the first fields may be missing; none if it is
/// no time.
fn time(text: &str) -> Option<Duration> {
    let (days, rest) = text.split_once('-').unwrap_or(("0", text));
    let mut seconds = 0;
    for field in rest.split(':') {
        seconds = seconds * 60 + field.parse::<u64>().ok()?;
    }
    Some(Duration::from_secs(days.parse::<u64>().ok()? * 86400 + seconds))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn squeue_tells_of_a_jobs_tasks() {
        let said = "12|12|N/A|RUNNING|None|n[1-2]|1-02:00:30\n";
        let task = &tasks(said, None)[0];
        let expected = (Some(Duration::from_secs(26 * 3600 + 30)), "n[1-2]", TaskState::Runs, "RUNNING");
        assert_eq!((task.left, task.nodes.as_str(), task.state, task.told.as_str()), expected);
        // A task of an array that waits, one that a node's death ended, one in an unknown state, one that is ending.
        let said = "15|13_1|1|PENDING|Resources||UNLIMITED\n14|13_2|2|NODE_FAIL|NodeDown|n2|0:00\n13|13_3|3|WHAT||n3|INVALID\n16|13_4|4|COMPLETING|None|n4|0:09\n";
        let found = tasks(said, None);
        let told: Vec<_> = found.iter().map(|task| (task.index, task.state, task.told.as_str())).collect();
        assert_eq!(
            told,
            [
                (Some(1), TaskState::Waits, "PENDING (Resources)"),
                (Some(2), TaskState::Ended, "NODE_FAIL (NodeDown)"),
                (Some(3), TaskState::Ended, "WHAT"),
                (Some(4), TaskState::Ends, "COMPLETING")
            ]
        );
        assert!(found[..3].iter().all(|task| task.left.is_none_or(|left| left.is_zero())));
        assert_eq!(found[1].step_of(), ("14".to_owned(), None));
        let component = tasks("13|12+1|N/A|RUNNING|None|n2|1:00\n", None).remove(0);
        assert_eq!(component.step_of(), ("12".to_owned(), Some(1)));
        assert_eq!(tasks(said, Some(&"14".to_owned())).len(), 1);
        assert_eq!(tasks("squeue: something else\n", None), []);
    }

    #[test]
    fn a_number_of_a_job_is_one_and_nothing_else() {
        for said in ["7340\n", "7340;cluster\n", "\n7340\n\n", " 7340 "] {
            assert_eq!(number(said).as_deref(), Some("7340"), "{said:?}");
        }
        for said in ["", "\n", "Submitted batch job 7340\n", "Welcome\n7340\n", "-1\n", "7340x\n", ";7340\n"]
        {
            assert_eq!(number(said), None, "{said:?}");
        }
    }

    #[test]
    fn a_job_ends_by_itself_once_two_looks_find_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let file = folder.path().join(name);
            std::fs::write(&file, text).unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
            file
        };
        write("sleep", "#!/bin/sh\n");
        // Its output at each look, from the first to the fifth.
        let squeue = "#!/bin/sh\necho >> looks\nsed -n \"$(wc -l < looks)p\" says\n";
        write("squeue", squeue);
        write("says", "7.0\n7.batch\n7.12\n7.batch\n\n7.0\n");
        let hold = write("hold", HOLD);
        let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
        let mut job = std::process::Command::new("/bin/sh");
        job.arg(hold).env("PATH", path).env("SLURM_JOB_ID", "7").current_dir(folder.path());
        assert!(kumite_testing::process::output(&mut job).unwrap().status.success());
        let looks = std::fs::read_to_string(folder.path().join("looks")).unwrap();
        assert_eq!(looks.lines().count(), 5);
    }

    #[test]
    fn a_time_is_read_as_squeue_writes_it() {
        for (text, seconds) in [("5", 5), ("1:05", 65), ("1:00:05", 3605), ("2-00:00:01", 172_801)] {
            assert_eq!(time(text), Some(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["UNLIMITED", "NOT_SET", "", "a:b", "x-1"] {
            assert_eq!(time(text), None, "{text}");
        }
    }
}
