import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.ByteBufMono;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.client.HttpClientResponse;

/** Each is there when the server has answered: by Reactor Netty, and for who blocks by the JDK. */
record Http() implements Backend {
  private static final String URL = System.getenv("BACKEND_URL");

  private static final Mono<String> GET =
      HttpClient.create().get().uri(URL).responseSingle(Http::body);

  private static final java.net.http.HttpClient BLOCKING =
      java.net.http.HttpClient.newBuilder().version(Version.HTTP_1_1).build();

  private static final HttpRequest REQUEST = HttpRequest.newBuilder(URI.create(URL)).build();

  @Override
  public Flux<Long> arrivals(int count) {
    return Flux.range(0, count).concatMap(n -> GET.thenReturn(n.longValue()));
  }

  @Override
  public void await() {
    try {
      check(BLOCKING.send(REQUEST, BodyHandlers.ofString()).statusCode());
    } catch (IOException | InterruptedException e) {
      throw Exceptions.propagate(e);
    }
  }

  private static Mono<String> body(HttpClientResponse response, ByteBufMono body) {
    check(response.status().code());
    return body.asString();
  }

  private static void check(int status) {
    if (status != HttpResponseStatus.OK.code()) {
      throw new IllegalStateException(URL + " answers " + status);
    }
  }
}
