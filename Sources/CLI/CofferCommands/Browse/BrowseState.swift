// SPDX-License-Identifier: Apache-2.0
//
// What `coffer browse` does with a key: numbers and words alone. It knows no message and no terminal, so it says what has
// to be read or changed, and is told what came of it.

internal import UserAuthentication

/// Where the user is.
struct BrowseState: Equatable {
  enum Place: Equatable {
    case list
    /// The words of a search are being typed.
    case searching
    case reading
    /// A message is about to be removed.
    case removing
    case help
  }

  /// What has to be done outside of this.
  enum Action: Equatable {
    case nothing
    case quit, suspend
    /// Read the message of this row.
    case read(Int)
    case edit(Int)
    case remove(Int)
    /// List what is found; all messages for no words.
    case search(String)
  }

  private(set) var place = Place.list
  /// Where help and questions lead back to.
  private var former = Place.list
  private(set) var size: FullScreen.Size
  /// Rows of the list, the row that is chosen, and the first that is shown.
  private(set) var count = 0
  private(set) var chosen = 0
  private(set) var top = 0
  /// The words that the list was found with; empty for all messages.
  private(set) var query = ""
  /// The words as they are typed.
  private(set) var typed = ""
  /// Lines of the message that is read, and the first that is shown.
  private(set) var lineCount = 0
  private(set) var line = 0
  /// One line for the user, until the next key.
  var notice: String?

  init(size: FullScreen.Size) { self.size = size }

  /// Rows between the title and the last row.
  var room: Int { max(1, size.rows - 2) }

  var visible: Range<Int> { top..<min(count, top + room) }
  var visibleLines: Range<Int> { line..<min(lineCount, line + room) }

  // MARK: What came of it

  mutating func resize(_ size: FullScreen.Size) {
    self.size = size
    settle()
  }

  /// The list is another one.
  mutating func show(count: Int, query: String) {
    (self.count, self.query) = (count, query)
    (chosen, top) = (0, 0)
  }

  /// One row less.
  mutating func dropChosen() {
    count = max(0, count - 1)
    place = .list
    settle()
  }

  /// The message has so many lines in this width. The one that was at the top stays there, as far as it can.
  mutating func open(lineCount: Int) {
    if place != .reading { line = 0 }
    (self.lineCount, place) = (lineCount, .reading)
    settle()
  }

  mutating func close() { place = .list }

  private mutating func settle() {
    chosen = max(0, min(chosen, count - 1))
    top = max(0, min(top, count - 1))
    if chosen < top { top = chosen }
    if chosen >= top + room { top = chosen - room + 1 }
    line = max(0, min(line, lineCount - room))
  }

  // MARK: Keys

  mutating func take(_ key: BrowseKey) -> Action {
    notice = nil
    if key == .suspend { return .suspend }
    if key == .redraw { return .nothing }
    switch place {
    case .list: return takeInList(key)
    case .searching: return takeInSearch(key)
    case .reading: return takeInText(key)
    case .removing: return takeInQuestion(key)
    case .help:
      if key == .interrupt { return .quit }
      place = former
      return .nothing
    }
  }

  private mutating func takeInList(_ key: BrowseKey) -> Action {
    switch key {
    case .interrupt, .character("q"): return .quit
    case .escape, .backspace:
      // Back to all messages first.
      return query.isEmpty ? (key == .escape ? .quit : .nothing) : .search("")
    case .enter, .character("l"): return count > 0 ? .read(chosen) : .nothing
    case .character("/"): (typed, place) = ("", .searching)
    case .character("?"): (former, place) = (.list, .help)
    case .character("e"): return count > 0 ? .edit(chosen) : .nothing
    case .character("d"): if count > 0 { (former, place) = (.list, .removing) }
    default: chosen = moved(chosen, key, last: count - 1) ?? chosen
    }
    settle()
    return .nothing
  }

  private mutating func takeInText(_ key: BrowseKey) -> Action {
    switch key {
    case .interrupt: return .quit
    case .escape, .backspace, .character("q"), .character("h"): place = .list
    case .character("?"): (former, place) = (.reading, .help)
    case .character("e"): return .edit(chosen)
    case .character("d"): (former, place) = (.reading, .removing)
    case .character("n"), .character("p"):
      let next = chosen + (key == .character("n") ? 1 : -1)
      guard 0..<count ~= next else { return .nothing }
      (chosen, line, place) = (next, 0, .list)
      settle()
      return .read(chosen)
    case .character(" "): line = moved(line, .pageDown, last: lineCount - room) ?? line
    case .enter: line += 1
    default: line = moved(line, key, last: lineCount - room) ?? line
    }
    settle()
    return .nothing
  }

  /// Where a key that moves leads; nil for any other.
  private func moved(_ from: Int, _ key: BrowseKey, last: Int) -> Int? {
    let to: Int
    switch key {
    case .up, .character("k"): to = from - 1
    case .down, .character("j"): to = from + 1
    case .pageUp, .character("b"): to = from - max(1, room - 1)
    case .pageDown, .character(" "), .character("f"): to = from + max(1, room - 1)
    case .home, .character("g"): to = 0
    case .end, .character("G"): to = last
    default: return nil
    }
    return max(0, min(to, last))
  }

  private mutating func takeInSearch(_ key: BrowseKey) -> Action {
    switch key {
    case .escape, .interrupt: place = .list
    case .enter:
      place = .list
      return .search(typed)
    case .backspace: if typed.isEmpty { place = .list } else { typed.removeLast() }
    case .clear: typed = ""
    case .character(let character): if typed.utf8.count < Self.queryByteCountLimit { typed.append(character) }
    default: break
    }
    return .nothing
  }

  private static let queryByteCountLimit = 500

  private mutating func takeInQuestion(_ key: BrowseKey) -> Action {
    place = former
    return key == .character("y") || key == .character("Y") ? .remove(chosen) : .nothing
  }
}
