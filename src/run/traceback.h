#pragma once
// Python's tracebacks as text: which lines belong to one, and how one is shortened.

#include <string>
#include <string_view>

namespace caip::run {

inline constexpr std::string_view kTracebackHeading = "Traceback (most recent call last):";
inline constexpr size_t kTracebackBytesMax = 2048;  // in an errorMessage
inline constexpr std::string_view kNoTraceback = "(no traceback available)";

/// The traceback as errorMessage shows it: at most `limit` bytes. The oldest frames are taken out,
/// a frame being its `File` line and what is indented below it, and `  [...]` stands for them
/// after the heading. Text without the heading is cut at its end, never within a character.
std::string ReduceTraceback(std::string_view text, size_t limit = kTracebackBytesMax);

// The part that a line of stderr can play in a traceback.
bool OpensTraceback(std::string_view line);       // a heading, also that of an exception group
bool OpensExceptionGroup(std::string_view line);  // the latter only
bool OpensSyntaxError(std::string_view line);  // `  File "x.py", line 1`, maybe without a heading
bool NamesSyntaxError(std::string_view line);  // `SyntaxError: ...` and its kin
/// What `python3 -m` prints instead of a traceback if it cannot start the module:
/// `/usr/bin/python3: No module named trainer.task`.
bool RefusesModule(std::string_view line);
/// `    ~~~~^^^` below a line of source. Python 3.11 indents it wrongly below some, to no column.
bool MarksPlace(std::string_view line);
bool ChainsTracebacks(std::string_view line);  // "During handling of the above exception, ..."
/// "Exception ignored in: <function C.__del__>": the traceback after it did not end the program.
bool AnnouncesIgnoredException(std::string_view line);
bool LooksLikeLogRecord(std::string_view line);  // "WARNING:root:x", "2021-01-02 ...": no part

}  // namespace caip::run
