import fileio.Reads;
import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import kumite.Worker;

/** Files read and decoded, one after the other or beside other work. */
final class FileIo {
  private static final ExecutorService VIRTUAL = Executors.newVirtualThreadPerTaskExecutor();

  /** A pool lives as long as the process, as a server's does. */
  private static final Map<Integer, Executor> POOLS = new ConcurrentHashMap<>();

  public static void main(String[] args) throws IOException {
    switch (args[0]) {
      case "--version" -> System.out.println("Java " + Runtime.version());
      case "java-virtual-threads" -> Worker.serve(args[0], FileIo::read);
      default -> throw new IllegalArgumentException("there is no way " + args[0]);
    }
  }

  private static Object read(Worker.Job job) throws Exception {
    var texts = new Texts(Path.of(System.getenv("DISK_PATH")), job.integer("files"));
    return switch ((String) job.params.get("form")) {
      case "single" -> VIRTUAL.submit(() -> single(job, texts)).get();
      case "mixed", "cpu" -> mixed(job, texts);
      case String form -> throw new IllegalArgumentException("there is no form " + form);
    };
  }

  private static Object single(Worker.Job job, Texts texts) throws IOException {
    int reads = job.integer("reads");
    for (int i = 0; i < reads; i++) {
      texts.keep(i, Reads.read(texts.path(i)));
    }
    return Map.of("read", texts.byFile());
  }

  /** A thread of the pool would do first what it submits itself. This way all stand in line. */
  private static Executor pool(int threads) {
    var pool = new ForkJoinPool(threads);
    return task -> pool.externalSubmit(ForkJoinTask.adapt(task));
  }

  private static Object mixed(Worker.Job job, Texts texts) throws Exception {
    var pool = POOLS.computeIfAbsent(job.integer("threads"), FileIo::pool);
    var mix = new Mix(job, texts, VIRTUAL, pool);
    long gcBefore = gcMillis();
    for (int i = 0; i < job.integer("in_flight"); i++) {
      mix.submitNext();
    }
    job.metric("cpu_tasks", mix.end.get());
    job.metric("gc_ms", gcMillis() - gcBefore);
    return new MixedResult(texts, mix);
  }

  /** Its getters are called when the answer is written, after the clock. */
  static final class MixedResult {
    private final Texts texts;
    private final Mix mix;

    private MixedResult(Texts texts, Mix mix) {
      this.texts = texts;
      this.mix = mix;
    }

    public int getChecksum() throws InterruptedException {
      return mix.checksum();
    }

    public Map<String, Texts.Text> getRead() {
      return texts.byFile();
    }
  }

  private static long gcMillis() {
    return ManagementFactory.getGarbageCollectorMXBeans().stream()
        .mapToLong(GarbageCollectorMXBean::getCollectionTime)
        .sum();
  }
}
