//! The tools of contenders: those that are here, and how to get the others.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use kumite_record::{Equipment, Fitness, NeedFound};

use crate::contender::{Contender, Need, Tools, Versions, remedy};
use crate::error::chain;
use crate::spec::{Experiment, folder_name, read_contenders};
use crate::toml_source::SpecError;

/// The longest wait for all tools together. A tool that has not printed its version by then may hang.
const ASK_LIMIT: Duration = Duration::from_secs(10);

/// The needs of the contenders of every experiment that is found by name.
pub(super) fn equipment() -> Vec<Equipment> {
    let folders = match Experiment::list() {
        Ok(folders) => folders,
        Err(error) => return vec![broken("experiments", &error)],
    };
    let mut contenders = Vec::new();
    let mut unreadable = Vec::new();
    for folder in folders {
        let name = folder_name(&folder).unwrap_or_else(|_| folder.display().to_string());
        match read_contenders(&folder) {
            Ok(found) => contenders.extend(found.into_iter().map(|contender| (name.clone(), contender))),
            Err(error) => unreadable.push(broken(&name, &error)),
        }
    }
    let mut wanted: Vec<&[Need]> = Vec::new();
    for (_, contender) in &contenders {
        if !wanted.contains(&contender.needs.as_slice()) {
            wanted.push(&contender.needs);
        }
    }
    let found = look(&wanted);
    let mut all: Vec<Equipment> = contenders
        .iter()
        .map(|(experiment, contender)| {
            let nth = wanted.iter().position(|needs| *needs == contender.needs);
            equipment_of(experiment, contender, nth.map_or(Vec::new(), |nth| found[nth].clone()))
        })
        .collect();
    all.extend(unreadable);
    all
}

fn broken(experiment: &str, error: &SpecError) -> Equipment {
    Equipment {
        experiment: experiment.to_owned(),
        contenders: Vec::new(),
        state: Fitness::Unknown,
        needs: Vec::new(),
        error: Some(error.to_string()),
        remedy: None,
    }
}

fn equipment_of(experiment: &str, contender: &Contender, needs: Vec<NeedFound>) -> Equipment {
    let has = |state| needs.iter().any(|need| need.state == state);
    let state = match (has(Fitness::Missing), has(Fitness::Unknown)) {
        (true, _) => Fitness::Missing,
        (false, true) => Fitness::Unknown,
        (false, false) => Fitness::Ok,
    };
    Equipment {
        experiment: experiment.to_owned(),
        contenders: contender.variants.iter().map(|variant| variant.name.clone()).collect(),
        state,
        needs,
        error: None,
        remedy: (state == Fitness::Missing).then(|| remedy(&contender.install)),
    }
}

/// Looks for these lists of tools on several threads, at most as many as there are CPUs. A list that is not done
/// within [`ASK_LIMIT`] is unknown.
fn look(wanted: &[&[Need]]) -> Vec<Vec<NeedFound>> {
    let unanswered = |needs: &&[Need]| needs.iter().map(unknown).collect();
    let mut found: Vec<Vec<NeedFound>> = wanted.iter().map(unanswered).collect();
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (send, receive) = channel();
    let began = Instant::now();
    std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(wanted.len());
        for _ in 0..threads {
            let (send, next, stop) = (send.clone(), &next, &stop);
            scope.spawn(move || work(wanted, next, stop, &send));
        }
        drop(send);
        while let Ok((nth, needs)) = receive.recv_timeout(ASK_LIMIT.saturating_sub(began.elapsed())) {
            found[nth] = needs;
        }
        stop.store(true, Ordering::Relaxed);
    });
    found
}

fn work(wanted: &[&[Need]], next: &AtomicUsize, stop: &AtomicBool, send: &Sender<(usize, Vec<NeedFound>)>) {
    loop {
        let nth = next.fetch_add(1, Ordering::Relaxed);
        let Some(needs) = wanted.get(nth).filter(|_| !stop.load(Ordering::Relaxed)) else { return };
        let mut tools = Tools::new(&Versions::default());
        let found = needs.iter().map(|need| find(&mut tools, need, stop)).collect();
        // Whoever asked may have stopped waiting.
        let _ = send.send((nth, found));
    }
}

fn find(tools: &mut Tools, need: &Need, stop: &AtomicBool) -> NeedFound {
    let found = tools.find(need, Path::new("/dev/null"), stop);
    if stop.load(Ordering::Relaxed) {
        return unknown(need);
    }
    let (state, missing) = match found {
        Ok(()) => (Fitness::Ok, None),
        Err(why) => (Fitness::Missing, Some(chain(&why))),
    };
    let version = match state {
        Fitness::Ok => tools.found.last().and_then(|(_, version)| version.clone()),
        _ => None,
    };
    let path = (state == Fitness::Ok).then(|| tools.file(&need.tool)).flatten();
    NeedFound { need: need.to_string(), state, version, path, missing }
}

fn unknown(need: &Need) -> NeedFound {
    NeedFound { need: need.to_string(), state: Fitness::Unknown, version: None, path: None, missing: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs(texts: &[&str]) -> Vec<Need> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn what_is_here_and_what_is_not() {
        let (here, not) = (needs(&["sh"]), needs(&["no-such-tool >= 3", "sh"]));
        let found = look(&[&here, &not]);
        let file = found[0][0].path.clone().unwrap();
        assert!(file.is_absolute() && file.ends_with("sh"), "{}", file.display());
        assert_eq!((found[0][0].state, &found[0][0].version), (Fitness::Ok, &None));
        assert_eq!(found[1][0].missing.as_deref(), Some("no-such-tool >= 3, which is not on PATH"));
        assert_eq!(found[1][1].state, Fitness::Ok, "the others are looked for all the same");
        assert!(look(&[]).is_empty());
    }

    #[test]
    fn a_contender_without_its_tools_is_missing_and_says_how_to_get_them() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("contender.toml");
        let text = "needs = ['no-such-tool', 'sh']\nversion = 'x'\n[install]\nget = 'https://example.org'\n\
                    [[variant]]\nname = 'a'\nmodel = 'threads'\nrun = 'x'\n";
        std::fs::write(&file, text).unwrap();
        let contender = Contender::read(&file).unwrap();
        let found = look(&[&contender.needs]).remove(0);
        let equipment = equipment_of("fake", &contender, found);
        assert_eq!((equipment.state, equipment.contenders), (Fitness::Missing, vec!["a".to_owned()]));
        assert_eq!(equipment.remedy.as_deref(), Some("see https://example.org"));
        let answers_late = vec![unknown(&contender.needs[0])];
        assert_eq!(equipment_of("fake", &contender, answers_late).state, Fitness::Unknown);
    }
}
