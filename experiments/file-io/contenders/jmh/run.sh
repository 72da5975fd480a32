#!/bin/sh
# The benchmark named, once: warmed up as long as the workers are, and then timed about as long, for the JVM gets faster for
# seconds. JMH leaves its lock in the temporary folder, so that is the trial's own.
exec java -Djava.io.tmpdir="$SCRATCH" -cp 'target/jmh.jar:target/lib/*' org.openjdk.jmh.Main "ReadBenchmark.$1\$" \
  -f 1 -wi "$WARM_UP_S" -w 1s -i 5 -r 100ms -foe true -rf json -rff "$SCRATCH/jmh.json"
