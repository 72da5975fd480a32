import static java.util.function.Function.identity;
import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;

import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import kumite.Worker;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.ByteBufMono;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.client.HttpClientResponse;
import reactor.netty.resources.ConnectionProvider;

/** Fan-outs to a backend by Reactor Netty. */
record Fanout(Mono<String> get) {
  public static void main(String[] args) throws IOException {
    if (args[0].equals("--version")) {
      String netty = HttpClient.class.getPackage().getImplementationVersion();
      System.out.printf("Reactor Netty %s, Java %s%n", netty, Runtime.version());
      return;
    }

    var connections = ConnectionProvider.builder("backend").maxConnections(600).build();
    Mono<String> get =
        HttpClient.create(connections)
            .get()
            .uri(System.getenv("BACKEND_URL"))
            .responseSingle(Fanout::body);
    Worker.serve(args[0], new Fanout(get)::fetch);
  }

  private static Mono<String> body(HttpClientResponse response, ByteBufMono body) {
    if (!response.status().equals(HttpResponseStatus.OK)) {
      return Mono.error(new IllegalStateException("status " + response.status().code()));
    }
    return body.asString();
  }

  private List<Map<String, Long>> fetch(Worker.Job job) {
    int jobs = job.integer("jobs");
    return Flux.range(0, jobs).flatMap(i -> fanOut(job), jobs).collectList().block();
  }

  private Mono<Map<String, Long>> fanOut(Worker.Job job) {
    int requests = job.integer("requests");
    Flux<Integer> numbers = Flux.range(0, requests);
    Flux<String> bodies =
        switch ((String) job.params.get("form")) {
          case "sequential" -> numbers.concatMap(i -> get);
          case "parallel" -> numbers.flatMap(i -> get, requests);
          default ->
              throw new IllegalArgumentException("there is no form " + job.params.get("form"));
        };
    return bodies.collect(groupingBy(identity(), counting()));
  }
}
