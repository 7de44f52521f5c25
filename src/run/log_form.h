#pragma once
// How the lines of replicas become log entries.

namespace caip::run {

/// The reader of the lines that a replica prints.
enum class LogReader {
  kLauncher,   // the service's launcher: levels, tracebacks, records of Python's logging
  kContainer,  // an agent: each line is an entry without a level, unless it is a JSON object
};

/// What a log entry has beside its severity.
enum class Payload {
  kRecord,  // a message and the place in the program that logged it
  kText,    // a text
  kObject,  // the members of a JSON object, whose text the message is
};

}  // namespace caip::run
