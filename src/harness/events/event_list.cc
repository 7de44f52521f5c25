#include "harness/events/event_list.h"

#include <utility>

#include "base/text.h"
#include "harness/errors.h"

namespace caip::harness {
namespace {

using errors::EventListNotValid;

void ReadHeadLine(const Json& json, EventList& list) {
  list.file = StringOr(json, "file");
  list.description = StringOr(json, "description");
  list.seed = static_cast<uint64_t>(IntOr(json, "seed", 1));
  list.semantics = StringOr(json, "semantics");
}

void ReadVerdictLine(const Json& json, EventList& list) {
  list.judged = true;
  list.passed = IsTrue(json, "passed");
  list.state = StringOr(json, "state");
  list.why_not = StringOr(json, "why_not");
  list.error = StringOr(json, "error");
  list.replay = StringOr(json, "replay");
  const Json* assertions = Member(json, "assertions");
  if (!assertions || !assertions->is_array()) return;
  for (const Json& one : *assertions) {
    list.assertions.push_back({StringOr(one, "name"), StringOr(one, "expected"),
                               StringOr(one, "found"), IsTrue(one, "passed")});
  }
}

// Reads one line that is not blank.
Status ReadEventLine(std::string_view text, const std::string& name, int64_t number,
                     EventList& list) {
  const auto json = ParseJson(text);
  if (!json.ok())
    return EventListNotValid(name, number,
                             "the line is not a valid JSON object, as `caip scenario run --events` "
                             "writes it: " +
                                 json.error().message);
  const std::string kind = StringOr(*json, "kind");
  if (number == 1 && kind != "scenario") {
    return EventListNotValid(
        name, number,
        "an event list must begin with a line of kind \"scenario\"; write one with `caip "
        "scenario run FILE --events EVENTS`");
  }
  if (list.judged)
    return EventListNotValid(name, number, "nothing may follow the line of kind \"verdict\"");
  if (kind == "scenario") {
    if (number > 1)
      return EventListNotValid(name, number, "the file contains a second event list from here on");
    if (IntOr(*json, "version", 0) != 1)
      return EventListNotValid(name, number, "version must be 1");
    ReadHeadLine(*json, list);
    return Ok{};
  }
  if (kind == "verdict") {
    ReadVerdictLine(*json, list);
    return Ok{};
  }
  auto event = EventFromJson(*json);
  if (!event.ok()) return EventListNotValid(name, number, event.error().message);
  list.events.push_back(*std::move(event));
  return Ok{};
}

}  // namespace

Result<EventList> ReadEventList(std::string_view text, const std::string& name) {
  EventList list;
  int64_t number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = Trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.empty() && number > 1) continue;
    RETURN_IF_ERROR(ReadEventLine(line, name, number, list));
  }
  if (number == 0)
    return EventListNotValid(name, 1, "the file is empty; an event list has at least two lines");
  return list;
}

}  // namespace caip::harness
