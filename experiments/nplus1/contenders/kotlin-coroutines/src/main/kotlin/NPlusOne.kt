// All students with all their scores: a coroutine for each student.

import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.map
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.future.await
import kotlinx.coroutines.withContext
import kumite.Job
import kumite.serve
import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpResponse.BodyHandlers
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.TimeMark
import kotlin.time.TimeSource

data class Score(
    val subject: String,
    val score: Int,
)

private val ALL =
    listOf(Score("国語", 80), Score("数学", 90), Score("英語", 85), Score("社会", 93), Score("理科", 72))

fun main(args: Array<String>) {
    if (args.firstOrNull() == "--version") {
        val coroutines = Dispatchers::class.java.`package`.implementationVersion
        println("kotlinx.coroutines $coroutines, Kotlin ${KotlinVersion.CURRENT}, Java ${Runtime.version()}")
        return
    }

    serve("kotlin-coroutines") {
        withContext(Dispatchers.Default) { fetch() }
    }
}

private suspend fun Job.fetch(): Map<String, List<Score>> =
    coroutineScope {
        students()
            .map { student -> async { student to scores(student).toList() } }
            .toList()
            .awaitAll()
            .toMap()
    }

private fun Job.students(): Flow<String> =
    flow {
        event("subscribe", "students")
        val begun = TimeSource.Monotonic.markNow()
        for (student in 1..int("students")) {
            arrival(student, begun)
            event("next", "student $student")
            emit("$student")
        }
        event("complete", "students")
    }

private fun Job.scores(student: String): Flow<Score> =
    flow {
        event("subscribe", "student $student")
        val begun = TimeSource.Monotonic.markNow()
        for ((before, score) in ALL.subList(0, int("scores")).withIndex()) {
            arrival(before + 1, begun)
            event("next", "score $student ${score.subject}")
            emit(score)
        }
        event("complete", "student $student")
    }

/** By the timer the [n]th is due so many delays after its source has [begun], so that late timers do not add up. */
private suspend fun Job.arrival(
    n: Int,
    begun: TimeMark,
) = when (val backend = params["backend"]) {
    "timer" -> delay(-(begun + (int("delay_ms") * n).milliseconds).elapsedNow())
    "http" -> get()
    else -> throw IllegalArgumentException("there is no backend $backend")
}

private val client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()

private suspend fun get() {
    val url = System.getenv("BACKEND_URL")
    val request = HttpRequest.newBuilder(URI.create(url)).build()
    val status = client.sendAsync(request, BodyHandlers.ofString()).await().statusCode()
    check(status == 200) { "$url answers $status" }
}
