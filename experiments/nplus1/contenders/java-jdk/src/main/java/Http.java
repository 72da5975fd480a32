import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/** Each is there when the server has answered. */
record Http() implements Backend {
  private static final HttpClient CLIENT =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private static final HttpRequest REQUEST =
      HttpRequest.newBuilder(URI.create(System.getenv("BACKEND_URL"))).build();

  @Override
  public void await() throws IOException, InterruptedException {
    check(CLIENT.send(REQUEST, BodyHandlers.ofString()));
  }

  @Override
  public CompletableFuture<Void> arrival(String id, Executor executor) {
    return CLIENT
        .sendAsync(REQUEST, BodyHandlers.ofString())
        .thenAcceptAsync(Http::check, executor);
  }

  private static void check(HttpResponse<String> response) {
    if (response.statusCode() != 200) {
      throw new IllegalStateException(response.uri() + " answers " + response.statusCode());
    }
  }
}
