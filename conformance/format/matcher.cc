#include "conformance/format/matcher.h"

#include <re2/re2.h>

#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "conformance/format/received_json.h"
#include "conformance/problems.h"

namespace conform {
namespace {

using Mismatches = std::vector<Mismatch>;

std::string Shown(const Json* value) {
  if (!value) return "nothing";
  std::string text = value->dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > 400) text = text.substr(0, 400) + "... (" + std::to_string(text.size()) + ")";
  return text;
}

Mismatches Differs(const std::string& where, const std::string& expected, const Json* actual) {
  return {{where, problems::Differs(expected, Shown(actual))}};
}

std::string Member(const std::string& where, const std::string& key) {
  return where.empty() ? key : where + "." + key;
}

bool Matches(const Json& expected, const Json* actual) { return Match(expected, actual).empty(); }

Mismatches Contains(const Json& wanted, const Json* actual, const std::string& where) {
  bool found = false;
  if (actual && actual->is_string() && wanted.is_string()) {
    found =
        actual->get_ref<const std::string&>().find(wanted.get<std::string>()) != std::string::npos;
  } else if (actual && actual->is_array()) {
    for (const Json& element : *actual) found = found || Matches(wanted, &element);
  } else if (actual && actual->is_object() && wanted.is_string()) {
    found = actual->contains(wanted.get<std::string>());
  }
  return found ? Mismatches{} : Differs(where, "something that contains " + wanted.dump(), actual);
}

// By bytes, in time that is linear in the text, which an endpoint chooses.
RE2::Options QuietByBytes() {
  RE2::Options options(RE2::Latin1);
  options.set_log_errors(false);
  return options;
}

Mismatches MatchesRegex(const Json& pattern, const Json* actual, const std::string& where) {
  const std::string text = actual && actual->is_string() ? actual->get<std::string>()
                           : actual                      ? actual->dump()
                                                         : "";
  if (actual && RE2::FullMatch(text, RE2(pattern.get<std::string>(), QuietByBytes()))) return {};
  return Differs(where, "a text like /" + pattern.get<std::string>() + "/", actual);
}

Mismatches OneOf(const Json& choices, const Json* actual, const std::string& where) {
  for (const Json& choice : choices) {
    if (Matches(choice, actual)) return {};
  }
  return Differs(where, "one of " + choices.dump(), actual);
}

Mismatches All(const Json& parts, const Json* actual, const std::string& where) {
  Mismatches all;
  for (const Json& part : parts) {
    for (Mismatch& mismatch : Match(part, actual, where)) all.push_back(std::move(mismatch));
  }
  return all;
}

Mismatches Each(const Json& wanted, const Json* actual, const std::string& where) {
  if (!actual || !actual->is_structured()) return Differs(where, "a list", actual);
  Mismatches all;
  for (const auto& [key, element] : actual->items()) {
    for (Mismatch& mismatch : Match(wanted, &element, Member(where, key))) {
      all.push_back(std::move(mismatch));
    }
  }
  return all;
}

Mismatches InOrder(const Json& wanted, const Json* actual, const std::string& where) {
  if (!actual || !actual->is_array()) return Differs(where, "a list", actual);
  size_t next = 0;
  for (const Json& element : *actual) {
    if (next < wanted.size() && Matches(wanted[next], &element)) ++next;
  }
  if (next == wanted.size()) return {};
  return Differs(
      where, "in this order, " + wanted[next].dump() + " (number " + std::to_string(next + 1) + ")",
      actual);
}

Mismatches Unordered(const Json& wanted, const Json* actual, const std::string& where) {
  if (!actual || !actual->is_array() || actual->size() != wanted.size()) {
    return Differs(where, std::to_string(wanted.size()) + " elements", actual);
  }
  for (const Json& one : wanted) {
    if (!Contains(one, actual, where).empty()) return Differs(where, one.dump(), actual);
  }
  return {};
}

// An absent value has the length 0.
Mismatches Length(const Json& wanted, const Json* actual, const std::string& where) {
  size_t length = 0;
  if (actual && actual->is_string()) length = actual->get_ref<const std::string&>().size();
  if (actual && !actual->is_string()) length = actual->size();
  const Json number = length;
  if (Matches(wanted, &number)) return {};
  return Differs(where, "a length of " + wanted.dump(), actual);
}

Mismatches IsJson(const Json& wanted, const Json* actual, const std::string& where) {
  if (!actual || !actual->is_string()) return Differs(where, "a text that is JSON", actual);
  const Json parsed = ParseReceived(actual->get<std::string>());
  if (parsed.is_discarded()) return Differs(where, "a text that is JSON", actual);
  return Match(wanted, &parsed, where + "<json>");
}

Mismatches AtLeast(const Json& wanted, const Json* actual, const std::string& where) {
  const bool fits = actual && actual->is_number() == wanted.is_number() && *actual >= wanted;
  return fits ? Mismatches{} : Differs(where, "at least " + wanted.dump(), actual);
}

Mismatches Is(bool fits, const char* what, const Json* actual, const std::string& where) {
  return fits ? Mismatches{} : Differs(where, what, actual);
}

Mismatches Not(const Json& unwanted, const Json* actual, const std::string& where) {
  return Is(!Matches(unwanted, actual), ("not " + unwanted.dump()).c_str(), actual, where);
}

Mismatches Exactly(const Json& wanted, const Json* actual, const std::string& where) {
  return Is(actual && *actual == wanted, ("exactly " + wanted.dump()).c_str(), actual, where);
}

using Matcher = Mismatches (*)(const Json& argument, const Json* actual, const std::string& where);

const std::map<std::string, Matcher> kMatchers = {
    {"$any",
     [](const Json&, const Json* actual, const std::string& where) {
       return Is(actual != nullptr, "anything", actual, where);
     }},
    {"$absent",
     [](const Json&, const Json* actual, const std::string& where) {
       return Is(actual == nullptr, "nothing", actual, where);
     }},
    {"$absolute",
     [](const Json&, const Json* actual, const std::string& where) {
       return MatchesRegex("https?://[^/]+/.*", actual, where);
     }},
    {"$contains", Contains},
    {"$matches", MatchesRegex},
    {"$one_of", OneOf},
    {"$not", Not},
    {"$all", All},
    {"$exactly", Exactly},
    {"$each", Each},
    {"$length", Length},
    {"$json", IsJson},
    {"$in_order", InOrder},
    {"$unordered", Unordered},
    {"$at_least", AtLeast},
};

// A key may be ${name}, which is filled in later.
bool IsMatcher(const Json& expected) {
  if (!expected.is_object() || expected.size() != 1) return false;
  const std::string key = expected.begin().key();
  return key.starts_with("$") && !key.starts_with("${");
}

bool TakesNoPattern(const std::string& name) {
  return name == "$any" || name == "$absent" || name == "$absolute" || name == "$exactly" ||
         name == "$at_least";
}

std::optional<std::string> MistakeInMatcher(const std::string& name, const Json& argument) {
  if (!kMatchers.contains(name)) return problems::MatcherUnknown(name);
  if (TakesNoPattern(name)) return std::nullopt;
  const bool list =
      name == "$one_of" || name == "$all" || name == "$in_order" || name == "$unordered";
  if (list && !argument.is_array()) return problems::MatcherRequiresList(name);
  if (name == "$matches") {
    if (!argument.is_string()) return problems::MatcherRequiresText(name);
    if (argument.get<std::string>().find("${") != std::string::npos) return std::nullopt;
    const RE2 regex(argument.get<std::string>(), QuietByBytes());
    if (!regex.ok()) return problems::RegexBroken(regex.pattern(), regex.error());
  }
  return FindMistake(argument);
}

}  // namespace

Mismatches Match(const Json& expected, const Json* actual, const std::string& where) {
  if (IsMatcher(expected)) {
    return kMatchers.at(expected.begin().key())(expected.begin().value(), actual, where);
  }
  if (expected.is_object()) {
    if (!actual || !actual->is_object()) return Differs(where, Shown(&expected), actual);
    Mismatches all;
    for (const auto& [key, value] : expected.items()) {
      const auto member = actual->find(key);
      const Json* found = member == actual->end() ? nullptr : &*member;
      for (Mismatch& m : Match(value, found, Member(where, key))) all.push_back(std::move(m));
    }
    return all;
  }
  if (expected.is_array()) {
    if (!actual || !actual->is_array() || actual->size() != expected.size()) {
      return Differs(where, Shown(&expected), actual);
    }
    Mismatches all;
    for (size_t i = 0; i < expected.size(); ++i) {
      const std::string at = where + "[" + std::to_string(i) + "]";
      for (Mismatch& m : Match(expected[i], &(*actual)[i], at)) all.push_back(std::move(m));
    }
    return all;
  }
  if (actual && *actual == expected) return {};
  return Differs(where, Shown(&expected), actual);
}

std::optional<std::string> FindMistake(const Json& expected) {
  if (!expected.is_structured()) return std::nullopt;
  if (IsMatcher(expected)) {
    return MistakeInMatcher(expected.begin().key(), expected.begin().value());
  }
  for (const auto& [key, value] : expected.items()) {
    if (expected.is_object() && key.starts_with("$") && !key.starts_with("${")) {
      return problems::MatcherNotAlone(key);
    }
    if (auto mistake = FindMistake(value)) return mistake;
  }
  return std::nullopt;
}

}  // namespace conform
