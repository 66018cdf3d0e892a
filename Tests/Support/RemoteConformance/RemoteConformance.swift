// SPDX-License-Identifier: Apache-2.0
//
// What every remote does, whatever is behind it: checks that take a remote and leave only objects in a folder of their
// own. A test target runs each of them on each of its remotes:
//
//   @Test("As every remote does", arguments: RemoteConformance.allCases)
//   func conformance(_ check: RemoteConformance) throws { try check.run(on: remote) }

import Remotes

/// A check for every kind of remote.
public enum RemoteConformance: String, CaseIterable, Sendable {
  case writingAndReading, listing, emptyFolders, ranges, overwriting, missing, deleting, names, foreignNames
  case emptyObject, largeObject, tooLargeObject, severalWriters, readersWhileWriting

  /// A difference between what a remote does and what every remote must do.
  public struct Difference: Error, CustomStringConvertible {
    public let description: String
  }

  /// - Parameter remote: is empty, or has objects of earlier runs.
  /// - Throws: ``Difference``; what the remote throws where it should not.
  public func run(on remote: some Remote) throws {
    let check = RemoteCheck(remote, account: "conformance-\(UInt32.random(in: 0...UInt32.max))")
    defer { check.removeAll() }
    switch self {
    case .writingAndReading: try check.writingAndReading()
    case .listing: try check.listing()
    case .emptyFolders: try check.emptyFolders()
    case .ranges: try check.ranges()
    case .overwriting: try check.overwriting()
    case .missing: try check.missing()
    case .deleting: try check.deleting()
    case .names: try check.names()
    case .foreignNames: try check.foreignNames()
    case .emptyObject: try check.emptyObject()
    case .largeObject: try check.largeObject()
    case .tooLargeObject: try check.tooLargeObject()
    case .severalWriters: try check.severalWriters()
    case .readersWhileWriting: try check.readersWhileWriting()
    }
  }
}

/// One check under way.
struct RemoteCheck<Kind: Remote> {
  let remote: Kind
  /// All names begin with it.
  let account: String

  init(_ remote: Kind, account: String) {
    self.remote = remote
    self.account = account
  }

  func name(_ rest: String) -> String { account + "/" + rest }

  /// Bytes that differ from place to place, so that a shifted range is noticed.
  static func bytes(_ count: Int, seed: UInt8 = 0) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) ^ seed }
  }

  func expect(_ isTrue: Bool, _ what: String) throws {
    guard isTrue else { throw RemoteConformance.Difference(description: what) }
  }

  /// - Parameter bytes: nil for an object that is not there.
  func expect(_ name: String, _ bytes: [UInt8]?) throws {
    let found = try remote.get(name)
    let summary = { (bytes: [UInt8]?) in bytes.map { "\($0.count) bytes \($0.prefix(16))" } ?? "nothing" }
    try expect(found == bytes, "get '\(name)': \(summary(found)) instead of \(summary(bytes))")
    try expect(try remote.stat(name) == bytes?.count, "stat '\(name)' is not \(bytes?.count ?? -1)")
  }

  func expect(_ error: RemoteError, _ what: String, _ request: () throws -> Void) throws {
    do { try request() } catch let found as RemoteError {
      return try expect(found == error, "\(what): \(found) instead of \(error)")
    }
    throw RemoteConformance.Difference(description: "\(what): no error instead of \(error)")
  }

  /// The names below a folder and how many bytes they have; each may be there once.
  func list(_ folder: String) throws -> [String: Int] {
    let objects = try remote.list(folder).objects
    let found = Dictionary(objects.map { ($0.name, $0.byteCount) }) { one, _ in one }
    try expect(found.count == objects.count, "list '\(folder)' names an object twice")
    return found
  }

  func removeAll() {
    for object in (try? remote.list(account).objects) ?? [] { try? remote.delete(object.name) }
  }
}
