//! The Kubernetes objects that run an experiment in shards, and merge them.
//!
//! kumite prints them and talks to no cluster; the user reads and applies them. Shards are the pods of an Indexed
//! Job, each on a node of its own with whole CPUs. Their stores come to a volume, and a second job, which waits until
//! somebody resumes it, merges them. The shard of a pod that is lost or fails is executed again, once. The trials
//! until then are merged, too, unless the pod was killed before it could copy its store.

use std::str::FromStr;
use std::time::Duration;

use crate::image::Image;
use crate::misuse::Misuse;

/// The parameters of the Kubernetes objects that execute one run.
pub struct Manifest<'a> {
    /// The experiment's name.
    pub experiment: &'a str,
    /// The words of the command `kumite run …`, without seed and shard.
    pub run: Vec<String>,
    /// The run's seed.
    pub seed: u64,
    /// The number of shards. Each has a pod and a node.
    pub shards: u32,
    /// The container image, which has kumite and the experiment.
    pub image: &'a Image,
    /// The number of whole CPUs of each pod.
    pub cpus: u32,
    /// The memory of each pod.
    pub memory: &'a Memory,
    /// The longest time that each of the two jobs may take. Fractions of a second are dropped; less than 1 s is taken
    /// as 1 s.
    pub deadline: Duration,
}

/// An amount of memory above zero: digits, and one of Kubernetes' units from `k` and `Ki` to `T` and `Ti`, or none
/// for bytes.
#[derive(Clone, Debug)]
pub struct Memory(String);

/// The text is no amount of memory as Kubernetes writes it, or it is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write it as 4Gi or 512Mi")]
pub struct NoMemory;

impl FromStr for Memory {
    type Err = NoMemory;

    fn from_str(text: &str) -> Result<Memory, NoMemory> {
        let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
        let is_one = number.parse::<u64>().is_ok_and(|number| number > 0)
            && ["", "Ki", "Mi", "Gi", "Ti", "k", "M", "G", "T"].contains(&unit);
        is_one.then(|| Memory(text.to_owned())).ok_or(NoMemory)
    }
}

impl Manifest<'_> {
    /// The objects as YAML. An error if a word of the command cannot be quoted for a shell.
    pub fn text(&self) -> Result<String, Misuse> {
        let words = |words: Vec<String>| {
            let joined = shlex::try_join(words.iter().map(String::as_str));
            joined.map_err(Misuse::NoWord)
        };
        // A label may have 63 characters, and a pod's name a few more than its job's.
        let short: String =
            self.experiment.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(24).collect();
        let name = format!("kumite-{}-{}", short.trim_matches('-').to_lowercase(), self.seed);
        let folder = format!("/results/{name}");
        let mut run = self.run.clone();
        run.extend([format!("--seed={}", self.seed), format!("--shard=auto/{}", self.shards)]);
        let run = SHARD.replace("@FOLDER@", &folder).replace("@KUMITE@", &words(run)?);
        // The script stays in the image's working directory, from which kumite finds the experiment.
        let merge = format!(
            "cp {folder}/[0-9]*.db \"$HOME\" && kumite merge \"$HOME\"/[0-9]*.db --db \"$HOME/merged.db\" --json {folder}/run.json \
             --html {folder}/report.html; status=$?; cp \"$HOME/merged.db\" {folder}/ || status=3; exit $status"
        );
        // A string of JSON is one of YAML, too.
        let string = |text: &str| serde_json::to_string(text).expect("text is a string of JSON");
        let filled = TEMPLATE
            .replace("@POD@", POD)
            .replace("@NAME@", &name)
            .replace("@SHARDS@", &self.shards.to_string())
            .replace("@CPUS@", &self.cpus.to_string())
            .replace("@DEADLINE@", &self.deadline.as_secs().max(1).to_string())
            .replace("@MEMORY@", &self.memory.0)
            .replace("@IMAGE@", &string(self.image.as_str()))
            .replace("@RUN_SHARD@", &string(&run))
            .replace("@MERGE_THEM@", &string(&merge));
        Ok(filled)
    }
}

/// The script of a shard's pod.
///
/// SQLite's journal is shared memory beside the store, which the volume's file system may not have. So the store is
/// on the node's own disk, and is copied when the shard has ended, also by a signal. If kumite was killed, trials are
/// still in the journal, and come into the store when it is opened: hence `kumite list`. A shard that is executed
/// again has the same host name, so its store is named by its pod.
const SHARD: &str = r#"to="@FOLDER@/$JOB_COMPLETION_INDEX-$POD_NAME"
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

/// The part that the pods of both jobs share: no privileges, whole CPUs and memory of their own, and the volume.
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
            - name: POD_NAME
              valueFrom: {fieldRef: {fieldPath: metadata.name}}
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
    fn memory_is_a_quantity() {
        for text in ["4Gi", "512Mi", "1000000"] {
            assert!(text.parse::<Memory>().is_ok(), "{text}");
        }
        for text in ["", "Gi", "0Gi", "4gb", "4Gi\nx: y", "-1"] {
            assert!(text.parse::<Memory>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_shards_store_is_on_the_volume_when_its_pod_has_ended_however_that_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        let pod = |to: &str, name: &str, kumite: &str| {
            let script = SHARD.replace("@FOLDER@", to).replace("@KUMITE@", kumite);
            let home = tempfile::tempdir_in(folder.path()).unwrap().keep();
            let mut shell = std::process::Command::new("sh");
            shell
                .args(["-c", &script])
                .env("PATH", format!("{}:/usr/bin:/bin", path("bin")))
                .env("HOME", home)
                .env("JOB_COMPLETION_INDEX", "2")
                // A pod and the one after it have this in common.
                .env("HOSTNAME", "job-2")
                .env("POD_NAME", name);
            let output = kumite_testing::process::output(&mut shell).unwrap();
            (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
        };
        std::fs::create_dir(path("bin")).unwrap();
        // A stand-in for `kumite list`, which opens the store and so brings the journal into it.
        let opens = "#!/bin/sh\n[ \"$1 $2 $3\" = 'list --runs --db' ] || exit 2; echo opened >> \"$4\"\n";
        std::fs::write(path("bin/kumite"), opens).unwrap();
        std::fs::set_permissions(path("bin/kumite"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .unwrap();
        let kept =
            |to: &str, name: &str| std::fs::read_to_string(format!("{to}/2-{name}.db")).unwrap_or_default();
        // The stand-in for kumite is given `--db FILE`.
        for (name, kumite, status) in [
            ("well", "sh -c 'echo kept > $2' -", 0),
            ("badly", "sh -c 'echo kept > $2; exit 3' -", 3),
            // The cluster ends the pod: its first process gets SIGTERM, and passes it on to kumite.
            (
                "told",
                "sh -c 'trap \"echo kept > $2; exit 3\" TERM; kill -TERM $PPID; while :; do sleep 0.01; done' -",
                3,
            ),
        ] {
            let to = path(name);
            assert_eq!(pod(&to, "pod", kumite), (Some(status), String::new()), "{name}");
            assert_eq!(kept(&to, "pod"), "kept\nopened\n", "{name}");
        }
        pod(&path("told"), "again", "sh -c 'echo again > $2' -");
        assert_eq!(
            (kept(&path("told"), "pod"), kept(&path("told"), "again")),
            ("kept\nopened\n".into(), "again\nopened\n".into())
        );
        std::fs::write(path("file"), "").unwrap();
        let (status, said) = pod(&path("file/below"), "pod", "false");
        assert!(status == Some(3) && said.contains("cannot write to /results"), "{said}");
    }

    #[test]
    fn nothing_is_left_to_fill_in_and_words_stay_words() {
        let run =
            ["kumite", "run", "a b/$(x)", "--profile=standard", "--only", "x"].map(str::to_owned).to_vec();
        let (image, memory) = ("registry/kumite:1".parse().unwrap(), "4Gi".parse().unwrap());
        let manifest = Manifest {
            experiment: "My Experiment",
            run,
            seed: 7,
            shards: 8,
            image: &image,
            cpus: 2,
            memory: &memory,
            deadline: Duration::from_secs(4 * 3600),
        };
        let filled = manifest.text().unwrap();
        assert!(!filled.contains('@'), "{filled}");
        assert!(filled.contains("name: kumite-myexperiment-7\n"), "{filled}");
        assert!(
            filled.contains(
                r#"kumite run 'a b/$(x)' '--profile=standard' --only x '--seed=7' '--shard=auto/8' --db \"$HOME/shard.db\" &"#
            ),
            "{filled}"
        );
        assert!(filled.contains("  activeDeadlineSeconds: 14400\n"), "{filled}");
        let named = "- name: POD_NAME\n              valueFrom: {fieldRef: {fieldPath: metadata.name}}\n";
        assert!(filled.contains(named), "{filled}");
    }
}
