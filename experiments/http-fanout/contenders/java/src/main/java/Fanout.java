import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.function.Function;
import java.util.stream.Collectors;
import kumite.Worker;
import org.apache.hc.core5.util.VersionInfo;

/** Fan-outs to a backend: virtual threads that wait for a client of two, or futures. */
final class Fanout {
  public static void main(String[] args) throws IOException {
    switch (args[0]) {
      case "--version" -> {
        var apache = VersionInfo.loadVersionInfo("org.apache.hc.client5", null);
        System.out.printf("Java %s, HttpClient %s%n", Runtime.version(), apache.getRelease());
      }
      case "java-virtual-threads" -> {
        var executor = Executors.newVirtualThreadPerTaskExecutor();
        Worker.serve(args[0], new VirtualThreads(send(client(executor)))::fetch);
      }
      case "java-structured" -> {
        var executor = Executors.newVirtualThreadPerTaskExecutor();
        Worker.serve(args[0], new Structured(send(client(executor)))::fetch);
      }
      case "java-virtual-threads-apache" ->
          Worker.serve(args[0], new VirtualThreads(Apache.to(backend())::get)::fetch);
      case "java-httpclient-async" -> {
        var executor = Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors());
        Worker.serve(args[0], new Futures(client(executor), request())::fetch);
      }
      default -> throw new IllegalArgumentException("there is no way " + args[0]);
    }
  }

  private static HttpClient client(Executor executor) {
    return HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).executor(executor).build();
  }

  private static Callable<String> send(HttpClient client) {
    HttpRequest request = request();
    return () -> body(client.send(request, BodyHandlers.ofString()));
  }

  private static HttpRequest request() {
    return HttpRequest.newBuilder(backend()).build();
  }

  private static URI backend() {
    return URI.create(System.getenv("BACKEND_URL"));
  }

  static String body(HttpResponse<String> response) {
    return body(response.statusCode(), response.body());
  }

  static String body(int status, String body) {
    if (status != 200) {
      throw new IllegalStateException("status " + status);
    }
    return body;
  }

  /** How often each body came. */
  static Map<String, Long> count(List<String> bodies) {
    return bodies.stream()
        .collect(Collectors.groupingBy(Function.identity(), Collectors.counting()));
  }
}
