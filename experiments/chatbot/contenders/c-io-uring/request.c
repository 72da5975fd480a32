#define _GNU_SOURCE
#include "request.h"

#include <string.h>
#include <strings.h>

static const struct request partial = {.state = PARTIAL}, bad = {.state = BAD};

// What headers have said so far.
struct headers {
  int hosts, lengths;
  size_t body_length;
  bool close;
};

struct text {
  const char *begin, *end;
};

// In capitals or not.
static bool is(struct text text, const char *word) {
  size_t length = text.end - text.begin;
  return length == strlen(word) && strncasecmp(text.begin, word, length) == 0;
}

static bool is_exactly(struct text text, const char *word) {
  size_t length = text.end - text.begin;
  return length == strlen(word) && memcmp(text.begin, word, length) == 0;
}

static struct text trimmed(struct text text) {
  while (text.begin < text.end && (*text.begin == ' ' || *text.begin == '\t')) text.begin++;
  while (text.begin < text.end && (text.end[-1] == ' ' || text.end[-1] == '\t')) text.end--;
  return text;
}

static bool is_token(struct text text) {
  for (const char *at = text.begin; at < text.end; at++) {
    bool alphanumeric = (*at >= '0' && *at <= '9') || ((*at | 32) >= 'a' && (*at | 32) <= 'z');
    if (!alphanumeric && !(*at && strchr("!#$%&'*+-.^_`|~", *at))) return false;
  }
  return text.begin < text.end;
}

static bool has_controls(struct text text) {
  for (const char *at = text.begin; at < text.end; at++) {
    unsigned char letter = *at;
    if ((letter < ' ' && letter != '\t') || letter == 127) return true;
  }
  return false;
}

// False where it is no number, or larger than any request may be.
static bool read_length(struct text digits, size_t *length) {
  *length = 0;
  for (const char *at = digits.begin; at < digits.end; at++) {
    if (*at < '0' || *at > '9') return false;
    *length = *length * 10 + (*at - '0');
    if (*length > REQUEST_BYTES_MAX) return false;
  }
  return digits.begin < digits.end;
}

static bool lists(struct text list, const char *word) {
  while (list.begin < list.end) {
    const char *comma = memchr(list.begin, ',', list.end - list.begin);
    struct text member = {list.begin, comma ? comma : list.end};
    if (is(trimmed(member), word)) return true;
    list.begin = comma ? comma + 1 : list.end;
  }
  return false;
}

static bool read_header(struct text line, struct headers *headers) {
  const char *colon = memchr(line.begin, ':', line.end - line.begin);
  if (!colon) return false;
  struct text name = {line.begin, colon}, value = trimmed((struct text){colon + 1, line.end});
  if (!is_token(name) || has_controls(value)) return false;
  // Two lengths, or a coding that we do not know: who guesses here where the next request begins lets one be
  // smuggled in.
  if (is(name, "Transfer-Encoding")) return false;
  if (is(name, "Content-Length")) return ++headers->lengths == 1 && read_length(value, &headers->body_length);
  if (is(name, "Host")) return ++headers->hosts == 1;
  if (is(name, "Connection")) headers->close |= lists(value, "close");
  return true;
}

struct request parsed(const char *bytes, size_t length) {
  const char *at = bytes, *end = bytes + length;
  struct headers headers = {0};
  for (bool first = true;; first = false) {
    const char *line_feed = memchr(at, '\n', end - at);
    if (!line_feed) return partial;
    if (line_feed == at || line_feed[-1] != '\r') return bad;
    struct text line = {at, line_feed - 1};
    at = line_feed + 1;
    if (first && !is_exactly(line, "POST / HTTP/1.1")) return bad;
    if (line.begin == line.end) break;
    if (!first && !read_header(line, &headers)) return bad;
  }
  if (headers.hosts != 1) return bad;
  if ((size_t)(end - at) < headers.body_length) return partial;
  return (struct request){.state = WHOLE,
                          .length = at - bytes + headers.body_length,
                          .body = at,
                          .body_length = headers.body_length,
                          .close = headers.close};
}
