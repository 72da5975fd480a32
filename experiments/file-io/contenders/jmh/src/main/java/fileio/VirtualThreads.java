package fileio;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Where JMH runs the benchmark: JMH wants a constructor of this form. */
public final class VirtualThreads extends ThreadPoolExecutor {
  public VirtualThreads(int threads, String prefix) {
    super(
        threads,
        threads,
        0,
        TimeUnit.SECONDS,
        new LinkedBlockingQueue<>(),
        Thread.ofVirtual().name(prefix, 0).factory());
  }
}
