// The part of HTTP/1.1 that the bot speaks: POST / with a Content-Length.
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { REQUEST_BYTES_MAX = 4096 };

struct request {
  enum { PARTIAL, BAD, WHOLE } state;
  size_t length;  // Of all of it, if it is whole.
  const char *body;
  size_t body_length;
  bool close;  // The client wants no more answers after this one.
};

// Reads the request that begins here.
struct request parsed(const char *bytes, size_t length);
