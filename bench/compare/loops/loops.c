// Loops of a known number of instructions: two for each turn, whatever the compiler makes of the rest.
//
//   loops loop TURNS     in one process
//   loops threads TURNS  in two threads, so many in each
//   loops fork TURNS     so many, and then so many in a forked child
//   loops start TURNS    in a program that is started: `loops loop TURNS`
//   loops memcpy TIMES   64 KiB copied so often by the library
//   loops touch PAGES    memory of so many pages, each of them touched once
//   loops movs TIMES     64 KiB copied so often by one instruction, where the processor has one for that
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE (64 << 10)
static char from[SIZE], to[SIZE];

__attribute__((noinline)) static void loop(long turns) {
#if defined(__x86_64__)
  __asm__ volatile("1: dec %0; jnz 1b" : "+r"(turns));
#elif defined(__aarch64__)
  __asm__ volatile("1: subs %0, %0, #1; b.ne 1b" : "+r"(turns));
#else
#error "no loop is known for this processor"
#endif
}

static void *in_thread(void *turns) {
  loop((long)turns);
  return NULL;
}

static int threads(long turns) {
  pthread_t threads[2];
  for (int nth = 0; nth < 2; nth++)
    if (pthread_create(&threads[nth], NULL, in_thread, (void *)turns)) return 1;
  for (int nth = 0; nth < 2; nth++) pthread_join(threads[nth], NULL);
  return 0;
}

static int ended(pid_t child) {
  int status;
  return child < 0 || waitpid(child, &status, 0) < 0 || status != 0;
}

static int in_fork(long turns) {
  loop(turns);
  pid_t child = fork();
  if (child == 0) {
    loop(turns);
    _exit(0);
  }
  return ended(child);
}

extern char **environ;

static int started(char *program, char *turns) {
  pid_t child;
  char *arguments[] = {program, "loop", turns, NULL};
  return posix_spawn(&child, program, NULL, NULL, arguments, environ) || ended(child);
}

static int touch(long pages) {
  long size = sysconf(_SC_PAGESIZE);
  char *memory = mmap(NULL, pages * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  // A huge page would be touched once for many.
  madvise(memory, pages * size, MADV_NOHUGEPAGE);
  for (long page = 0; page < pages; page++) *(volatile char *)(memory + page * size) = 1;
  return 0;
}

__attribute__((noinline)) static void copy(void *(*volatile by)(void *, const void *, size_t)) {
  by(to, from, SIZE);
}

static int movs(long times) {
#if defined(__x86_64__)
  for (long nth = 0; nth < times; nth++) {
    void *source = from, *destination = to;
    long left = SIZE;
    __asm__ volatile("rep movsb" : "+S"(source), "+D"(destination), "+c"(left) : : "memory");
  }
  return 0;
#else
  return 1;
#endif
}

int main(int count, char **words) {
  if (count != 3) return 2;
  const char *what = words[1];
  long turns = atol(words[2]);
  if (!strcmp(what, "loop")) return loop(turns), 0;
  if (!strcmp(what, "threads")) return threads(turns);
  if (!strcmp(what, "fork")) return in_fork(turns);
  if (!strcmp(what, "start")) return started(words[0], words[2]);
  if (!strcmp(what, "touch")) return touch(turns);
  if (!strcmp(what, "movs")) return movs(turns);
  if (!strcmp(what, "memcpy")) {
    for (long nth = 0; nth < turns; nth++) copy(memcpy);
    return 0;
  }
  return 2;
}
