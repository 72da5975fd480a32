// What the client reads: the C structs themselves, on a little-endian machine.
#pragma once
#include <cstdint>

struct Player {
  char uuid[36];
  char name[32];
  uint16_t level;
  uint64_t experience;
  uint64_t coins;
  uint32_t gems;
  uint16_t stamina;
  int64_t last_login_at;
};

struct Item {
  char uuid[36];
  uint32_t item_id;
  uint32_t count;
  uint16_t level;
  uint8_t flags;
  int64_t acquired_at;
};

static_assert(sizeof(Player) == 104 && sizeof(Item) == 56, "another layout than the client's");
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "another byte order than the client's");
