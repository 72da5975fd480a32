package kumite;

import java.io.ByteArrayOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.net.ProtocolException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import tools.jackson.core.JacksonException;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.jr.ob.JSON;

/** The task protocol: a request a line on standard input, an answer a line on standard output. */
public final class Worker {
  private static final int LINE_BYTES_MAX = 16 << 20;
  private static final int EVENTS_MAX = 100_000;
  private static final FileOutputStream OUT = new FileOutputStream(FileDescriptor.out);
  private static final JSON LINES = JSON.std.with(JSON.Feature.WRITE_NULL_PROPERTIES);

  /**
   * What is done for a job. Its result is what Jackson jr writes: null, a list, a map, a record.
   */
  public interface Work {
    Object run(Job job) throws Exception;
  }

  /** A job's parameters, and what is told of it besides its result, by any of its threads. */
  public static final class Job {
    public final Map<?, ?> params;
    private final LinkedBlockingQueue<Object[]> events = new LinkedBlockingQueue<>(EVENTS_MAX + 1);
    private final Map<String, Number> metrics = new ConcurrentHashMap<>();
    private final long start = System.nanoTime();

    private Job(Map<?, ?> params) {
      this.params = params;
    }

    public int integer(String name) {
      return ((Number) params.get(name)).intValue();
    }

    /** Records {@code subscribe}, {@code next}, {@code complete} or {@code tick}, if wanted. */
    public void event(String kind, String id) {
      event(kind, id, Thread.currentThread().getName());
    }

    public void event(String kind, String id, String thread) {
      if (params.get("events") == Boolean.TRUE) {
        events.offer(new Object[] {System.nanoTime() - start, thread, kind, id});
      }
    }

    public void metric(String name, Number value) {
      metrics.put(name, value);
    }
  }

  /** Does one job after the other until standard input ends, then ends the process. */
  public static void serve(String name, Work work) throws IOException {
    System.setOut(System.err); // what a contender prints is no answer
    try {
      for (byte[] line = readLine(); line != null; line = readLine()) {
        OUT.write(answer(name, work, parse(line)));
      }
      System.exit(0);
    } catch (ProtocolException | JacksonException e) {
      System.err.println("not a request: " + e.getMessage());
      System.exit(2);
    }
  }

  /** Null at the end of input, also in the middle of a line. */
  private static byte[] readLine() throws IOException {
    var line = new ByteArrayOutputStream();
    for (int next = System.in.read(); next != '\n'; next = System.in.read()) {
      if (next == -1) {
        return null;
      }
      line.write(next);
      if (line.size() == LINE_BYTES_MAX) {
        throw new ProtocolException("it is longer than 16 MiB");
      }
    }
    return line.toByteArray();
  }

  private static Map<?, ?> parse(byte[] line) throws ProtocolException {
    var parser = LINES.tokenStreamFactory().createParser(ObjectReadContext.empty(), line);
    Map<?, ?> request = LINES.mapFrom(parser);
    if (parser.nextToken() != null) {
      throw new ProtocolException("it is more than one JSON value");
    }
    return request;
  }

  private static byte[] answer(String name, Work work, Map<?, ?> request) throws ProtocolException {
    if (request.containsKey("hello")) {
      String runtime = "Java " + Runtime.version();
      long pid = ProcessHandle.current().pid();
      int cores = Runtime.getRuntime().availableProcessors();
      return line(Map.of("hello", 1, "name", name, "runtime", runtime, "pid", pid, "cores", cores));
    }
    if (request.get("job") instanceof Number id
        && id.longValue() == id.doubleValue()
        && id.longValue() > 0
        && request.get("params") instanceof Map<?, ?> params) {
      try {
        return line(run(id, new Job(params), work));
      } catch (Throwable e) {
        return line(Map.of("job", id, "error", e.toString().replaceAll("\\R", " ")));
      }
    }
    throw new ProtocolException("it is neither a hello nor a job with params");
  }

  private static Map<?, ?> run(Number id, Job job, Work work) throws Exception {
    Object result = work.run(job);
    long elapsed = System.nanoTime() - job.start;
    OUT.write(line(Map.of("done", id)));
    Object[] events = job.events.toArray();
    if (events.length > EVENTS_MAX) {
      throw new IllegalStateException("more than 100,000 events");
    }
    var answer = new HashMap<String, Object>();
    answer.put("job", id);
    answer.put("elapsed_ns", elapsed);
    answer.put("result", result);
    answer.put("metrics", job.metrics);
    answer.put("events", events);
    return answer;
  }

  private static byte[] line(Map<?, ?> answer) {
    var line = new ByteArrayOutputStream();
    LINES.write(answer, line);
    line.write('\n');
    if (line.size() > LINE_BYTES_MAX) {
      throw new IllegalStateException("the answer is longer than 16 MiB");
    }
    return line.toByteArray();
  }
}
