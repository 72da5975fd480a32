// Three queries for each request, in a coroutine that holds no thread while it waits, by Spring MVC.

package overload

import com.github.mauricio.async.db.pool.PoolExhaustedException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.launch
import org.springframework.boot.SpringBootVersion
import org.springframework.boot.autoconfigure.SpringBootApplication
import org.springframework.boot.runApplication
import org.springframework.http.MediaType
import org.springframework.http.ResponseEntity
import org.springframework.web.bind.annotation.GetMapping
import org.springframework.web.bind.annotation.RestController
import org.springframework.web.context.request.async.DeferredResult

private const val QUERIES = 3

fun main(args: Array<String>) {
    if (args.firstOrNull() == "--version") {
        println("Spring Boot ${SpringBootVersion.getVersion()}, Kotlin ${KotlinVersion.CURRENT}, Java ${Runtime.version()}")
        return
    }
    runApplication<Overload>(*args)
}

@SpringBootApplication(proxyBeanMethods = false)
class Overload

@RestController
class Controller(
    private val database: Database,
) {
    private val scope = CoroutineScope(SupervisorJob() + Dispatchers.Default)

    @GetMapping("/sleep")
    fun sleep() = later("select pg_sleep(0.03)")

    @GetMapping("/scan")
    fun scan() = later("select count(*) from items where name like '%42%'")

    private fun later(query: String): DeferredResult<ResponseEntity<String>> {
        val result = DeferredResult<ResponseEntity<String>>()
        scope.launch { result.setResult(answer(query)) }
        return result
    }

    private suspend fun answer(query: String): ResponseEntity<String> {
        var done = 0
        return try {
            while (done < QUERIES) {
                database.send(query)
                done++
            }
            text(200, "done")
        } catch (_: PoolExhaustedException) {
            text(500, "refused after $done")
        } catch (_: Exception) {
            text(500, "failed after $done")
        }
    }

    private fun text(
        status: Int,
        body: String,
    ) = ResponseEntity.status(status).contentType(MediaType.TEXT_PLAIN).body(body)
}
