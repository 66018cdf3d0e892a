// SPDX-License-Identifier: Apache-2.0

import Remotes
import Synchronization
import Testing

/// A folder that does one thing wrong, or counts requests.
private final class OddRemote: Remote {
  enum Oddity: Equatable, Sendable {
    case none, tornReads, wrongParts, oldReads, keepsDeleted, refusesDeleting
    /// So many lists are as before.
    case lateLists(Int)
    /// From the request of this number on, every request throws.
    case fails(at: Int, RemoteError)
  }

  let folder: RemoteFolder
  let oddity: Oddity
  private let state = Mutex((requestCount: 0, listCount: 0, first: [String: [UInt8]]()))

  init(_ folder: RemoteFolder, _ oddity: Oddity = .none) { (self.folder, self.oddity) = (folder, oddity) }

  var requestCount: Int { state.withLock { $0.requestCount } }

  private func count() throws(RemoteError) {
    let number = state.withLock { state in
      state.requestCount += 1
      return state.requestCount
    }
    if case .fails(let first, let error) = oddity, number >= first { throw error }
  }

  func list(_ name: String, _ body: (RemoteObject) -> Void) throws(RemoteError) -> UInt64? {
    try count()
    let number = state.withLock { state in
      state.listCount += 1
      return state.listCount
    }
    if case .lateLists(let late) = oddity, number <= late { return 1_000 }
    try folder.remote.list(name, body)
    return 1_000
  }

  func get(_ name: String, range: Range<Int>?) throws(RemoteError) -> [UInt8]? {
    try count()
    let bytes = try folder.remote.get(name, range: range)
    switch oddity {
    case .tornReads where range == nil: return bytes.map { Array($0.dropLast()) }
    case .wrongParts where range != nil: return try folder.remote.get(name, range: 0..<(range ?? 0..<0).count)
    case .oldReads where range == nil: return bytes == nil ? nil : state.withLock { $0.first[name] }
    default: return bytes
    }
  }

  func put(_ name: String, _ bytes: [UInt8]) throws(RemoteError) {
    try count()
    state.withLock { state in if state.first[name] == nil { state.first[name] = bytes } }
    try folder.remote.put(name, bytes)
  }

  func stat(_ name: String) throws(RemoteError) -> Int? {
    try count()
    return try folder.remote.stat(name)
  }

  func delete(_ name: String) throws(RemoteError) {
    try count()
    switch oddity {
    case .keepsDeleted: return
    case .refusesDeleting: throw .refused(.permission)
    default: try folder.remote.delete(name)
    }
  }
}

@Suite("A check of a place")
struct RemoteCheckTests {
  let folder: RemoteFolder

  init() throws { folder = try RemoteFolder() }

  private func check(_ remote: any Remote) throws -> RemoteCheck {
    try #require(try RemoteCheck.run(on: remote, now: { 990 }, pause: { _ in }))
  }

  @Test("A folder passes, and nothing is left in it")
  func folders() throws {
    let check = try check(folder.remote)
    #expect(check.faults.isEmpty && check.mayDelete && check.leftByteCount == 0)
    #expect(check.listDelay == .zero && check.clockLead == nil)
    #expect(check.bytesPerSecondUp > 0 && check.bytesPerSecondDown > 0 && check.answerTime > .zero)
    #expect(try folder.list() == [:])
  }

  @Test("The clock of the place is compared with this machine's")
  func clock() throws { #expect(try check(OddRemote(folder)).clockLead == 10) }

  @Test(
    "What a place does wrong is told, and what can be deleted is",
    arguments: [
      (OddRemote.Oddity.tornReads, RemoteCheck.Fault.reading), (.wrongParts, .ranges),
      (.oldReads, .overwriting),
      (.keepsDeleted, .deleting),
    ])
  private func faults(oddity: OddRemote.Oddity, fault: RemoteCheck.Fault) throws {
    #expect(try check(OddRemote(folder, oddity)).faults.contains(fault))
    if oddity != .keepsDeleted { #expect(try folder.list() == [:]) }
  }

  @Test("Lists that are late are waited for, ten seconds at most, and are no fault")
  func lateLists() throws {
    var waited = Duration.zero
    func check(_ late: Int) throws -> RemoteCheck {
      waited = .zero
      return try #require(
        try RemoteCheck.run(on: OddRemote(folder, .lateLists(late)), now: { 0 }, pause: { waited += $0 }))
    }
    let once = try check(3)
    #expect(once.faults.isEmpty && once.listDelay == waited && waited == .milliseconds(700))
    let never = try check(.max)
    #expect(never.faults.isEmpty && never.listDelay == nil)
    #expect(waited >= RemoteCheck.listLimit && waited < RemoteCheck.listLimit + .seconds(2))
  }

  @Test("Where nothing may be deleted, it says what stays, and the large object stays once")
  func noDeleting() throws {
    let remote = OddRemote(folder, .refusesDeleting)
    for count in 1...2 {
      let check = try check(remote)
      #expect(!check.mayDelete && check.faults.isEmpty && check.leftByteCount == 1_700 + 1 << 20)
      let left = try folder.list("check")
      #expect(left.count == count + 1 && left["check/large"] == 1 << 20)
    }
  }

  @Test("Stopped after any request, it leaves nothing")
  func stopped() throws {
    for limit in 0... {
      var count = 0
      let check = try RemoteCheck.run(
        on: folder.remote, now: { 0 }, pause: { _ in },
        goesOn: {
          count += 1
          return count <= limit
        })
      #expect(try folder.list() == [:])
      if check != nil {
        #expect(limit > 5)
        break
      }
    }
  }

  @Test("An error of the place at any request is told", arguments: [RemoteError.full, .serviceUnreachable])
  func errors(error: RemoteError) throws {
    let whole = OddRemote(folder)
    _ = try check(whole)
    #expect(whole.requestCount > 10)
    for number in 1...whole.requestCount {
      #expect(throws: error) { try check(OddRemote(folder, .fails(at: number, error))) }
    }
  }
}
