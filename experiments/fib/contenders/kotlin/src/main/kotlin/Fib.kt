import com.amazonaws.services.lambda.runtime.api.client.AWSLambda
import kotlin.time.Duration
import kotlin.time.DurationUnit.MILLISECONDS
import kotlin.time.measureTimedValue

/** A function that computes a Fibonacci number, doubly recursive. */
class Fib {
    class Event(
        var n: Int = 0,
    )

    class Answer(
        val n: Int,
        val fib: Long,
        elapsed: Duration,
    ) {
        @Suppress("ktlint:standard:property-naming", "PropertyName")
        val elapsed_ms = elapsed.toDouble(MILLISECONDS)
    }

    fun handle(event: Event): Answer {
        fib(event.n)
        val (result, elapsed) = measureTimedValue { fib(event.n) }
        return Answer(event.n, result, elapsed)
    }
}

private fun fib(n: Int): Long = if (n < 2) n.toLong() else fib(n - 1) + fib(n - 2)

/** Says in which versions. Calls come in by the runtime client's own main. */
fun main() {
    val client = AWSLambda::class.java.`package`.implementationVersion
    println("Kotlin ${KotlinVersion.CURRENT}, Java ${Runtime.version()}, runtime interface client $client")
}
