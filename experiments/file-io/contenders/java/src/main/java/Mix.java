import fileio.Reads;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import kumite.Worker;

/**
 * Reading beside other work, or that work alone: the sequence of tasks, which is the same for every
 * contender, and what became of it.
 */
final class Mix {
  private static final int CHECKED = 10;

  /** How many CPU tasks were done when the last task that counts was. */
  final CompletableFuture<Integer> end = new CompletableFuture<>();

  private final Texts texts;
  private final Executor io;
  private final Executor cpu;
  private final double ioShare;
  private final int ioTasks;
  private final int tasks;
  private final int objects;
  private final int steps;
  private final AtomicInteger drawn = new AtomicInteger();
  private final AtomicInteger ioDone = new AtomicInteger();
  private final AtomicInteger cpuDone = new AtomicInteger();
  private final CountDownLatch inFlight;
  private final AtomicInteger checksum = new AtomicInteger();
  private volatile int lastSum;

  Mix(Worker.Job job, Texts texts, Executor io, Executor cpu) {
    this.texts = texts;
    this.io = io;
    this.cpu = cpu;
    boolean cpuOnly = job.params.get("form").equals("cpu");
    ioShare = cpuOnly ? 0 : ((Number) job.params.get("io_share")).doubleValue();
    tasks = cpuOnly ? job.integer("tasks") : Integer.MAX_VALUE;
    ioTasks = job.integer("io_tasks");
    objects = job.integer("objects");
    steps = job.integer("steps");
    inFlight = new CountDownLatch(job.integer("in_flight"));
  }

  /** Each task submits the one that takes its place. */
  void submitNext() {
    boolean enough = ioDone.get() >= ioTasks || end.isDone();
    int task = enough ? tasks : drawn.getAndIncrement();
    if (task >= tasks) {
      inFlight.countDown();
      return;
    }
    int ioBefore = ioBefore(task);
    if (ioBefore(task + 1) > ioBefore) {
      io.execute(() -> run(() -> read(ioBefore)));
    } else {
      cpu.execute(() -> run(() -> compute(task - ioBefore)));
    }
  }

  /** Waits for what is still in flight. */
  int checksum() throws InterruptedException {
    inFlight.await();
    return checksum.get();
  }

  private int ioBefore(int task) {
    return (int) (task * ioShare);
  }

  private interface Task {
    void run() throws Exception;
  }

  private void run(Task task) {
    try {
      task.run();
    } catch (Throwable e) {
      end.completeExceptionally(e);
    }
    submitNext();
  }

  private void read(int n) throws Exception {
    texts.keep(n, Reads.read(texts.path(n)));
    if (ioDone.incrementAndGet() == ioTasks) {
      end.complete(cpuDone.get());
    }
  }

  private record Numbered(int number) {}

  private void compute(int task) {
    List<Numbered> numbers = new ArrayList<>(objects);
    for (int i = 0; i < objects; i++) {
      numbers.add(new Numbered(task + i));
    }
    int sum = 0;
    for (Numbered numbered : numbers) {
      sum += numbered.number();
    }
    for (int i = 0; i < steps; i++) {
      sum = (sum ^ (sum >>> 15)) * 1664525 + 1013904223;
    }
    if (task < CHECKED) {
      checksum.accumulateAndGet(sum, (a, b) -> a ^ b);
    }
    lastSum = sum; // or nobody would need it, and a compiler may see that
    if (cpuDone.incrementAndGet() == tasks) {
      end.complete(tasks);
    }
  }
}
