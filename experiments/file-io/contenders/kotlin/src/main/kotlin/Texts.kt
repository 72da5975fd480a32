// What was read of each file.

import java.nio.file.Path
import java.security.MessageDigest
import java.util.HexFormat
import java.util.concurrent.atomic.AtomicInteger

class Texts(
    folder: Path,
    files: Int,
) {
    private val paths = List(files) { folder.resolve("$it") }
    private val texts = List(files) { Text() }

    /** Of the file whose turn it is at the [n]th reading. */
    fun path(n: Int): Path = paths[n % paths.size]

    fun keep(
        n: Int,
        text: String,
    ) = texts[n % texts.size].keep(text)

    fun byFile(): Map<String, Text> = texts.withIndex().filter { it.value.times > 0 }.associate { "${it.index}" to it.value }
}

/** The last text of a file. What the answer says of it is computed when that is written, after the clock. */
class Text {
    private val kept = AtomicInteger()

    @Volatile
    private var last = ""

    fun keep(text: String) {
        last = text
        kept.incrementAndGet()
    }

    val times get() = kept.get()
    val chars get() = last.codePointCount(0, last.length)
    val sha256: String get() = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(last.toByteArray()))
}
