import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;

/**
 * Answers every request on a virtual thread, with the server that the JDK has. Parameters of the workload are what the load
 * asks with.
 */
public final class Main {
  private static final byte[] BODY = "not written yet".getBytes(StandardCharsets.UTF_8);

  public static void main(String[] args) throws IOException {
    String host = System.getenv("HOST");
    int port = Integer.parseInt(System.getenv("PORT"));
    HttpServer server = HttpServer.create(new InetSocketAddress(host, port), 1024);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext(
        "/",
        exchange -> {
          try (exchange) {
            exchange.sendResponseHeaders(200, BODY.length);
            exchange.getResponseBody().write(BODY);
          }
        });
    server.start();
  }
}
