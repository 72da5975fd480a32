// Writes states when they are due: by clock_nanosleep, with SCHED_FIFO and a last stretch awake if it is told
// so.
#define _GNU_SOURCE
#include <errno.h>
#include <gnu/libc-version.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct state {
  long due_ns;
  char *line;
  size_t length;
};

// So long before it is due a state is waited for awake.
static const long SPIN_NS = 1000 * 1000;

static void fail(const char *what) {
  fprintf(stderr, "pacing: %s\n", what);
  exit(1);
}

static struct timespec after(struct timespec from, long ns) {
  ns += from.tv_nsec;
  return (struct timespec){.tv_sec = from.tv_sec + ns / 1000000000, .tv_nsec = ns % 1000000000};
}

static bool is_before(struct timespec a, struct timespec b) {
  return a.tv_sec < b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec < b.tv_nsec);
}

static void sleep_until(struct timespec due) {
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR) {
  }
}

static void spin_until(struct timespec due) {
  struct timespec now;
  do clock_gettime(CLOCK_MONOTONIC, &now);
  while (is_before(now, due));
}

static void play(const struct state *states, size_t count, bool spin) {
  struct timespec start;
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (size_t i = 0; i < count; i++) {
    struct timespec due = after(start, states[i].due_ns);
    if (i > 0 && spin) {
      sleep_until(after(start, states[i].due_ns - SPIN_NS));
      spin_until(due);
    } else if (i > 0) {
      sleep_until(due);
    }
    if (write(STDOUT_FILENO, states[i].line, states[i].length) != (ssize_t)states[i].length) {
      fail("a state cannot be written");
    }
  }
}

static struct state read_state(void) {
  char *text = NULL;
  size_t room = 0;
  ssize_t length = getline(&text, &room, stdin);
  char *rest;
  long due_ns = length > 0 ? strtol(text, &rest, 10) : 0;
  if (length <= 0 || rest == text || *rest != ' ') fail("expected 'OFFSET_NS STATE'");
  char *line = strdup(rest + 1);
  free(text);
  if (!line) fail("no memory");
  return (struct state){.due_ns = due_ns, .line = line, .length = strlen(line)};
}

// Reads a play; 0 states if there is no further one.
static size_t read_play(struct state **states) {
  char how[16];
  size_t count;
  int read = scanf("play %15s %zu", how, &count);
  if (read == EOF) return 0;
  if (read != 2 || getchar() != '\n' || strcmp(how, "absolute") != 0) fail("expected 'play absolute N'");
  *states = calloc(count, sizeof **states);
  if (!*states) fail("no memory");
  for (size_t i = 0; i < count; i++) (*states)[i] = read_state();
  return count;
}

int main(int count, char **words) {
  bool spin = false;
  for (int i = 1; i < count; i++) {
    if (strcmp(words[i], "--version") == 0) {
      printf("GCC %s, glibc %s\n", __VERSION__, gnu_get_libc_version());
      return 0;
    } else if (strcmp(words[i], "fifo") == 0) {
      struct sched_param priority = {.sched_priority = 1};
      if (sched_setscheduler(0, SCHED_FIFO, &priority) != 0) fail("SCHED_FIFO is not permitted");
    } else if (strcmp(words[i], "spin") == 0) {
      spin = true;
    } else {
      fail("usage: pacing [fifo] [spin] | --version");
    }
  }
  puts("ready");
  fflush(stdout);
  struct state *states;
  size_t states_count;
  while ((states_count = read_play(&states)) > 0) {
    play(states, states_count, spin);
    for (size_t i = 0; i < states_count; i++) free(states[i].line);
    free(states);
  }
}
