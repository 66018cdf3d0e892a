// SPDX-License-Identifier: Apache-2.0

extension RandomAccessCollection where Index == Int {
  /// By halving, the index of the first element that fits, where all that fit come after all others; the end if none
  /// does.
  @inlinable package func partitionIndex(where fits: (Element) -> Bool) -> Int {
    var (lower, upper) = (startIndex, endIndex)
    while lower < upper {
      let middle = (lower + upper) / 2
      if fits(self[middle]) { upper = middle } else { lower = middle + 1 }
    }
    return lower
  }
}
