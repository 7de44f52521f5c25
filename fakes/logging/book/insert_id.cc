// Insert ids as text (log_book.h).

#include <cstdio>

#include "fakes/logging/book/log_book.h"

namespace caip::logging {

std::string InsertIdText(uint64_t insert_id) {
  char text[24];
  std::snprintf(text, sizeof text, "%016llu", static_cast<unsigned long long>(insert_id));
  return text;
}

std::string WrittenInsertIdText(uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "w%015llx", static_cast<unsigned long long>(number));
  return text;
}

uint64_t InsertIdOf(const std::string& text) {
  if (text.empty() || text.size() > 16) return 0;
  uint64_t insert_id = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '9') return 0;
    insert_id = insert_id * 10 + static_cast<uint64_t>(digit - '0');
  }
  return insert_id;
}

}  // namespace caip::logging
