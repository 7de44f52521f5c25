// Expectations of objects: their contents at the end, and the operations on them.

#include <optional>

#include "base/text.h"
#include "harness/expectations/counts.h"
#include "harness/expectations/twin_comparison.h"
#include "harness/explorer/other_state.h"
#include "harness/faults/trigger.h"
#include "harness/faults/trigger_reader.h"

namespace caip::harness {
namespace {

std::vector<std::string> ReadObjectGlobs(const Cursor& cursor) {
  std::vector<std::string> globs;
  for (const Cursor& element : cursor.Elements()) globs.push_back(ObjectGlob(element.Text()));
  return globs;
}

std::vector<std::string> FindObjects(const Evidence& run, const std::string& glob) {
  std::vector<std::string> names;
  for (const auto& [name, object] : run.objects) {
    if (GlobMatches(glob, name)) names.push_back(name);
  }
  return names;
}

std::string FirstNames(const std::vector<std::string>& names) {
  if (names.empty()) return "none";
  std::vector<std::string> shown(names.begin(), names.begin() + std::min<size_t>(names.size(), 4));
  return Join(shown, ", ") +
         (names.size() > 4 ? " and " + std::to_string(names.size() - 4) + " more" : "");
}

// How often each object that matches the glob was given new contents: was written, or a file or its
// directory was renamed to that name.
std::map<std::string, int64_t> CountWrites(const Evidence& run, const std::string& glob) {
  std::map<std::string, int64_t> writes;
  ObjectAges ages;
  for (const Event& event : run.events) {
    for (const std::string& name : ages.Take(event)) {
      if (GlobMatches(glob, name)) ++writes[name];
    }
  }
  return writes;
}

Assertion CompareObjectsWithTwin(const ComparedRuns& runs, const ObjectComparison& how) {
  std::vector<std::string> missing;
  std::vector<std::string> surplus;
  std::vector<std::string> other;
  int64_t equal = 0;
  for (const auto& [name, object] : runs.twin->objects) {
    if (!how.Compares(name)) continue;
    const auto mine = runs.run.objects.find(name);
    if (mine == runs.run.objects.end()) {
      missing.push_back(name);
    } else if (!how.Equal(mine->second.bytes, object.bytes)) {
      other.push_back(name);
    } else {
      ++equal;
    }
  }
  for (const auto& [name, object] : runs.run.objects) {
    if (how.Compares(name) && !runs.twin->objects.contains(name)) surplus.push_back(name);
  }
  Assertion assertion{"same_objects_as_twin", "the twin's objects", "", false};
  std::vector<std::string> words;
  if (!missing.empty()) words.push_back("missing " + FirstNames(missing));
  if (!surplus.empty()) words.push_back("left over " + FirstNames(surplus));
  if (!other.empty()) words.push_back("other bytes in " + FirstNames(other));
  assertion.passed = words.empty();
  assertion.found = words.empty() ? std::to_string(equal) + " equal" : Join(words, "; ");
  return assertion;
}

}  // namespace

ExpectationPtr ReadObjects(const Cursor& cursor) {
  if (!cursor.MustBeMap()) return nullptr;
  cursor.OnlyKeys({"present", "absent", "count"});
  std::map<std::string, Count> wanted;
  std::map<std::string, std::string> names;
  for (const char* word : {"present", "absent"}) {
    if (!cursor.Has(word)) continue;
    const bool present = std::string_view(word) == "present";
    for (const std::string& glob : ReadObjectGlobs(cursor.At(word))) {
      wanted[glob] = present ? Count{1, INT64_MAX} : Count{0, 0};
      names[glob] = word;
    }
  }
  for (const auto& [glob, count] : cursor.At("count").Members()) {
    wanted[ObjectGlob(glob)] = ReadCount(count);
    names[ObjectGlob(glob)] = "count";
  }
  return Expect([wanted, names](const ComparedRuns& runs) {
    std::vector<Assertion> assertions;
    for (const auto& [glob, count] : wanted) {
      const std::vector<std::string> found = FindObjects(runs.run, glob);
      assertions.push_back({"objects " + names.at(glob) + " " + glob, Text(count),
                            std::to_string(found.size()) + ": " + FirstNames(found),
                            count.Holds(static_cast<int64_t>(found.size()))});
    }
    return assertions;
  });
}

ExpectationPtr ReadObjectFields(const Cursor& cursor) {
  if (!cursor.MustBeMap()) return nullptr;
  std::map<std::string, Json> wanted;
  for (const auto& [glob, fields] : cursor.Members()) {
    if (fields.MustBeMap()) wanted[ObjectGlob(glob)] = fields.json();
  }
  return Expect([wanted](const ComparedRuns& runs) {
    std::vector<Assertion> assertions;
    for (const auto& [glob, fields] : wanted) {
      const std::vector<std::string> names = FindObjects(runs.run, glob);
      for (const auto& [field, value] : fields.items()) {
        Assertion assertion{"object_fields " + glob + " " + field, CompactJson(value),
                            names.empty() ? "no such object" : "", !names.empty()};
        for (const std::string& name : names) {
          const auto json = ParseJson(runs.run.objects.at(name).bytes);
          const Json* found = json.ok() ? Member(*json, field) : nullptr;
          const bool same = found && SameJson(*found, value, 1e-9);
          if (assertion.passed) {
            assertion.found = (found ? CompactJson(*found) : "no such field") + " in " + name;
          }
          assertion.passed = assertion.passed && same;
        }
        assertions.push_back(std::move(assertion));
      }
    }
    return assertions;
  });
}

ExpectationPtr ReadSameObjectsAsTwin(const Cursor& cursor) {
  const ObjectComparison how = ReadObjectComparison(cursor);
  if (!cursor.IsMap() && !cursor.Flag()) return nullptr;
  return Expect(
      [how](const ComparedRuns& runs) -> std::vector<Assertion> {
        return {CompareObjectsWithTwin(runs, how)};
      },
      true);
}

ExpectationPtr ReadWrites(const Cursor& cursor) {
  if (!cursor.MustBeMap()) return nullptr;
  std::map<std::string, Count> wanted;
  for (const auto& [glob, count] : cursor.Members()) wanted[ObjectGlob(glob)] = ReadCount(count);
  return Expect([wanted](const ComparedRuns& runs) {
    std::vector<Assertion> assertions;
    for (const auto& [glob, count] : wanted) {
      int64_t writes = 0;
      for (const auto& [object, often] : CountWrites(runs.run, glob)) writes += often;
      assertions.push_back(
          {"writes " + glob, Text(count), std::to_string(writes), count.Holds(writes)});
    }
    return assertions;
  });
}

ExpectationPtr ReadWrittenOnce(const Cursor& cursor) {
  const std::vector<std::string> globs = ReadObjectGlobs(cursor);
  return Expect([globs](const ComparedRuns& runs) {
    std::vector<Assertion> assertions;
    for (const std::string& glob : globs) {
      const auto writes = CountWrites(runs.run, glob);
      std::vector<std::string> often;
      for (const auto& [name, count] : writes) {
        if (count > 1) often.push_back(name + " " + std::to_string(count) + " times");
      }
      const std::string found = writes.empty()  ? "none was written"
                                : often.empty() ? std::to_string(writes.size()) + " once"
                                                : FirstNames(often);
      assertions.push_back(
          {"written_once " + glob, "each once", found, !writes.empty() && often.empty()});
    }
    return assertions;
  });
}

ExpectationPtr ReadReads(const Cursor& cursor) {
  struct ExpectedReads {
    std::string glob;
    std::string replica;
    int boot;
    Count count;
  };
  std::vector<ExpectedReads> wanted;
  if (!cursor.MustBeMap()) return nullptr;
  for (const auto& [glob, replicas] : cursor.Members()) {
    if (!replicas.MustBeMap()) continue;
    for (const auto& [replica, boots] : replicas.Members()) {
      const std::string whose = ReplicaOfKey(replica, boots);
      if (!boots.MustBeMap()) continue;
      for (const auto& [boot, count] : boots.Members()) {
        wanted.push_back({ObjectGlob(glob), whose, BootOfKey(boot, count), ReadCount(count)});
      }
    }
  }
  return Expect([wanted](const ComparedRuns& runs) {
    std::vector<Assertion> assertions;
    for (const ExpectedReads& one : wanted) {
      int64_t reads = 0;
      for (const Event& event : runs.run.events) {
        const auto* operation = event.As<StorageEvent>();
        const bool is_read = operation && operation->op == "read" && event.replica == one.replica &&
                             event.boot == one.boot;
        if (is_read && GlobMatches(one.glob, operation->object)) ++reads;
      }
      assertions.push_back(
          {"reads " + one.glob + " " + one.replica + " boot " + std::to_string(one.boot),
           Text(one.count), std::to_string(reads), one.count.Holds(reads)});
    }
    return assertions;
  });
}

}  // namespace caip::harness
