// Plays what it is told on standard input: writes each state when it is due.

import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.delay
import kotlinx.coroutines.runBlocking
import java.io.FileDescriptor
import java.io.FileOutputStream
import kotlin.system.exitProcess
import kotlin.time.Duration
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.TimeSource

/** A line to write, and when: from the start of the play. */
class State(
    val offset: Duration,
    val line: ByteArray,
)

/** One write to the system for each of ours, where System.out would go through two buffers. */
private val out = FileOutputStream(FileDescriptor.out)

fun main(args: Array<String>) {
    if (args.firstOrNull() == "--version") {
        val coroutines = Dispatchers::class.java.`package`.implementationVersion
        println("kotlinx.coroutines $coroutines, Kotlin ${KotlinVersion.CURRENT}, Java ${Runtime.version()}")
        return
    }

    out.write("ready\n".toByteArray())
    while (true) {
        val command = readlnOrNull() ?: return
        val count = Regex("play absolute (\\d+)").matchEntire(command)?.groupValues?.get(1)
        if (count == null) {
            System.err.println("expected 'play absolute N', got '$command'")
            exitProcess(1)
        }
        val states = List(count.toInt()) { state(readln()) }
        runBlocking { play(states) }
    }
}

private fun state(text: String): State {
    val (offset, values) = text.split(' ', limit = 2)
    return State(offset.toLong().nanoseconds, "$values\n".toByteArray())
}

private suspend fun play(states: List<State>) {
    val start = TimeSource.Monotonic.markNow()
    for (state in states) {
        delay(state.offset - start.elapsedNow())
        out.write(state.line)
    }
}
