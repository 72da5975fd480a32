#!/bin/sh
# The benchmark named, once. JMH leaves its lock in the temporary folder, so that is the trial's own.
exec java -Djava.io.tmpdir="$SCRATCH" -cp 'target/jmh.jar:target/lib/*' org.openjdk.jmh.Main "ReadBenchmark.$1\$" \
  -f 1 -wi 5 -w 500ms -i 5 -r 500ms -foe true -rf json -rff "$SCRATCH/jmh.json"
