import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * Lets a function answer one call by a Runtime API of our own, and then ends it: from such a run
 * the JVM makes its AOT cache. Arguments are the event and the function's command.
 */
void main(String[] arguments) throws Exception {
  var event = arguments[0];
  var command = List.of(arguments).subList(1, arguments.length);
  var answered = new CountDownLatch(1);
  var server = serve(event, answered);

  var builder = new ProcessBuilder(command).redirectOutput(Redirect.DISCARD);
  builder.redirectError(Redirect.INHERIT).environment().putAll(environment(server));
  var function = builder.start();
  function.onExit().thenRun(answered::countDown);
  if (!answered.await(60, TimeUnit.SECONDS) || !function.isAlive()) {
    function.destroyForcibly();
    System.err.println("there was no answer by " + command);
    System.exit(1);
  }
  // The JVM writes its cache before it ends.
  function.destroy();
  function.waitFor();
  System.exit(0);
}

HttpServer serve(String event, CountDownLatch answered) throws IOException {
  var server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
  server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
  server.createContext(
      "/2018-06-01/runtime/invocation/next",
      call -> {
        // There is no second one: it is waited for until the function is ended.
        if (answered.getCount() > 0) give(call, event);
      });
  server.createContext(
      "/2018-06-01/runtime/invocation/training/",
      answer -> {
        answer.getRequestBody().readAllBytes();
        answered.countDown();
        answer.sendResponseHeaders(202, -1);
      });
  server.start();
  return server;
}

void give(HttpExchange call, String event) throws IOException {
  var deadline = Instant.now().plus(Duration.ofMinutes(1)).toEpochMilli();
  var arn = "arn:aws:lambda:us-east-1:000000000000:function:training";
  var trace = "Root=1-00000000-000000000000000000000000;Sampled=0";
  var headers = call.getResponseHeaders();
  headers.add("Content-Type", "application/json");
  headers.add("Lambda-Runtime-Aws-Request-Id", "training");
  headers.add("Lambda-Runtime-Deadline-Ms", String.valueOf(deadline));
  headers.add("Lambda-Runtime-Invoked-Function-Arn", arn);
  headers.add("Lambda-Runtime-Trace-Id", trace);
  var body = event.getBytes();
  call.sendResponseHeaders(200, body.length);
  call.getResponseBody().write(body);
  call.close();
}

Map<String, String> environment(HttpServer server) {
  var address = server.getAddress();
  return Map.of(
      "AWS_LAMBDA_RUNTIME_API", address.getHostString() + ":" + address.getPort(),
      "AWS_LAMBDA_FUNCTION_NAME", "training",
      "AWS_LAMBDA_FUNCTION_VERSION", "$LATEST",
      "AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "128",
      "AWS_REGION", "us-east-1",
      "AWS_ACCESS_KEY_ID", "dummy",
      "AWS_SECRET_ACCESS_KEY", "dummy");
}
