import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.http.ConnectionPoolTooBusyException;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.pgclient.PgBuilder;
import io.vertx.pgclient.PgConnectOptions;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.PoolOptions;

/** Three queries for each request, on an event loop that never waits, by Vert.x. */
public final class Overload extends VerticleBase {
  private static final int QUERIES = 3;

  private final Pool database;

  private Overload(Pool database) {
    this.database = database;
  }

  public static void main(String[] args) {
    if (args.length > 0 && args[0].equals("--version")) {
      String vertx = Pool.class.getPackage().getImplementationVersion();
      System.out.printf("Vert.x SQL client %s, Java %s%n", vertx, Runtime.version());
      return;
    }

    Vertx vertx = Vertx.vertx();
    Pool database =
        PgBuilder.pool()
            .with(new PoolOptions().setMaxSize(4).setMaxWaitQueueSize(33))
            .connectingTo(
                new PgConnectOptions()
                    .setHost(System.getenv("DB_HOST"))
                    .setPort(Integer.parseInt(System.getenv("DB_PORT")))
                    .setDatabase("kumite")
                    .setUser("kumite")
                    .setPassword(System.getenv("DB_PASSWORD")))
            .using(vertx)
            .build();
    int processors = Runtime.getRuntime().availableProcessors();
    vertx
        .deployVerticle(
            () -> new Overload(database), new DeploymentOptions().setInstances(processors))
        .onFailure(Overload::end);
  }

  @Override
  public Future<?> start() {
    int port = Integer.parseInt(System.getenv("PORT"));
    return vertx.createHttpServer().requestHandler(this::hear).listen(port, System.getenv("HOST"));
  }

  private void hear(HttpServerRequest request) {
    switch (request.path()) {
      case "/sleep" -> answer(request.response(), "select pg_sleep(0.03)", 0);
      case "/scan" ->
          answer(request.response(), "select count(*) from items where name like '%42%'", 0);
      default -> text(request.response(), 404, "Not Found");
    }
  }

  private void answer(HttpServerResponse response, String query, int done) {
    if (done == QUERIES) {
      text(response, 200, "done");
      return;
    }
    // Takes a connection from the pool, and gives it back.
    database
        .query(query)
        .execute()
        .onSuccess(rows -> answer(response, query, done + 1))
        .onFailure(why -> text(response, 500, reason(why) + done));
  }

  private static String reason(Throwable why) {
    return why instanceof ConnectionPoolTooBusyException ? "refused after " : "failed after ";
  }

  private static void text(HttpServerResponse response, int status, String text) {
    response.setStatusCode(status).putHeader(HttpHeaders.CONTENT_TYPE, "text/plain").end(text);
  }

  /** Vert.x's threads would otherwise keep a server alive that could not listen. */
  private static void end(Throwable why) {
    System.err.println(why);
    System.exit(1);
  }
}
