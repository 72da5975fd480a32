#include "answer.hpp"

#include <strings.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace {

constexpr std::size_t head_bytes_max = 16 << 10, body_bytes_max = 1 << 20;

bool is(std::string_view text, std::string_view word) {
  return text.size() == word.size() && strncasecmp(text.data(), word.data(), word.size()) == 0;
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::size_t number(std::string_view digits, std::size_t most) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || value > most) {
    throw std::runtime_error("not a number, or too large a one: " + std::string(digits));
  }
  return value;
}

}  // namespace

std::optional<HttpAnswer> parsed(const std::string_view bytes) {
  const auto head_bytes = bytes.find("\r\n\r\n");
  if (head_bytes == bytes.npos) {
    if (bytes.size() > head_bytes_max) throw std::runtime_error("an answer without an end of its head");
    return std::nullopt;
  }
  std::string_view head = bytes.substr(0, head_bytes + 2), rest = bytes.substr(head_bytes + 4);
  const auto next_line = [&head] {
    const auto line = head.substr(0, head.find("\r\n"));
    head.remove_prefix(line.size() + 2);
    return line;
  };

  constexpr std::string_view version = "HTTP/1.1 ";
  const auto first = next_line();
  const auto code = first.substr(std::min(version.size(), first.size()), 3);
  if (!first.starts_with(version) || code.size() < 3)
    throw std::runtime_error("not an answer: " + std::string(first));
  HttpAnswer answer{.status = static_cast<int>(number(code, 999))};
  std::optional<std::size_t> length;
  while (!head.empty()) {
    const auto line = next_line();
    const auto colon = line.find(':');
    if (colon == line.npos) throw std::runtime_error("not a header: " + std::string(line));
    const auto name = line.substr(0, colon), value = trimmed(line.substr(colon + 1));
    if (is(name, "Transfer-Encoding")) throw std::runtime_error("an answer in chunks");
    if (is(name, "Content-Length")) length = number(value, body_bytes_max);
    if (is(name, "Connection")) answer.close = is(value, "close");
  }
  if (!length) throw std::runtime_error("an answer without Content-Length");
  if (rest.size() > *length) throw std::runtime_error("more than one answer to one request");
  if (rest.size() < *length) return std::nullopt;
  answer.body = rest;
  return answer;
}
