package overload;

import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.pool.ConnectionPoolConfiguration;
import io.r2dbc.postgresql.PostgresqlConnectionConfiguration;
import io.r2dbc.postgresql.PostgresqlConnectionFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.r2dbc.core.DatabaseClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;
import reactor.pool.PoolAcquirePendingLimitException;

/** Three queries for each request, as a chain of publishers, by Spring WebFlux and R2DBC. */
@SpringBootApplication
public class Overload {
  public static void main(String[] args) {
    if (args.length > 0 && args[0].equals("--version")) {
      System.out.printf(
          "Spring Boot %s, Java %s%n", SpringBootVersion.getVersion(), Runtime.version());
      return;
    }
    SpringApplication.run(Overload.class, args);
  }

  @Bean
  ConnectionPool pool(
      @Value("${DB_HOST}") String host,
      @Value("${DB_PORT}") int port,
      @Value("${DB_PASSWORD}") String password) {
    var server =
        PostgresqlConnectionConfiguration.builder()
            .host(host)
            .port(port)
            .database("kumite")
            .username("kumite")
            .password(password)
            .build();
    var pool =
        new ConnectionPool(
            ConnectionPoolConfiguration.builder(new PostgresqlConnectionFactory(server))
                .initialSize(4)
                .maxSize(4)
                .acquireRetry(0)
                .customizer(waiting -> waiting.maxPendingAcquire(33))
                .build());
    pool.warmup().block();
    return pool;
  }

  @Bean
  DatabaseClient database(ConnectionPool pool) {
    return DatabaseClient.create(pool);
  }

  @RestController
  static class Controller {
    private static final int QUERIES = 3;

    private final DatabaseClient database;

    Controller(DatabaseClient database) {
      this.database = database;
    }

    @GetMapping("/sleep")
    Mono<ResponseEntity<String>> sleep() {
      return answer("select pg_sleep(0.03)", 0);
    }

    @GetMapping("/scan")
    Mono<ResponseEntity<String>> scan() {
      return answer("select count(*) from items where name like '%42%'", 0);
    }

    private Mono<ResponseEntity<String>> answer(String query, int done) {
      if (done == QUERIES) {
        return Mono.just(text(200, "done"));
      }
      // Takes a connection from the pool, and gives it back.
      return database
          .sql(query)
          .then()
          .then(Mono.defer(() -> answer(query, done + 1)))
          .onErrorResume(why -> Mono.just(text(500, reason(why) + done)));
    }

    private static String reason(Throwable why) {
      return why.getCause() instanceof PoolAcquirePendingLimitException
          ? "refused after "
          : "failed after ";
    }

    private static ResponseEntity<String> text(int status, String body) {
      return ResponseEntity.status(status).contentType(MediaType.TEXT_PLAIN).body(body);
    }
  }
}
