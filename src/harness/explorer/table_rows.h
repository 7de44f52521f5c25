#pragma once
// Tables in texts: rows that a training appends while it runs, and what a restart did to them.

#include <string_view>

namespace caip::harness {

/// Texts of one object.
struct TableRuns {
  std::string_view baseline;
  std::string_view early;  // after a restart before the first step; empty: not known, or the same
  std::string_view found;  // after the restart that is compared
  bool has_peers = false;  // several replicas may write the object
};

enum class RowDamage { kNone, kCut, kRepeated, kMissing };

/// What happened to the rows of a table. A table has lines of JSON with two members or more, values
/// that a comma, a semicolon or a tab separates, or columns of numbers. Its first lines may be a
/// header. Any other text is not a table: each start may add lines to a log.
///
/// Judges only rows that the baseline has once, and that have the form of another one: the same
/// text except for the numbers. A row that the early restart changes is what each start writes, and
/// with peers, so is each row of its form. kCut: a part of a row is a line, or the begin of one.
/// kMissing: a row is missing, and none is in its place. A table with other values has kNone.
RowDamage FindRowDamage(const TableRuns& runs);

/// "rows come more than once"; "" for kNone.
std::string_view Name(RowDamage damage);

}  // namespace caip::harness
