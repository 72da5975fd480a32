//! Builds and their cache, with shells in place of compilers: what is built again, what is found, and what a failure leaves.

use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::time::SystemTime;

use super::*;
use crate::error::{Error, chain};

/// A user with a cache, and with several checkouts of one contender.
struct Bench {
    folder: tempfile::TempDir,
    stop: AtomicBool,
    limit: Option<u64>,
}

struct NotedReceipt {
    receipt: Result<Receipt, Error>,
    notes: Vec<String>,
}

fn bench() -> Bench {
    Bench { folder: tempfile::tempdir().unwrap(), stop: AtomicBool::new(false), limit: None }
}

impl Bench {
    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn write(&self, file: &str, text: &str) {
        let file = self.path(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    /// The contender in this checkout. Every build of it adds a line to the bench's count.
    fn contender(&self, checkout: &str, build: &str) -> Contender {
        let home = format!("{checkout}/experiments/e/contenders/fake");
        self.write(&format!("{home}/source"), "one");
        self.write(&format!("{home}/.gitignore"), "/out\n");
        self.write(&format!("{checkout}/kit/part"), "kit");
        let count = self.path("count");
        Contender {
            folder: self.path(&home),
            needs: Vec::new(),
            install: Default::default(),
            deps: None,
            build: Some(format!("echo x >> '{}'; {build}", count.display())),
            uses: Vec::new(),
            version: "cat out".to_owned(),
            variants: Vec::new(),
        }
    }

    fn builds(&self) -> Builds {
        let builds = Builds::below(self.folder.path());
        match self.limit {
            Some(limit) => Builds { cache: builds.cache.with_limit(limit), ..builds },
            None => builds,
        }
    }

    fn see(&self, contender: &Contender) -> NotedReceipt {
        self.see_anew(contender, false)
    }

    fn see_anew(&self, contender: &Contender, anew: bool) -> NotedReceipt {
        let mut notes = Vec::new();
        let note = &mut |note: &str| notes.push(note.to_owned());
        let receipt =
            self.builds().receipt(contender, &Tools::new(&Default::default()), anew, &self.stop, note);
        NotedReceipt { receipt, notes }
    }

    fn count(&self) -> usize {
        std::fs::read_to_string(self.path("count")).unwrap_or_default().lines().count()
    }

    /// A text without the bench's own path and the digests of sources.
    fn steady(&self, text: &str) -> String {
        let text = text.replace(self.folder.path().to_str().unwrap(), "BENCH");
        let is_digest = |part: &str| part.len() >= 8 && part.chars().all(|c| c.is_ascii_hexdigit());
        let parts = text.split_inclusive(['-', '.', '/']).map(|part| {
            let digits = part.trim_end_matches(['-', '.', '/']);
            if is_digest(digits) { part.replace(digits, "DIGEST") } else { part.to_owned() }
        });
        parts.collect()
    }

    /// The names in the cache, without the part of each that depends on the sources.
    fn cached(&self) -> Vec<String> {
        let names = std::fs::read_dir(self.path("cache")).unwrap();
        let mut names: Vec<String> =
            names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl NotedReceipt {
    #[track_caller]
    fn right(&self) -> (&str, Origin) {
        let receipt = self.receipt.as_ref().unwrap_or_else(|why| panic!("{}", chain(why)));
        (&receipt.version, receipt.origin)
    }

    #[track_caller]
    fn wrong(self) -> String {
        chain(&self.receipt.err().expect("a failure"))
    }

    fn folder(&self) -> &Path {
        &self.receipt.as_ref().unwrap().folder
    }

    fn digests(&self) -> &Digests {
        &self.receipt.as_ref().unwrap().digests
    }
}

#[test]
fn another_checkout_finds_what_one_has_built() {
    let bench = bench();
    let [one, other] = ["one", "other"].map(|checkout| bench.contender(checkout, "cp source out"));
    let (first, again, elsewhere) = (bench.see(&one), bench.see(&one), bench.see(&other));
    assert_eq!(first.right(), ("one", Origin::Built));
    assert_eq!(first.notes, ["building fake"]);
    for found in [again, elsewhere] {
        assert_eq!(found.right(), ("one", Origin::Found));
        assert_eq!(found.notes, [""; 0]);
        assert_eq!((found.folder(), found.digests()), (first.folder(), first.digests()));
    }
    assert_eq!(bench.count(), 1);
    assert!(!one.folder.join("out").exists(), "a checkout is left as it is");
}

#[test]
fn what_has_changed_is_built_beside_what_was_there() {
    let bench = bench();
    let contender = bench.contender("one", "cp source out");
    let first = bench.see(&contender);
    std::fs::write(contender.folder.join("source"), "two").unwrap();
    assert_eq!(bench.see(&contender).right(), ("two", Origin::Built));
    std::fs::write(contender.folder.join("source"), "one").unwrap();
    assert_eq!(bench.see(&contender).right(), ("one", Origin::Found));
    assert_eq!(first.right(), ("one", Origin::Built));
    // A file that git ignores is no source, whoever ignores it.
    std::fs::write(contender.folder.join("out"), "left from a build by hand").unwrap();
    bench.write("one/.gitignore", "source\n");
    bench.write("one/experiments/e/contenders/.ignore", "source\n");
    bench.write("one/experiments/e/contenders/fake/.git", "gitdir: elsewhere");
    assert_eq!(bench.see(&contender).right(), ("one", Origin::Found));
    std::fs::set_permissions(contender.folder.join("source"), PermissionsExt::from_mode(0o755)).unwrap();
    assert_eq!(bench.see(&contender).right(), ("one", Origin::Built), "it may be run now");
    let command = Contender { build: contender.build.clone().map(|build| build + " # more"), ..contender };
    assert_eq!(bench.see(&command).right(), ("one", Origin::Built), "another command");
    assert_eq!(bench.count(), 4);
}

#[test]
fn folders_and_files_that_it_uses_are_where_they_were() {
    let bench = bench();
    bench.write("one/notes", "for all");
    bench.write("one/other", "for nobody");
    let build =
        "cat source ../../../../kit/part ../../../../notes > out; ls ../../../.. >> out; cat out > /dev/null";
    let mut contender = bench.contender("one", build);
    contender.version = "tr '\\n' ' ' < out".to_owned();
    contender.uses = ["../../../../kit", "../../../../notes"].map(PathBuf::from).to_vec();
    assert_eq!(bench.see(&contender).right(), ("onekitfor allexperiments kit notes", Origin::Built));
    assert_eq!(bench.see(&contender).right().1, Origin::Found);
    bench.write("one/other", "changed");
    assert_eq!(bench.see(&contender).right().1, Origin::Found);
    bench.write("one/kit/part", "changed");
    assert_eq!(bench.see(&contender).right().1, Origin::Built);
    bench.write("one/notes", "changed");
    assert_eq!(bench.see(&contender).right().1, Origin::Built);
}

#[test]
fn links_stay_links() {
    let bench = bench();
    let contender = bench.contender("one", "test -L link && cp link out");
    std::os::unix::fs::symlink("source", contender.folder.join("link")).unwrap();
    assert_eq!(bench.see(&contender).right(), ("one", Origin::Built));
    std::fs::remove_file(contender.folder.join("link")).unwrap();
    std::os::unix::fs::symlink("./source", contender.folder.join("link")).unwrap();
    assert_eq!(bench.see(&contender).right(), ("one", Origin::Built), "it leads there by another name");
}

#[test]
fn it_is_built_where_it_stays() {
    let bench = bench();
    let mut contender = bench.contender("one", "pwd > out");
    contender.version = "cat \"$(cat out)/out\"".to_owned();
    let (built, found) = (bench.see(&contender), bench.see(&contender));
    for seen in [&built, &found] {
        assert_eq!(Path::new(seen.right().0), seen.folder());
    }
    assert!(built.folder().starts_with(bench.path("cache")));
}

#[test]
fn nobody_may_write_to_what_is_built_and_who_does_is_found_out() {
    let bench = bench();
    let contender =
        bench.contender("one", "cp source out; mkdir -p part/of; echo x > part/of/it; ln out linked");
    let seen = bench.see(&contender);
    let folder = seen.folder();
    for path in ["", "out", "linked", "source", "part", "part/of", "part/of/it"] {
        let mode = folder.join(path).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o222, 0, "{path}");
    }
    let [held] = &seen.receipt.as_ref().unwrap().held[..] else { panic!("one build") };
    assert_eq!(held.written().unwrap(), None);
    let written = folder.join("part/of/it");
    std::fs::set_permissions(&written, PermissionsExt::from_mode(0o644)).unwrap();
    // Until the clock of the file system has gone on.
    while held.written().unwrap().is_none() {
        std::fs::write(&written, "other").unwrap();
    }
    assert_eq!(held.written().unwrap(), Some(written));
}

#[test]
fn without_a_build_it_runs_where_it_is_written() {
    let bench = bench();
    let contender = Contender { build: None, version: "cat source".to_owned(), ..bench.contender("one", "") };
    let seen = bench.see(&contender);
    assert_eq!(seen.right(), ("one", Origin::InPlace));
    assert_eq!(seen.folder(), contender.folder.canonicalize().unwrap());
    assert_eq!(bench.cached(), [""; 0]);
}

#[test]
fn a_failed_build_says_how_leaves_nothing_and_is_tried_again() {
    let bench = bench();
    let contender = bench.contender("one", "echo no such thing >&2; exit 3");
    for _ in 0..2 {
        let failed = bench.see(&contender).wrong();
        assert_eq!(
            bench.steady(&failed),
            "its build command `echo x >> 'BENCH/count'; echo no such thing >&2; exit 3` ended with status 3: no such thing (log: BENCH/state/builds/fake-DIGEST.build.log)"
        );
        assert_eq!(bench.cached(), [""; 0]);
    }
    let mute = bench.contender("one", "touch out");
    assert_eq!(bench.see(&mute).wrong(), "its version command `cat out` printed nothing");
    assert_eq!(bench.cached(), [""; 0]);
    assert_eq!(bench.count(), 3);
}

#[test]
fn what_does_not_run_any_more_is_built_anew() {
    let bench = bench();
    let outside = bench.path("library");
    let contender = bench.contender("one", &format!("cp source '{0}' && ln -s '{0}' out", outside.display()));
    assert_eq!(bench.see(&contender).right(), ("one", Origin::Built));
    std::fs::remove_file(&outside).unwrap();
    assert_eq!(bench.see(&contender).right(), ("one", Origin::Built));
    assert_eq!(bench.see(&contender).right(), ("one", Origin::Found));
}

#[test]
fn no_cache_builds_what_is_there_and_replaces_it() {
    let bench = bench();
    let made = bench.path("made");
    let contender = bench.contender("one", &format!("cp '{}' out", made.display()));
    bench.write("made", "before");
    assert_eq!(bench.see(&contender).right(), ("before", Origin::Built));
    bench.write("made", "after");
    assert_eq!(bench.see(&contender).right(), ("before", Origin::Found));
    assert_eq!(bench.see_anew(&contender, true).right(), ("after", Origin::Built));
    assert_eq!(bench.see(&contender).right(), ("after", Origin::Found));
}

#[test]
fn half_a_build_is_removed_and_built_again() {
    let bench = bench();
    let contender = bench.contender("one", "test ! -e half && cp source out && touch half");
    let folder = bench.see(&contender).folder().to_owned();
    let entry = bench.path("cache").join(folder.parent().unwrap().file_name().unwrap());
    let mark = PathBuf::from(format!("{}.mark", entry.display()));
    // Killed before the mark was written.
    std::fs::remove_file(&mark).unwrap();
    assert_eq!(bench.see(&contender).right(), ("one", Origin::Built));
    // A mark of another key, or of nothing.
    for text in ["{\"key\":\"0\",\"bytes\":1}", "", "{"] {
        std::fs::write(&mark, text).unwrap();
        assert_eq!(bench.see(&contender).right(), ("one", Origin::Built), "{text}");
    }
    assert_eq!(bench.see(&contender).right(), ("one", Origin::Found));
    // Removed by hand, but not its mark.
    kumite_cache::remove(&entry).unwrap();
    assert_eq!(bench.see(&contender).right(), ("one", Origin::Built));
}

#[test]
fn of_two_at_once_one_builds_and_the_other_waits_for_it() {
    let bench = bench();
    let (go, begun) = (bench.path("go"), bench.path("begun"));
    let build = format!(
        "touch '{}'; until [ -e '{}' ]; do sleep 0.01; done; cp source out",
        begun.display(),
        go.display()
    );
    let contender = bench.contender("one", &build);
    let (waits, wait) = mpsc::channel();
    let seen: Vec<NotedReceipt> = std::thread::scope(|scope| {
        let first = scope.spawn(|| bench.see(&contender));
        while !begun.exists() && !first.is_finished() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let second = scope.spawn(|| {
            let mut notes = Vec::new();
            let note = &mut |note: &str| {
                notes.push(note.to_owned());
                waits.send(()).unwrap();
            };
            let tools = Tools::new(&Default::default());
            let receipt = bench.builds().receipt(&contender, &tools, false, &bench.stop, note);
            NotedReceipt { receipt, notes }
        });
        wait.recv().unwrap();
        std::fs::write(&go, "").unwrap();
        [first, second].map(|thread| thread.join().unwrap()).into()
    });
    assert_eq!(seen[0].right(), ("one", Origin::Built));
    // While the first still uses it.
    assert_eq!(seen[1].right(), ("one", Origin::Found));
    assert_eq!(seen[1].notes, ["waiting for another kumite that builds fake"]);
    assert_eq!(bench.count(), 1);
}

#[test]
fn whoever_waits_can_be_stopped() {
    let bench = bench();
    let contender = bench.contender("one", "cp source out");
    let used = bench.see(&contender);
    let failed = {
        let mut stop = |_: &str| bench.stop.store(true, Ordering::Relaxed);
        bench.builds().receipt(&contender, &Tools::new(&Default::default()), true, &bench.stop, &mut stop)
    };
    assert_eq!(failed.err().unwrap().to_string(), "it was interrupted while another kumite was at it");
    assert_eq!(used.right(), ("one", Origin::Built));
    assert_eq!(bench.count(), 1, "it is in use, and was not built anew");
}

#[test]
fn a_stopped_build_leaves_nothing() {
    let bench = bench();
    let begun = bench.path("begun");
    let contender = bench.contender("one", &format!("touch '{}'; sleep 600", begun.display()));
    let seen = std::thread::scope(|scope| {
        let building = scope.spawn(|| bench.see(&contender));
        while !begun.exists() && !building.is_finished() {
            std::thread::sleep(Duration::from_millis(1));
        }
        bench.stop.store(true, Ordering::Relaxed);
        building.join().unwrap()
    });
    let why = seen.wrong();
    assert_eq!(
        bench.steady(&why),
        "its build command: `echo x >> 'BENCH/count'; touch 'BENCH/begun'; sleep 600` was interrupted; its output so far is in BENCH/state/builds/fake-DIGEST.build.log"
    );
    assert_eq!(bench.cached(), [""; 0]);
}

/// A contender whose source is named after its text, and whose build takes some 100 kB.
fn sized(bench: &Bench, text: &str) -> Contender {
    let contender = bench.contender(text, "cp source out; head -c 100000 /dev/zero > much");
    std::fs::write(contender.folder.join("source"), text).unwrap();
    contender
}

#[test]
fn beyond_the_limit_what_was_not_used_for_longest_goes() {
    let bench = Bench { limit: Some(250_000), ..bench() };
    let [a, b, c] = ["a", "b", "c"].map(|text| sized(&bench, text));
    for (nth, contender) in [(0, &a), (1, &b)] {
        let folder = bench.see(contender).folder().to_owned();
        let lock = format!("{}.lock", folder.parent().unwrap().display());
        let used = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + nth);
        File::options().write(true).open(lock).unwrap().set_modified(used).unwrap();
    }
    // Used once more, so that the other is older now.
    assert_eq!(bench.see(&a).right(), ("a", Origin::Found));
    assert_eq!(bench.see(&c).right(), ("c", Origin::Built));
    assert_eq!(bench.cached().len(), 6, "two with marks and locks: {:?}", bench.cached());
    assert_eq!(bench.see(&a).right(), ("a", Origin::Found));
    assert_eq!(bench.see(&c).right(), ("c", Origin::Found));
    assert_eq!(bench.see(&b).right(), ("b", Origin::Built));
}

#[test]
fn beyond_the_limit_nothing_goes_that_is_in_use() {
    let bench = Bench { limit: Some(1), ..bench() };
    let [a, b] = ["a", "b"].map(|text| sized(&bench, text));
    let used = bench.see(&a);
    assert_eq!(bench.see(&b).right(), ("b", Origin::Built));
    assert!(used.folder().join("much").exists());
    drop(used);
    let kept = bench.see(&b);
    assert_eq!(kept.right(), ("b", Origin::Found), "what was just built is in use, too");
    assert_eq!(bench.see(&a).right(), ("a", Origin::Found), "only a build makes room");
    drop(kept);
    assert_eq!(bench.see(&sized(&bench, "c")).right(), ("c", Origin::Built));
    assert_eq!(bench.cached().len(), 3, "{:?}", bench.cached());
}

#[test]
fn a_build_removes_halves_that_nobody_is_at() {
    let bench = bench();
    for half in ["half-0123456789abcdef", "at-0123456789abcdef"] {
        bench.write(&format!("cache/{half}/some/thing"), "x");
        bench.write(&format!("cache/{half}.lock"), "");
    }
    let at = File::open(bench.path("cache/at-0123456789abcdef.lock")).unwrap();
    at.lock().unwrap();
    assert_eq!(bench.see(&bench.contender("one", "cp source out")).right(), ("one", Origin::Built));
    assert_eq!(bench.cached().iter().filter(|name| name.starts_with("half")).count(), 0);
    assert_eq!(bench.cached().iter().filter(|name| name.starts_with("at")).count(), 2);
}

#[test]
fn no_two_sets_of_tools_look_the_same() {
    let digest = |found: &[(&str, Option<&str>)]| {
        let mut tools = Tools::new(&Default::default());
        let known = |(tool, version): &(&str, Option<&str>)| ((*tool).to_owned(), version.map(str::to_owned));
        tools.found = found.iter().map(known).collect();
        tools_digest(&tools)
    };
    let digests = [
        digest(&[]),
        digest(&[("go", None)]),
        digest(&[("go", Some("1.22"))]),
        digest(&[("go", Some("1.23"))]),
        digest(&[("g", Some("o1.23"))]),
    ];
    let different: std::collections::HashSet<&String> = digests.iter().collect();
    assert_eq!(different.len(), digests.len());
    // Of two that print no version, the file tells which it is.
    let sh = |found: &str| {
        let mut tools = Tools::new(&Default::default());
        tools.found = vec![(found.to_owned(), None)];
        key(&Digests { source: String::new(), tools: String::new() }, &tools, None)
    };
    assert_ne!(sh("sh"), sh("cat"));
    assert_eq!(sh("sh"), sh("sh"));
}

/// A contender with a list beside its source. `deps` makes something from the list, and adds a line to a count of its
/// own.
fn with_deps(bench: &Bench, deps: &str) -> Contender {
    let contender = bench.contender("one", "cat made source > out");
    bench.write("one/experiments/e/contenders/fake/list", "list");
    let build = format!("echo x >> '{}'; {deps}", bench.path("deps").display());
    Contender { deps: Some(Deps { files: vec!["list".into()], build }), ..contender }
}

fn deps_count(bench: &Bench) -> usize {
    std::fs::read_to_string(bench.path("deps")).unwrap_or_default().lines().count()
}

#[test]
fn deps_are_made_again_only_when_what_they_name_has_changed() {
    let bench = bench();
    let contender = with_deps(&bench, "cp list made");
    let file = |name: &str| contender.folder.join(name);
    let first = bench.see(&contender);
    assert_eq!(first.right(), ("listone", Origin::Built));
    assert_eq!(first.notes, ["building fake-deps", "building fake"]);
    assert_eq!(bench.see(&contender).right(), ("listone", Origin::Found));
    std::fs::write(file("source"), "two").unwrap();
    let second = bench.see(&contender);
    assert_eq!((second.right(), deps_count(&bench)), (("listtwo", Origin::Built), 1));
    assert_eq!(second.notes, ["building fake"]);
    assert_ne!(second.digests(), first.digests(), "runs of the one are not runs of the other");
    std::fs::write(file("list"), "other ").unwrap();
    assert_eq!((bench.see(&contender).right(), deps_count(&bench)), (("other two", Origin::Built), 2));
    let mut another = contender.clone();
    another.deps.as_mut().unwrap().build += "; echo more >> made";
    let third = bench.see(&another);
    assert_eq!((third.right(), deps_count(&bench)), (("other more", Origin::Built), 3));
    assert_eq!(bench.see(&contender).right(), ("other two", Origin::Found));
}

#[test]
fn a_contender_with_deps_alone_runs_beside_them() {
    let bench = bench();
    let contender = Contender {
        build: None,
        version: "cat made/deep/of source".to_owned(),
        ..with_deps(&bench, "mkdir -p made/deep && cp list made/deep/of")
    };
    let seen = bench.see(&contender);
    assert_eq!(seen.right(), ("listone", Origin::Built));
    assert!(seen.folder().starts_with(bench.path("cache")));
    let made = seen.receipt.as_ref().unwrap().deps.as_ref().unwrap();
    assert!(made.starts_with(bench.path("cache")) && !seen.folder().starts_with(made), "{}", made.display());
}

#[test]
fn deps_find_no_file_that_they_do_not_name() {
    let bench = bench();
    let failed = bench
        .see(&with_deps(&bench, "test -e source || { echo no source >&2; exit 1; }; cat list source > made"))
        .wrong();
    assert_eq!(
        bench.steady(&failed),
        "its deps command `echo x >> 'BENCH/deps'; test -e source || { echo no source >&2; exit 1; }; cat list source > made` ended with status 1: no source (log: BENCH/state/builds/fake-DIGEST.deps.log); it finds only what `files` of [deps] names"
    );
    assert_eq!(bench.cached(), [""; 0]);
    // Nor in its history, nor in what it uses, nor above.
    let found = "all=$(find ../../../.. -type f | sed 's:.*/::'); echo \"$all\" > made";
    let mut contender = with_deps(&bench, found);
    contender.uses = vec!["../../../../kit".into()];
    contender.version = "tr '\\n' ' ' < made".to_owned();
    assert_eq!(bench.see(&contender).right().0, "list");
    // The command does without this file, so a change of it changes nothing.
    let contender = with_deps(&bench, "cat list > made; cat source >> made 2> /dev/null || true");
    assert_eq!(bench.see(&contender).right().0, "listone");
    std::fs::write(contender.folder.join("source"), "two").unwrap();
    assert_eq!(bench.see(&contender).right().0, "listtwo");
}

#[test]
fn deps_name_folders_and_what_is_used_and_nothing_that_is_ignored() {
    let bench = bench();
    let mut contender =
        with_deps(&bench, "cat list lists/a ../../../../kit/part > made; echo x > lists/made");
    bench.write("one/experiments/e/contenders/fake/lists/a", "a");
    contender.uses = vec!["../../../../kit".into()];
    contender.version = "cat made lists/made".to_owned();
    contender.deps.as_mut().unwrap().files = ["list", "lists", "../../../../kit"].map(PathBuf::from).to_vec();
    assert_eq!(bench.see(&contender).right().0, "listakitx");
    bench.write("one/kit/part", "other");
    assert_eq!((bench.see(&contender).right().0, deps_count(&bench)), ("listaotherx", 2));
    for name in ["out", "../../../../elsewhere"] {
        bench.write("one/elsewhere", "");
        std::fs::write(contender.folder.join("out"), "by hand").unwrap();
        contender.deps.as_mut().unwrap().files = vec![name.into()];
        let why = bench.see(&contender).wrong();
        assert_eq!(
            why,
            format!(
                "[deps] names {name}, which is not among its files: those of its folder and of what it `uses`, without what their .gitignore names"
            )
        );
    }
}

#[test]
fn deps_neither_change_what_they_are_made_from_nor_make_what_is_there() {
    let bench = bench();
    let wrong = |deps| bench.steady(&bench.see(&with_deps(&bench, deps)).wrong());
    assert_eq!(
        wrong("echo more >> list; touch made"),
        "its deps command changed a file that it is made from"
    );
    assert_eq!(
        wrong("rm list; touch made"),
        "its deps command removed a file that it is made from: BENCH/cache/fake-deps-DIGEST/fake/list: No such file or directory (os error 2)"
    );
    assert_eq!(
        wrong("touch made source"),
        "its deps command made fake/source, which is among its files: let it make that elsewhere"
    );
}

#[test]
fn no_build_writes_into_deps_that_others_use() {
    let bench = bench();
    let mut contender = with_deps(&bench, "cp list made");
    let right = contender.build.clone();
    assert_eq!(bench.see(&contender).right().0, "listone");
    // By then the clock of the file system has gone on.
    contender.build = Some("sleep 0.05; chmod u+w made && echo state > made; cp made out".to_owned());
    let why = bench.see(&contender).wrong();
    assert_eq!(
        bench.steady(&why),
        "its build command wrote BENCH/cache/fake-deps-DIGEST/fake/made, which [deps] made and others use: let it write elsewhere; what [deps] makes is of before: --no-cache makes it anew"
    );
    contender.build = right;
    std::fs::write(contender.folder.join("source"), "two").unwrap();
    assert_eq!((bench.see(&contender).right().0, deps_count(&bench)), ("listtwo", 2), "they are made anew");
}

#[test]
fn what_was_built_beside_deps_that_are_gone_is_built_beside_the_new_ones() {
    let bench = bench();
    let list = bench.path("newest");
    let contender = with_deps(&bench, &format!("cp '{}' made", list.display()));
    bench.write("newest", "old");
    assert_eq!(bench.see(&contender).right(), ("oldone", Origin::Built));
    bench.write("newest", "new");
    assert_eq!(bench.see(&contender).right(), ("oldone", Origin::Found));
    let made = bench.see(&contender).receipt.unwrap().deps.unwrap();
    kumite_cache::remove(&made).unwrap();
    assert_eq!(bench.see(&contender).right(), ("newone", Origin::Built), "not what is of the old");
    bench.write("newest", "newer");
    assert_eq!(bench.see_anew(&contender, true).right(), ("newerone", Origin::Built));
    assert_eq!(deps_count(&bench), 3);
}
