import io.helidon.http.Status;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;

/** A chat bot that answers "ping" with "pong": a virtual thread for each connection, by Helidon. */
final class Bot {
  private static final int MESSAGE_BYTES_MAX = 4096;

  public static void main(String[] args) {
    if (args.length > 0 && args[0].equals("--version")) {
      String helidon = WebServer.class.getPackage().getImplementationVersion();
      System.out.printf("Helidon SE %s, Java %s%n", helidon, Runtime.version());
      return;
    }

    WebServer.builder()
        .host(System.getenv("HOST"))
        .port(Integer.parseInt(System.getenv("PORT")))
        .maxPayloadSize(MESSAGE_BYTES_MAX)
        .routing(routing -> routing.post("/", Bot::hear))
        .build()
        .start();
  }

  private static void hear(ServerRequest request, ServerResponse response) {
    if (request.content().as(String.class).equals("ping")) {
      response.send("pong");
    } else {
      response.status(Status.BAD_REQUEST_400).send("Bad Request");
    }
  }
}
