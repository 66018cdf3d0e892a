// SPDX-License-Identifier: Apache-2.0
//
// Output that may be longer than the screen: held back until it is, then passed on to the pager.

internal import Pagers
internal import Primitives
internal import Secrets

struct PagedOutput {
  /// Of the screen.
  private let rowCount: Int
  private let columnCount: Int
  private var rows = ScreenRows()
  /// What is not shown yet.
  private(set) var held: [UInt8] = []
  private var pager: Pager?
  private var hasNone = false
  /// Whether the user has left the pager before the end.
  private(set) var isLeft = false

  init(rowCount: Int, columnCount: Int) { (self.rowCount, self.columnCount) = (rowCount, columnCount) }

  /// - Returns: whether it was taken; else the caller writes it.
  mutating func take(_ bytes: RawSpan) -> Bool {
    if hasNone { return false }
    if pager == nil {
      held.append(bytes)
      rows.add(bytes, columnCount: columnCount)
      // The last row is for the prompt of the shell.
      guard rows.count >= rowCount else { return true }
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
    guard let pager else {
      return Terminal.writeAll(bytes, to: CommandRun.current.environment.streams.output) == 0
    }
    if !isLeft, !pager.write(bytes) { isLeft = true }
    return true
  }

  func end() { pager?.end() }
}

/// How many rows of a screen a text takes: a long line takes several. Each character counts as one column.
private struct ScreenRows {
  private(set) var count = 0
  private var column = 0
  private var isInSequence = false

  mutating func add(_ bytes: RawSpan, columnCount: Int) {
    for offset in 0..<bytes.byteCount {
      switch unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self) {
      case 0x0A:
        count += 1
        column = 0
      // Our own sequences are those of colours, which end in "m".
      case 0x1B: isInSequence = true
      case 0x6D where isInSequence: isInSequence = false
      // Not the further bytes of a character.
      case 0x80...0xBF: break
      default:
        if isInSequence { break }
        if column == columnCount {
          count += 1
          column = 0
        }
        column += 1
      }
    }
  }
}
