#!/bin/sh
# What `kumite manifest` prints is what Kubernetes takes, by its own schemas: tests/cluster/manifest.sh [KUMITE]
set -eu
cd "$(dirname "$0")/../.."
KUMITE=$(realpath "${1:-target/debug/kumite}")
WORK=$(mktemp -d /tmp/kumite-manifest.XXXXXX)
trap 'rm -rf "$WORK"' EXIT
python3 -m venv "$WORK/venv"
"$WORK/venv/bin/pip" install --quiet --disable-pip-version-check kubernetes-validate==1.37.0
validate() {
    "$WORK/venv/bin/kubernetes-validate" --strict "$1"
}

"$KUMITE" manifest compress --shards 8 --image registry.example/kumite:1 > "$WORK/good.yaml"
validate "$WORK/good.yaml"
test "$(grep -c '^kind: ' "$WORK/good.yaml")" = 3
# It finds what is wrong.
sed 's/completions: 8/completions: eight/' "$WORK/good.yaml" > "$WORK/bad.yaml"
if validate "$WORK/bad.yaml" > "$WORK/said" 2>&1; then
    echo "FAILED a number that is none is taken"
    exit 1
fi
sed 's/backoffLimitPerIndex/backoffLimitPerShard/' "$WORK/good.yaml" > "$WORK/bad.yaml"
if validate "$WORK/bad.yaml" > "$WORK/said" 2>&1; then
    echo "FAILED a field that is none is taken"
    exit 1
fi
# Requests are limits, in whole CPUs: without that there are no CPUs of one's own.
"$WORK/venv/bin/python" - "$WORK/good.yaml" <<'EOF'
import sys, yaml
claim, shards, merge = yaml.safe_load_all(open(sys.argv[1]))
assert claim["kind"] == "PersistentVolumeClaim"
for job in (shards, merge):
    pod = job["spec"]["template"]["spec"]
    assert pod["volumes"][0]["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]
    (container,) = pod["containers"]
    resources = container["resources"]
    assert resources["requests"] == resources["limits"] and int(resources["limits"]["cpu"]) > 0
    assert container["securityContext"]["allowPrivilegeEscalation"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
assert shards["spec"]["activeDeadlineSeconds"] == merge["spec"]["activeDeadlineSeconds"] == 14400
assert shards["spec"]["completions"] == shards["spec"]["parallelism"] == 8
assert "--shard=auto/8" in shards["spec"]["template"]["spec"]["containers"][0]["command"][2]
EOF
echo "1 tests passed, 0 failed"
