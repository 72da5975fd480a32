package fileio;

import static java.util.concurrent.TimeUnit.MICROSECONDS;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import kotlin.coroutines.EmptyCoroutineContext;
import kotlinx.coroutines.BuildersKt;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** One reading of one file, of the files in turn. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(MICROSECONDS)
public class ReadBenchmark {
  private final List<Path> paths = new ArrayList<>();
  private int n;

  @Setup
  public void find() throws IOException {
    for (int i = 0; i < environment("FILES"); i++) {
      var path = Path.of(System.getenv("DISK_PATH"), "" + i);
      if (Files.size(path) != environment("SIZE_BYTES")) {
        throw new IOException(path + " has " + Files.size(path) + " bytes");
      }
      paths.add(path);
    }
  }

  @Benchmark
  public String blocking() {
    return ReadsKt.readBlocking(next());
  }

  @Benchmark
  public String nioCoroutine() throws InterruptedException {
    var path = next();
    return BuildersKt.runBlocking(
        EmptyCoroutineContext.INSTANCE,
        (scope, continuation) -> ReadsKt.readAsync(path, continuation));
  }

  @Benchmark
  @Fork(jvmArgsAppend = {"-Djmh.executor=CUSTOM", "-Djmh.executor.class=fileio.VirtualThreads"})
  public String virtualThreads() throws IOException {
    return Reads.read(next());
  }

  private Path next() {
    return paths.get(n++ % paths.size());
  }

  private static int environment(String name) {
    return Integer.parseInt(System.getenv(name));
  }
}
