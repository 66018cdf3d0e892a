// SPDX-License-Identifier: Apache-2.0
//
// One run of `coffer browse`: reads keys, asks the state what they mean, and does it. Ids alone are kept of the list; rows
// are decrypted when they come into sight and dropped when they leave it.

internal import CSystem
internal import CofferKit
internal import Glibc
internal import MessageFormats
internal import Primitives
internal import Secrets
internal import UserAuthentication
internal import Vaults

struct BrowseSession {
  private let coffer: Coffer
  private let context: CommandContext
  private var watch: BrowseWatch
  private var ids: [MessageID] = []
  private var state = BrowseState(size: .init(rows: 24, columns: 80))
  private var text = BrowseText()
  private let details = MessageDetailsReader()
  /// The rows of the list that are in sight, and where they were drawn.
  private var rows: [ShownLine] = []
  private var rowsOf: (visible: Range<Int>, columns: Int) = (0..<0, 0)
  /// Opened once in vain: opening them again and again would lock the vault.
  private var unreadable: Set<MessageID> = []

  init(_ coffer: Coffer, _ context: CommandContext, _ watch: BrowseWatch) {
    self.coffer = coffer
    self.context = context
    self.watch = watch
  }

  /// Until the user ends it.
  /// - Throws: errors of reading; `locked` when the session has ended.
  mutating func run() throws {
    try list("")
    while let id = try useScreen() {
      // An editor has the terminal for itself.
      do { try MessageEditCommand.edit(id, coffer, context) } catch let error {
        state.notice = "\(Failure(error).message)"
      }
      rowsOf = (0..<0, 0)
      if state.place == .reading { read(state.chosen) }
    }
  }

  /// Shows the screen until the user ends it, or wants to edit the message that is returned.
  private mutating func useScreen() throws -> MessageID? {
    var screen = try FullScreen(of: CommandRun.current.environment.promptTerminal)
    var keys = BrowseKeyDecoder()
    let timer = coffer_boot_timer()
    defer { if timer >= 0 { close(timer) } }
    resize(screen.size())
    try draw(screen)
    while true {
      _ = coffer_set_boot_timer(timer, coffer_boot_time() + BrowseWatch.intervalNanoseconds)
      var key: BrowseKey?
      switch try screen.next(wokenBy: timer) {
      case .byte(let byte):
        key = keys.take(byte)
        if keys.isAtEscape, !screen.hasInput(within: 50) { key = keys.flush() }
        try watch.check(afterKey: true)
      case .redraw: resize(screen.size())
      case .woken: try watch.check(afterKey: false)
      case .closed: return nil
      }
      if let key {
        switch state.take(key) {
        case .nothing: break
        case .quit: return nil
        case .suspend: screen.stop()
        case .read(let row): read(row)
        case .edit(let row): return ids[row]
        case .remove(let row): try remove(row)
        case .search(let words): try search(words, screen)
        }
      }
      // Of a key that is held down only the last is drawn.
      if !screen.hasInput() { try draw(screen) }
    }
  }

  private mutating func resize(_ size: FullScreen.Size) {
    let isNewWidth = size.columns != state.size.columns
    state.resize(size)
    guard isNewWidth, state.place == .reading else { return }
    text.wrap(columns: size.columns)
    state.open(lineCount: text.count)
  }

  // MARK: Effects

  /// What a shell would make of a search; quotation marks stay, since they make a phrase.
  private static func arguments(_ query: String) -> [String] {
    var arguments = [""]
    var isQuoted = false
    for character in query {
      if character == "\"" { isQuoted.toggle() }
      if character == " " && !isQuoted {
        arguments.append("")
      } else {
        arguments[arguments.count - 1].append(character)
      }
    }
    return arguments.filter { !$0.isEmpty }
  }

  private mutating func list(_ query: String, while isWanted: () -> Bool = { true }) throws {
    var search: SearchExpression?
    if !query.isEmpty {
      do throws(SearchSyntaxError) {
        search = try SearchExpression(Self.arguments(query), day: LocalTime.seconds(ofDay:_:_:))
      } catch {
        return state.notice = Failure(error).message
      }
    }
    var found: [MessageID] = []
    struct Ended: Error {}
    let damaged: [MessageID]
    do {
      damaged = try coffer.vault.find(
        .init(search), examined: { _ in if !isWanted() { throw Ended() } }
      ) { id, _, _ in
        found.append(id)
        return true
      }.unreadable
    } catch is Ended {
      return state.notice = "the search was ended by a key"
    }
    unreadable.formUnion(damaged)
    ids = found
    rowsOf = (0..<0, 0)
    state.show(count: ids.count, query: query)
    if !damaged.isEmpty {
      state.notice = "\(damaged.count.counted("message")) corrupted or tampered: run 'coffer doctor --deep'"
    }
  }

  private mutating func search(_ words: String, _ screen: borrowing FullScreen) throws {
    let words = words.split(separator: " ").joined(separator: " ")
    guard words != state.query || words.isEmpty else { return }
    // A key ends a search that takes long.
    var count = 0
    try list(words) {
      count += 1
      return count % 256 != 0 || !screen.hasInput()
    }
  }

  private mutating func read(_ row: Int) {
    let (id, columns) = (ids[row], state.size.columns)
    do {
      guard !unreadable.contains(id) else { throw VaultError.dataTampered(id) }
      let page = try coffer.vault.withMessage(id) { metadata, content in
        SharedSecretBytes(MessageText.page(metadata, content))
      }
      text = BrowseText(page, columns: columns)
      state.open(lineCount: text.count)
    } catch {
      note(error, id)
    }
  }

  private mutating func remove(_ row: Int) throws {
    do {
      try coffer.removeMessage(ids[row])
      ids.remove(at: row)
      rowsOf = (0..<0, 0)
      state.dropChosen()
      state.notice = "It is in the trash, for \(Vault.trashDays) days: coffer trash restore"
    } catch {
      note(error, ids[row])
    }
  }

  private mutating func note(_ error: any Error, _ id: MessageID) {
    switch error {
    case VaultError.dataTampered, VaultError.decryptionFailed: unreadable.insert(id)
    default: break
    }
    state.notice = Failure(error).message
  }

  // MARK: The screen

  private mutating func draw(_ screen: borrowing FullScreen) throws {
    var output = "\u{1B}[H"
    for (index, row) in BrowseView.rows(state, body()).enumerated() {
      output += (index > 0 ? "\r\n" : "") + "\u{1B}[2K" + row.text
    }
    let cursor = BrowseView.cursor(state)
    try screen.write(output + "\u{1B}[\(cursor.row);\(cursor.column)H")
  }

  private mutating func body() -> [ShownLine] {
    switch state.place {
    case .help: return []
    case .reading: return state.visibleLines.map { "\(text.row($0))" }
    case .list, .searching, .removing: break
    }
    if rowsOf != (state.visible, state.size.columns) {
      rows = state.visible.map { row($0) }
      rowsOf = (state.visible, state.size.columns)
    }
    return zip(state.visible, rows).map { index, row in index == state.chosen ? "> " + row : "  " + row }
  }

  private mutating func row(_ index: Int) -> ShownLine {
    let id = ids[index]
    let damaged: ShownLine = "\(MessageChoice.shown(id))  corrupted or tampered: it cannot be read"
    guard !unreadable.contains(id) else { return damaged }
    do {
      let list = MessageRows(columns: max(1, state.size.columns - 2), highestNumber: ids.count)
      return try coffer.vault.withMessage(id) { metadata, content in
        list.row(index + 1, id, metadata, details: details.details(metadata, content))
      }
    } catch {
      unreadable.insert(id)
      if case VaultError.dataTampered = error { return damaged }
      return "\(MessageChoice.shown(id))  \(Failure(error).message)"
    }
  }
}
