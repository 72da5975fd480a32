// The task protocol: a request a line on standard input, an answer a line on standard output.

package kumite

import kotlinx.coroutines.runBlocking
import tools.jackson.core.JacksonException
import tools.jackson.core.ObjectReadContext
import tools.jackson.jr.ob.JSON
import java.io.ByteArrayOutputStream
import java.io.FileDescriptor
import java.io.FileOutputStream
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.LinkedBlockingQueue
import kotlin.system.exitProcess

private const val LINE_BYTES_MAX = 16 shl 20
private const val EVENTS_MAX = 100_000
private val out = FileOutputStream(FileDescriptor.out)
private val lines = JSON.std.with(JSON.Feature.WRITE_NULL_PROPERTIES)

/** A job's parameters, and what is told of it besides its result, by any of its threads. */
class Job internal constructor(
    val params: Map<*, *>,
) {
    internal val events = LinkedBlockingQueue<List<Any>>(EVENTS_MAX + 1)
    internal val metrics = ConcurrentHashMap<String, Number>()
    internal val start = System.nanoTime()

    fun int(name: String): Int = (params[name] as Number).toInt()

    /** Records `subscribe`, `next`, `complete` or `tick`, if events are wanted. */
    fun event(
        kind: String,
        id: String,
        thread: String = Thread.currentThread().name,
    ) {
        if (params["events"] == true) events.offer(listOf(System.nanoTime() - start, thread, kind, id))
    }

    fun metric(
        name: String,
        value: Number,
    ) {
        metrics[name] = value
    }
}

/**
 * Does one job after the other until standard input ends, then ends the process. The result of [work] is what Jackson jr
 * writes: null, a list, a map, a data class.
 */
fun serve(
    name: String,
    work: suspend Job.() -> Any?,
): Unit =
    runBlocking {
        System.setOut(System.err) // what a contender prints is no answer
        try {
            while (true) {
                out.write(answer(name, work, parse(readLine() ?: break)))
            }
        } catch (e: IllegalArgumentException) {
            refuse(e)
        } catch (e: JacksonException) {
            refuse(e)
        }
        exitProcess(0)
    }

private fun refuse(e: Exception) {
    System.err.println("not a request: ${e.message}")
    exitProcess(2)
}

/** Null at the end of input, also in the middle of a line. */
private fun readLine(): ByteArray? {
    val line = ByteArrayOutputStream()
    while (true) {
        val next = System.`in`.read()
        if (next == -1) return null
        if (next == '\n'.code) return line.toByteArray()
        line.write(next)
        require(line.size() < LINE_BYTES_MAX) { "it is longer than 16 MiB" }
    }
}

private fun parse(line: ByteArray): Map<*, *> {
    val parser = lines.tokenStreamFactory().createParser(ObjectReadContext.empty(), line)
    val request = lines.mapFrom(parser)
    require(parser.nextToken() == null) { "it is more than one JSON value" }
    return request
}

private suspend fun answer(
    name: String,
    work: suspend Job.() -> Any?,
    request: Map<*, *>,
): ByteArray {
    if ("hello" in request) return hello(name)
    val id = request["job"] as? Number ?: 0
    val params = request["params"] as? Map<*, *>
    require(id.toLong() > 0 && id.toLong().toDouble() == id.toDouble() && params != null) {
        "it is neither a hello nor a job with params"
    }
    return try {
        run(id, Job(params), work)
    } catch (e: Throwable) {
        line("job" to id, "error" to e.toString().replace(Regex("\\R"), " "))
    }
}

private fun hello(name: String): ByteArray {
    val runtime = "Kotlin ${KotlinVersion.CURRENT}, Java ${Runtime.version()}"
    val pid = ProcessHandle.current().pid()
    val cores = Runtime.getRuntime().availableProcessors()
    return line("hello" to 1, "name" to name, "runtime" to runtime, "pid" to pid, "cores" to cores)
}

private suspend fun run(
    id: Number,
    job: Job,
    work: suspend Job.() -> Any?,
): ByteArray {
    val result = job.work()
    val elapsed = System.nanoTime() - job.start
    out.write(line("done" to id))
    val events = job.events.toList()
    check(events.size <= EVENTS_MAX) { "more than 100,000 events" }
    return line("job" to id, "elapsed_ns" to elapsed, "result" to result, "metrics" to job.metrics, "events" to events)
}

private fun line(vararg answer: Pair<String, Any?>): ByteArray {
    val line = lines.asBytes(mapOf(*answer)) + '\n'.code.toByte()
    check(line.size <= LINE_BYTES_MAX) { "the answer is longer than 16 MiB" }
    return line
}
