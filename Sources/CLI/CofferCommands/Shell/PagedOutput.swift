// SPDX-License-Identifier: Apache-2.0
//
// Output that may be longer than the screen: held back until it is, then passed on to the pager.

internal import Pagers
internal import Primitives
internal import Secrets

struct PagedOutput {
  /// Rows of the screen.
  private let rowCount: Int
  private var lineCount = 0
  /// What is not shown yet.
  private(set) var held: [UInt8] = []
  private var pager: Pager?
  private var hasNone = false
  /// Whether the user has left the pager before the end.
  private(set) var isLeft = false

  init(rowCount: Int) { self.rowCount = rowCount }

  /// - Returns: whether it was taken; else the caller writes it.
  mutating func take(_ bytes: RawSpan) -> Bool {
    if hasNone { return false }
    if pager == nil {
      held.append(bytes)
      lineCount += Self.lineCount(bytes)
      // The last row is for the prompt of the shell.
      guard lineCount >= rowCount else { return true }
      pager = CommandSurroundings.current.pager()
      // Too long to be held back, and nothing to show it with.
      if pager == nil { hasNone = true }
      let all = held
      held = []
      return pass(all.rawSpan)
    }
    return pass(bytes)
  }

  private mutating func pass(_ bytes: RawSpan) -> Bool {
    guard let pager else { return CommandSurroundings.current.write(bytes, to: 1) == 0 }
    if !isLeft, !pager.write(bytes) { isLeft = true }
    return true
  }

  func end() { pager?.end() }

  private static func lineCount(_ bytes: RawSpan) -> Int {
    var count = 0
    for offset in 0..<bytes.byteCount
    where unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self) == 0x0A { count += 1 }
    return count
  }
}
