package fileio;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.Blackhole;

/** A job of the workers: so many readings, of the files in turn. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(MILLISECONDS)
public class ReadBenchmark {
  private final List<Path> paths = new ArrayList<>();
  private int reads;

  @Setup
  public void find() throws IOException {
    reads = environment("READS");
    for (int i = 0; i < environment("FILES"); i++) {
      var path = Path.of(System.getenv("DISK_PATH"), "" + i);
      if (Files.size(path) != environment("SIZE_BYTES")) {
        throw new IOException(path + " has " + Files.size(path) + " bytes");
      }
      paths.add(path);
    }
  }

  @Benchmark
  public void blocking(Blackhole blackhole) {
    JobsKt.readBlocking(paths, reads, blackhole);
  }

  @Benchmark
  public void nioCoroutine(Blackhole blackhole) {
    JobsKt.readAsync(paths, reads, blackhole);
  }

  @Benchmark
  @Fork(jvmArgsAppend = {"-Djmh.executor=CUSTOM", "-Djmh.executor.class=fileio.VirtualThreads"})
  public void virtualThreads(Blackhole blackhole) throws IOException {
    for (int i = 0; i < reads; i++) {
      blackhole.consume(Reads.read(paths.get(i % paths.size())));
    }
  }

  private static int environment(String name) {
    return Integer.parseInt(System.getenv(name));
  }
}
