import kumite.Job
import okhttp3.ConnectionPool
import okhttp3.OkHttpClient
import okhttp3.Request
import java.util.concurrent.Callable
import java.util.concurrent.Executors
import java.util.concurrent.ForkJoinPool
import java.util.concurrent.Future
import java.util.concurrent.TimeUnit.MINUTES

/** A thread for each fan-out, and a pool of [threads] that all share whose requests go out at once. */
class Blocking(
    threads: Int,
) {
    private val client = OkHttpClient.Builder().connectionPool(ConnectionPool(600, 5, MINUTES)).build()
    private val request = Request.Builder().url(backend()).build()
    private val callers = Executors.newCachedThreadPool()
    private val pool = ForkJoinPool(threads)

    fun fetch(job: Job): List<Map<String, Int>> {
        val fanOut = Callable { count(fanOut(job)) }
        return List(job.int("jobs")) { callers.submit(fanOut) }.getAll()
    }

    private fun fanOut(job: Job): List<String> =
        when (val form = job.params["form"]) {
            "sequential" -> List(job.int("requests")) { get() }
            "parallel" -> List(job.int("requests")) { pool.submit(Callable { get() }) }.getAll()
            else -> throw IllegalArgumentException("there is no form $form")
        }

    private fun get(): String =
        client.newCall(request).execute().use { response ->
            check(response.code == 200) { "status ${response.code}" }
            response.body.string()
        }
}

/** Where one fails the others are waited for nevertheless: none of them goes on beside the next job. */
private fun <T> List<Future<T>>.getAll(): List<T> = map { runCatching { it.get() } }.map { it.getOrThrow() }
