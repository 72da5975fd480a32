//! `kumite manifest`: the Kubernetes objects that run an experiment in shards, and merge them.

use std::time::Duration;

use clap::Parser;
use kumite_lab::{Experiment, seed_of};

use crate::contenders::Contenders;
use crate::exit::Failure;
use crate::{duration, output};

#[derive(Parser)]
pub struct Args {
    /// An experiment that the image has below experiments/, or a folder with an experiment.toml, which it has there too
    experiment: String,
    /// How many shards: pods of an Indexed Job, each with a node of its own
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    shards: u32,
    /// A container image with kumite and the experiment
    #[arg(long, value_parser = image)]
    image: String,
    /// How much to measure: quick, standard, full
    #[arg(long, default_value = "standard")]
    profile: String,
    #[command(flatten)]
    contenders: Contenders,
    /// Blocks at each point, at most, instead of the profile's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    blocks: Option<u32>,
    /// The run's seed, the same in all shards; without it, it is made of the experiment
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Whole CPUs of each pod, its own where the node's CPU manager is static
    #[arg(long, value_name = "N", default_value = "2", value_parser = clap::value_parser!(u32).range(1..))]
    cpus: u32,
    /// Memory of each pod, as Kubernetes writes it
    #[arg(long, value_name = "QUANTITY", default_value = "4Gi", value_parser = quantity)]
    memory: String,
    /// How long each of the two jobs may take, waiting for nodes included; then the cluster ends it, and says that it failed
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "4h")]
    deadline: Duration,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let mut experiment = Experiment::load(&args.experiment, &args.profile)?;
    experiment.blocks = args.blocks.unwrap_or(experiment.blocks);
    args.contenders.choice().check(&experiment)?;
    if experiment.blocks < args.shards {
        let (shards, blocks) = (args.shards, experiment.blocks);
        return Err(Failure::Usage(format!(
            "--shards: {shards} shards of {blocks} blocks: some would have none"
        )));
    }
    let seed = args.seed.unwrap_or_else(|| seed_of(&experiment));
    output::document(&text(args, &experiment.name, seed)?)
}

/// A registry's name, a path, and a tag or a digest.
fn image(text: &str) -> Result<String, String> {
    let is_of_one = |c: char| c.is_ascii_alphanumeric() || "._-/:@".contains(c);
    let is_one = text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(is_of_one);
    is_one.then(|| text.to_owned()).ok_or_else(|| "write it as registry.example/kumite:1".to_owned())
}

/// Digits, and one of Kubernetes' units for memory.
fn quantity(text: &str) -> Result<String, String> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let is_one = number.parse::<u64>().is_ok_and(|number| number > 0)
        && ["", "Ki", "Mi", "Gi", "Ti", "k", "M", "G", "T"].contains(&unit);
    is_one.then(|| text.to_owned()).ok_or_else(|| "write it as 4Gi or 512Mi".to_owned())
}

fn text(args: &Args, experiment: &str, seed: u64) -> Result<String, Failure> {
    let words = |words: Vec<String>| {
        let joined = shlex::try_join(words.iter().map(String::as_str));
        joined.map_err(|error| Failure::Usage(error.to_string()))
    };
    // A label of a name has 63 characters, and a pod's name a few more than its job's.
    let short: String =
        experiment.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(24).collect();
    let name = format!("kumite-{}-{seed}", short.trim_matches('-').to_lowercase());
    let folder = format!("/results/{name}");
    let mut run = vec!["kumite".to_owned(), "run".to_owned(), args.experiment.clone()];
    run.push(format!("--profile={}", args.profile));
    run.extend(args.contenders.words());
    run.extend(args.blocks.map(|blocks| format!("--blocks={blocks}")));
    run.extend([format!("--seed={seed}"), format!("--shard=auto/{}", args.shards)]);
    let run = SHARD.replace("@FOLDER@", &folder).replace("@KUMITE@", &words(run)?);
    // Where the image is at home, for the experiment is found from there.
    let merge = format!(
        "cp {folder}/[0-9]*.db \"$HOME\" && kumite merge \"$HOME\"/[0-9]*.db --db \"$HOME/merged.db\" --json {folder}/run.json \
         --html {folder}/report.html; status=$?; cp \"$HOME/merged.db\" {folder}/ || status=3; exit $status"
    );
    // What JSON calls a string YAML does, too.
    let string = |text: &str| serde_json::to_string(text).map_err(|error| Failure::Usage(error.to_string()));
    let filled = TEMPLATE
        .replace("@POD@", POD)
        .replace("@NAME@", &name)
        .replace("@SHARDS@", &args.shards.to_string())
        .replace("@CPUS@", &args.cpus.to_string())
        .replace("@DEADLINE@", &args.deadline.as_secs().max(1).to_string())
        .replace("@MEMORY@", &args.memory)
        .replace("@IMAGE@", &string(&args.image)?)
        .replace("@RUN_SHARD@", &string(&run)?)
        .replace("@MERGE_THEM@", &string(&merge)?);
    Ok(filled)
}

/// What a shard's pod does. SQLite's journal is shared memory beside the store, which the volume's file system may not have:
/// so the store is on the node's own disk, and copied when the shard has ended, also by a signal. What is in the journal still,
/// where kumite was killed, comes into the store when that is opened: hence `kumite list`. A shard that is executed
/// again has a store of its own.
const SHARD: &str = r#"to="@FOLDER@/$JOB_COMPLETION_INDEX-$HOSTNAME"
mkdir -p @FOLDER@ && touch "$to.part" || {
  echo "cannot write to /results as user 1000 of group 1000. fsGroup is not applied to hostPath, nor to some network file systems: give the volume's folder to group 1000, or take another class of storage" >&2
  exit 3
}
@KUMITE@ --db "$HOME/shard.db" & kumite=$!
trap 'kill -TERM $kumite 2> /dev/null' TERM
wait $kumite; status=$?
while kill -0 $kumite 2> /dev/null; do wait $kumite; status=$?; done
if test -e "$HOME/shard.db"; then kumite list --runs --db "$HOME/shard.db" && cp "$HOME/shard.db" "$to.part" && mv "$to.part" "$to.db" || status=3; fi
rm -f "$to.part"; cp -r "$HOME/logs" "$to.logs" 2> /dev/null
exit $status"#;

/// What both jobs' pods have: no privilege, whole CPUs and memory that are theirs, and the volume.
const POD: &str = r#"restartPolicy: Never
      automountServiceAccountToken: false
      securityContext:
        runAsNonRoot: true
        runAsUser: 1000
        runAsGroup: 1000
        fsGroup: 1000
        seccompProfile: {type: RuntimeDefault}
      volumes:
        - name: results
          persistentVolumeClaim: {claimName: @NAME@}
        - name: home
          emptyDir: {}
      containers:
        - name: kumite
          image: @IMAGE@
          securityContext:
            allowPrivilegeEscalation: false
            capabilities: {drop: [ALL]}
          resources:
            requests: {cpu: "@CPUS@", memory: @MEMORY@}
            limits: {cpu: "@CPUS@", memory: @MEMORY@}
          env:
            - {name: HOME, value: /home/kumite}
            - name: NODE_NAME
              valueFrom: {fieldRef: {fieldPath: spec.nodeName}}
          volumeMounts:
            - {name: results, mountPath: /results}
            - {name: home, mountPath: /home/kumite}"#;

const TEMPLATE: &str = r#"# kubectl apply -f FILE
# ended() { until kubectl wait --for=condition=complete --timeout=5s job/$1 || kubectl wait --for=condition=failed --timeout=1s job/$1; do kubectl get job/$1 || return; done > /dev/null 2>&1; }
# ended @NAME@
# kubectl patch job/@NAME@-merge --patch '{"spec": {"suspend": false}}'
# ended @NAME@-merge
# kubectl logs job/@NAME@-merge
#
# A job that has failed is never complete; `ended` waits for either. Where a job fails, or its pods stay Pending:
#   kubectl describe job/@NAME@; kubectl describe pod -l kumite-run=@NAME@   events say why no node takes a pod
#   kubectl logs -l kumite-run=@NAME@ --prefix                               what kumite says
#   kubectl describe pvc/@NAME@                                              why there is no volume
# Usual reasons: no class of storage (storageClassName), fewer nodes with --cpus free than shards, an image that cannot be
# pulled. After @DEADLINE@ s (--deadline) a job ends by itself and has failed. fsGroup is not applied to a volume that is a
# hostPath, nor to some network file systems: its folder must belong to group 1000.
#
# The claim needs a class of storage that several nodes may write to. Requests are limits, in whole CPUs: where the
# kubelet has cpuManagerPolicy: static, no other container runs on a pod's CPUs. That is not so by default, and no pod can
# see whether it is; processes of the node itself may still run there.
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: @NAME@
spec:
  accessModes: [ReadWriteMany]
  resources:
    requests:
      storage: 1Gi
---
apiVersion: batch/v1
kind: Job
metadata:
  name: @NAME@
spec:
  completionMode: Indexed
  completions: @SHARDS@
  parallelism: @SHARDS@
  activeDeadlineSeconds: @DEADLINE@
  # A shard that is lost is executed again, once; what a pod had that was told to end is on the volume.
  backoffLimitPerIndex: 1
  maxFailedIndexes: @SHARDS@
  template:
    metadata:
      labels: {kumite-run: @NAME@}
    spec:
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - topologyKey: kubernetes.io/hostname
              labelSelector:
                matchExpressions: [{key: kumite-run, operator: Exists}]
      @POD@
          command: [sh, -c, @RUN_SHARD@]
---
apiVersion: batch/v1
kind: Job
metadata:
  name: @NAME@-merge
spec:
  # Until the shards are there.
  suspend: true
  activeDeadlineSeconds: @DEADLINE@
  backoffLimit: 0
  template:
    spec:
      @POD@
          command: [sh, -c, @MERGE_THEM@]
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_a_name() {
        for text in ["kumite", "localhost:5000/kumite:1", "r.example/a/b@sha256:00ff"] {
            assert!(image(text).is_ok(), "{text}");
        }
        for text in ["", "a b", "-x", "a\nb: c", "\"a\""] {
            assert!(image(text).is_err(), "{text}");
        }
    }

    #[test]
    fn memory_is_a_quantity() {
        for text in ["4Gi", "512Mi", "1000000"] {
            assert!(quantity(text).is_ok(), "{text}");
        }
        for text in ["", "Gi", "0Gi", "4gb", "4Gi\nx: y", "-1"] {
            assert!(quantity(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_shards_store_is_on_the_volume_when_its_pod_has_ended_however_that_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        let pod = |to: &str, kumite: &str| {
            let script = SHARD.replace("@FOLDER@", to).replace("@KUMITE@", kumite);
            let home = tempfile::tempdir_in(folder.path()).unwrap().keep();
            let mut shell = std::process::Command::new("sh");
            shell
                .args(["-c", &script])
                .env("PATH", format!("{}:/usr/bin:/bin", path("bin")))
                .env("HOME", home)
                .env("JOB_COMPLETION_INDEX", "2")
                .env("HOSTNAME", "pod");
            let output = kumite_testing::process::output(&mut shell).unwrap();
            (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
        };
        std::fs::create_dir(path("bin")).unwrap();
        // What is in the journal is in the store once that was opened.
        let opens = "#!/bin/sh\n[ \"$1 $2 $3\" = 'list --runs --db' ] || exit 2; echo opened >> \"$4\"\n";
        std::fs::write(path("bin/kumite"), opens).unwrap();
        std::fs::set_permissions(path("bin/kumite"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .unwrap();
        let kept = |to: &str| std::fs::read_to_string(format!("{to}/2-pod.db")).unwrap_or_default();
        // What stands for kumite is given `--db FILE`.
        for (name, kumite, status) in [
            ("well", "sh -c 'echo kept > $2' -", 0),
            ("badly", "sh -c 'echo kept > $2; exit 3' -", 3),
            // The cluster ends the pod: its first process is told so, and kumite by that.
            (
                "told",
                "sh -c 'trap \"echo kept > $2; exit 3\" TERM; kill -TERM $PPID; while :; do sleep 0.01; done' -",
                3,
            ),
        ] {
            let to = path(name);
            assert_eq!(pod(&to, kumite), (Some(status), String::new()), "{name}");
            assert_eq!(kept(&to), "kept\nopened\n", "{name}");
        }
        std::fs::write(path("file"), "").unwrap();
        let (status, said) = pod(&path("file/below"), "false");
        assert!(status == Some(3) && said.contains("cannot write to /results"), "{said}");
    }

    #[test]
    fn nothing_is_left_to_fill_in_and_words_stay_words() {
        let words = ["manifest", "a b/$(x)", "--shards=8", "--image=registry/kumite:1", "--only=x,y"];
        let filled = text(&Args::parse_from(words), "My Experiment", 7).unwrap();
        assert!(!filled.contains('@'), "{filled}");
        assert!(filled.contains("name: kumite-myexperiment-7\n"), "{filled}");
        assert!(
            filled.contains(
                r#"kumite run 'a b/$(x)' '--profile=standard' --only x --only y '--seed=7' '--shard=auto/8' --db \"$HOME/shard.db\" &"#
            ),
            "{filled}"
        );
        assert!(filled.contains("  activeDeadlineSeconds: 14400\n"), "{filled}");
    }
}
