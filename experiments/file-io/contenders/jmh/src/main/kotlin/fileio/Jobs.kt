// A job of the workers, as they do it.

package fileio

import kotlinx.coroutines.runBlocking
import org.openjdk.jmh.infra.Blackhole
import java.nio.file.Path

fun readBlocking(
    paths: List<Path>,
    reads: Int,
    blackhole: Blackhole,
) = repeat(reads) { blackhole.consume(readBlocking(paths[it % paths.size])) }

fun readAsync(
    paths: List<Path>,
    reads: Int,
    blackhole: Blackhole,
) = runBlocking {
    repeat(reads) { blackhole.consume(readAsync(paths[it % paths.size])) }
}
