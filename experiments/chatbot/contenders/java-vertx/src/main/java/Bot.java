import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;

/** A chat bot that answers "ping" with "pong": an event loop for each processor, by Vert.x. */
public final class Bot extends VerticleBase {
  private static final int MESSAGE_BYTES_MAX = 4096;

  public static void main(String[] args) {
    if (args.length > 0 && args[0].equals("--version")) {
      String vertx = Vertx.class.getPackage().getImplementationVersion();
      System.out.printf("Vert.x %s, Java %s%n", vertx, Runtime.version());
      return;
    }

    int processors = Runtime.getRuntime().availableProcessors();
    Vertx.vertx()
        .deployVerticle(Bot::new, new DeploymentOptions().setInstances(processors))
        .onFailure(Bot::end);
  }

  @Override
  public Future<?> start() {
    int port = Integer.parseInt(System.getenv("PORT"));
    return vertx.createHttpServer().requestHandler(Bot::hear).listen(port, System.getenv("HOST"));
  }

  private static void hear(HttpServerRequest request) {
    HttpServerResponse response = request.response();
    if (request.method() != HttpMethod.POST || !request.path().equals("/")) {
      answer(response, 404, "Not Found");
      return;
    }
    Buffer text = Buffer.buffer();
    request.handler(
        chunk -> {
          // What does not fit is not kept; it is too long to be a "ping" anyway.
          if (text.length() <= MESSAGE_BYTES_MAX) {
            text.appendBuffer(chunk);
          }
        });
    request.endHandler(
        end -> {
          if (text.toString().equals("ping")) {
            answer(response, 200, "pong");
          } else {
            answer(response, 400, "Bad Request");
          }
        });
  }

  private static void answer(HttpServerResponse response, int status, String text) {
    response.setStatusCode(status).putHeader(HttpHeaders.CONTENT_TYPE, "text/plain").end(text);
  }

  /** Vert.x's threads would otherwise keep a bot alive that could not listen. */
  private static void end(Throwable why) {
    System.err.println(why);
    System.exit(1);
  }
}
