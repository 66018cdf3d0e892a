// SPDX-License-Identifier: Apache-2.0
//
// A history's requests, as the remote takes them: names below the account's folder.

internal import Histories
internal import Primitives
internal import Remotes

/// Answers a history's requests from a remote.
struct RemoteRequests: Sendable {
  let remote: any Remote
  private let prefix: String
  /// Whether nothing may be written: what is put is only said to be there.
  let isReadOnly: Bool
  /// Bytes that an object is read to: no object of ours is longer, and one that is has another hash than its name.
  static let answerByteCountLimit = Pack.byteCountLimit + 1
  private(set) var lastError: RemoteError?
  private(set) var count = 0
  private(set) var byteCount = 0

  init(_ remote: any Remote, account: AccountID, isReadOnly: Bool = false) {
    self.remote = remote
    self.isReadOnly = isReadOnly
    prefix = Hexadecimal.text(account.bytes) + "/"
  }

  /// Carries out a request and waits for its answer.
  mutating func answer(_ request: Request) -> Answer { note(carryOut(request), of: request) }

  /// Counts an answer.
  mutating func note(_ result: Result<Answer, RemoteError>, of request: Request) -> Answer {
    count += 1
    switch result {
    case .success(let answer):
      if case .put(_, let bytes) = request { byteCount += bytes.count }
      if case .got(let object) = answer { byteCount += object.bytes.count }
      return answer
    case .failure(let error):
      lastError = error
      return .failed
    }
  }

  /// Carries out a request, on any thread, and counts nothing.
  func carryOut(_ request: Request) -> Result<Answer, RemoteError> {
    Result { () throws(RemoteError) in try ask(request) }
  }

  private func ask(_ request: Request) throws(RemoteError) -> Answer {
    switch request {
    case .list(let folder):
      let prefixCount = prefix.utf8.count
      var objects: [ListedObject] = []
      let time = try remote.list(prefix + folder.path) { object in
        if let name = ObjectName(path: String(object.name.dropFirst(prefixCount))) {
          objects.append(ListedObject(name: name, byteCount: object.byteCount, date: object.date))
        }
      }
      return .listed(objects, at: time)
    case .get(let name):
      return try remote.get(prefix + name.path, range: 0..<Self.answerByteCountLimit).map {
        .got(ReceivedObject($0))
      }
        ?? .missing
    case .put(let name, let bytes):
      if !isReadOnly { try remote.put(prefix + name.path, bytes) }
      return .done
    case .stat(let name):
      return try remote.stat(prefix + name.path).map { .found(byteCount: $0) } ?? .missing
    case .delete(let name):
      if !isReadOnly { try remote.delete(prefix + name.path) }
      return .done
    }
  }
}

/// The accounts that are at a place, by their folders.
struct AccountsThere {
  /// Those that a run has sent something of.
  private(set) var made: Set<AccountID> = []
  /// These, and those that have anything there: a slot is the first object of an account.
  private(set) var begun: Set<AccountID> = []

  init(at remote: any Remote) throws(RemoteError) {
    var (made, begun): (Set<AccountID>, Set<AccountID>) = ([], [])
    try remote.list("") { object in
      guard
        let account = object.name.split(separator: "/").first.flatMap({ Hexadecimal.bytes($0.utf8) }).flatMap(
          { AccountID($0) })
      else { return }
      begun.insert(account)
      if object.name.dropFirst(2 * AccountID.byteCount).hasPrefix("/control/") { made.insert(account) }
    }
    (self.made, self.begun) = (made, begun)
  }
}
