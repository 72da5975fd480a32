import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.function.Function;
import java.util.stream.Collectors;
import kumite.Worker;

/** Fan-outs to a backend by the JDK's own client: virtual threads that wait, or futures. */
final class Fanout {
  public static void main(String[] args) throws IOException {
    switch (args[0]) {
      case "--version" -> System.out.println("Java " + Runtime.version());
      case "java-virtual-threads" -> {
        var executor = Executors.newVirtualThreadPerTaskExecutor();
        Worker.serve(args[0], new VirtualThreads(client(executor), request())::fetch);
      }
      case "java-structured" -> {
        var executor = Executors.newVirtualThreadPerTaskExecutor();
        Worker.serve(args[0], new Structured(client(executor), request())::fetch);
      }
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

  private static HttpRequest request() {
    return HttpRequest.newBuilder(URI.create(System.getenv("BACKEND_URL"))).build();
  }

  static String body(HttpResponse<String> response) {
    if (response.statusCode() != 200) {
      throw new IllegalStateException("status " + response.statusCode());
    }
    return response.body();
  }

  /** How often each body came. */
  static Map<String, Long> count(List<String> bodies) {
    return bodies.stream()
        .collect(Collectors.groupingBy(Function.identity(), Collectors.counting()));
  }
}
