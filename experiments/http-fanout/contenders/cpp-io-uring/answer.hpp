// The part of HTTP/1.1 answers that the client reads: a status, and a body with a Content-Length.
#pragma once

#include <optional>
#include <string>
#include <string_view>

struct HttpAnswer {
  int status = 0;
  std::string_view body = {};
  bool close = false;  // The backend takes no more requests on this connection.
};

// The answer that these bytes are; nothing if a part is missing. Throws where it is none.
std::optional<HttpAnswer> parsed(std::string_view bytes);
