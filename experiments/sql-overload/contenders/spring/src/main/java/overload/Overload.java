package overload;

import java.util.concurrent.Semaphore;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.dao.DataAccessException;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Three queries for each request, on the request's own thread, by Spring MVC and JDBC. */
@SpringBootApplication
@RestController
public class Overload {
  private static final int QUERIES = 3;

  private final JdbcClient database;
  private final Semaphore places;

  /** {@code places} is how many may have a connection or wait for one. */
  Overload(JdbcClient database, @Value("${places}") int places) {
    this.database = database;
    this.places = new Semaphore(places);
  }

  public static void main(String[] args) {
    if (args.length > 0 && args[0].equals("--version")) {
      System.out.printf(
          "Spring Boot %s, Java %s%n", SpringBootVersion.getVersion(), Runtime.version());
      return;
    }
    SpringApplication.run(Overload.class, args);
  }

  @GetMapping("/sleep")
  ResponseEntity<String> sleep() {
    return answer("select pg_sleep(0.03)");
  }

  @GetMapping("/scan")
  ResponseEntity<String> scan() {
    return answer("select count(*) from items where name like '%42%'");
  }

  private ResponseEntity<String> answer(String query) {
    int done = 0;
    try {
      for (; done < QUERIES; done++) {
        if (!places.tryAcquire()) {
          return text(500, "refused after " + done);
        }
        try {
          // Takes a connection from the pool, and gives it back.
          database.sql(query).query().singleValue();
        } finally {
          places.release();
        }
      }
      return text(200, "done");
    } catch (CannotGetJdbcConnectionException refused) {
      return text(500, "refused after " + done);
    } catch (DataAccessException failed) {
      return text(500, "failed after " + done);
    }
  }

  private static ResponseEntity<String> text(int status, String body) {
    return ResponseEntity.status(status).contentType(MediaType.TEXT_PLAIN).body(body);
  }
}
