// SPDX-License-Identifier: Apache-2.0
//
// A folder for one test, with the remote in it, and ways to put into it what is not ours.

import Foundation
import Glibc
import Remotes
import TemporaryHomes
import Testing

/// A remote in a temporary folder.
struct RemoteFolder {
  private let home: TemporaryHome
  /// The remote's own folder.
  let path: String
  /// Beside it.
  let outside: String
  let remote: FolderRemote

  init() throws {
    home = try TemporaryHome()
    path = home.path + "/remote"
    outside = home.path + "/outside"
    for folder in [home.path, path, outside] {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }
    remote = try #require(FolderRemote(path: path))
  }

  /// What a listing gives: names and how many bytes.
  func list(_ folder: String = "") throws -> [String: Int] {
    Dictionary(uniqueKeysWithValues: try remote.list(folder).objects.map { ($0.name, $0.byteCount) })
  }

  /// Every name below the remote's folder, with those that a list passes over.
  func names() throws -> Set<String> { Set(try FileManager.default.subpathsOfDirectory(atPath: path)) }

  func makeFolder(_ name: String) throws {
    try FileManager.default.createDirectory(
      atPath: path + "/" + name, withIntermediateDirectories: true)
  }

  func write(_ name: String, _ bytes: [UInt8]) throws {
    try makeFolder((name as NSString).deletingLastPathComponent)
    try Data(bytes).write(to: URL(filePath: path + "/" + name))
  }

  func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(atPath: path + "/" + name, withDestinationPath: target)
  }

  /// Sets when a file was last written.
  func date(_ name: String, secondsAgo: Int) throws {
    let date = Date(timeIntervalSinceNow: -Double(secondsAgo))
    try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path + "/" + name)
  }

  /// What the system has about a name; of a link, about the link.
  func status(_ name: String) throws -> stat {
    var status = stat()
    try #require(lstat(path + "/" + name, &status) == 0)
    return status
  }

  func mode(_ name: String) throws -> UInt32 { try status(name).st_mode & 0o777 }
}

/// A user who is not root.
enum OrdinaryUser {
  static let id: uid_t = geteuid() == 0 ? 65_534 : geteuid()

  /// Runs `body` with this user's rights to files. Of root's rights to them nothing is left meanwhile, in this thread.
  static func run<Result>(_ body: () throws -> Result) throws -> Result {
    guard geteuid() == 0 else { return try body() }
    // The header that declares it is not in the module.
    let symbol = try #require(dlsym(nil, "setfsuid"))
    let set = unsafeBitCast(symbol, to: (@convention(c) (uid_t) -> Int32).self)
    _ = set(id)
    defer { _ = set(0) }
    return try body()
  }
}
