#pragma once
// Differences of objects that are not JSON: a model, a pickle, an archive, a table.

#include <cstddef>
#include <string>
#include <string_view>

namespace caip::harness {

/// Whether the bytes must hold other values: not those of a pickle that was loaded and saved again,
/// and not numbers that drift (drift.h). Such a pickle has another size, or its bytes in another
/// order (a set). Measured with joblib, pickle and torch.save, see docs/explored.md. False: they
/// may hold the same.
bool HoldOtherValues(std::string_view bytes, std::string_view other);

/// Whether the bytes are letters, without control characters except line ends and tabs.
bool IsText(std::string_view bytes);

/// Whether texts have the same words and the same whole numbers, and fractions that differ by more
/// than drift. False: they may mean the same. Whole numbers may be seconds, or the steps of a
/// process.
bool TextsHoldOtherValues(std::string_view text, std::string_view other);

/// The same, and whole numbers may differ if they count no starts (MayCountStarts). `once` comes
/// from a run with so many starts, `other` from one with so many restarts.
bool TextsHoldMoreThanCounts(std::string_view once, std::string_view other, size_t starts,
                             size_t restarts);

/// A text that identifies the contents.
std::string MarkOf(std::string_view bytes);

/// Whether contents with these marks must hold other values. Drift is not known from marks.
bool MarksHoldOtherValues(std::string_view mark, std::string_view other);

}  // namespace caip::harness
