import java.io.IOException;
import java.util.concurrent.Executors;
import kumite.Worker;

/** All students with all their scores, with what the JDK brings: threads of two kinds, futures. */
final class NPlusOne {
  public static void main(String[] args) throws IOException {
    switch (args[0]) {
      case "--version" -> System.out.println("Java " + Runtime.version());
      case "java-virtual-threads" -> Worker.serve(args[0], NPlusOne::withVirtualThreads);
      case "java-structured" -> Worker.serve(args[0], NPlusOne::withScope);
      case "java-platform-threads" -> Worker.serve(args[0], NPlusOne::withPlatformThreads);
      case "java-completablefuture" -> Worker.serve(args[0], NPlusOne::withFutures);
      default -> throw new IllegalArgumentException("there is no way " + args[0]);
    }
  }

  private static Object withVirtualThreads(Worker.Job job) throws Exception {
    var factory = Thread.ofVirtual().name("virtual-", 1).factory();
    try (var executor = Executors.newThreadPerTaskExecutor(factory)) {
      return new Threads(job, source(job), executor).fetch();
    }
  }

  private static Object withScope(Worker.Job job) throws Exception {
    var factory = Thread.ofVirtual().name("virtual-", 1).factory();
    return new Scope(job, source(job), factory).fetch();
  }

  private static Object withPlatformThreads(Worker.Job job) throws Exception {
    var factory = Thread.ofPlatform().name("platform-", 1).factory();
    try (var executor = Executors.newCachedThreadPool(factory)) {
      return new Threads(job, source(job), executor).fetch();
    }
  }

  private static Object withFutures(Worker.Job job) {
    var factory = Thread.ofPlatform().name("pool-", 1).factory();
    int cores = Runtime.getRuntime().availableProcessors();
    try (var executor = Executors.newFixedThreadPool(cores, factory)) {
      return new Futures(job, Backend.of(job), executor).fetch();
    }
  }

  private static Source source(Worker.Job job) {
    return new Source(job, Backend.of(job));
  }
}
