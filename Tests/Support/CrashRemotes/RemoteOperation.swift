// SPDX-License-Identifier: Apache-2.0
//
// One request to a folder of objects. After a crash the objects are those before it or those after it, each whole;
// beside them at most a temporary file lies there for each attempt; and the next run can make the request again.

import CrashDisk
import Foundation
import Glibc
import Remotes

/// A request, and what a folder holds before and after it.
final class RemoteOperation: CrashScenario {
  typealias Objects = [String: [UInt8]]

  let store = "folder"
  let operation: String
  private let before: Objects
  private let after: Objects
  /// How often the request is made at most.
  private let attempts: Int
  private let request: (FolderRemote) throws -> Void

  private init(
    _ operation: String, before: Objects, after: Objects, attempts: Int = 1,
    _ request: @escaping (FolderRemote) throws -> Void
  ) {
    self.operation = operation
    self.before = before
    self.after = after
    self.attempts = attempts
    self.request = request
  }

  /// Every request that changes something.
  static var all: [RemoteOperation] {
    let name = "account/pack/device/0a/hash"
    let kept: Objects = ["account/control/0-hash": bytes(1)]
    let old = kept.merging([name: bytes(2)]) { $1 }
    let new = kept.merging([name: bytes(3)]) { $1 }
    return [
      RemoteOperation("put, in new folders", before: kept, after: new) { try $0.put(name, bytes(3)) },
      RemoteOperation("put, over another object", before: old, after: new) { try $0.put(name, bytes(3)) },
      RemoteOperation("put, over the same object", before: new, after: new) { try $0.put(name, bytes(3)) },
      RemoteOperation("put, made again", before: kept, after: new, attempts: 2) {
        try $0.put(name, bytes(3))
      },
      RemoteOperation("delete", before: old, after: kept) { try $0.delete(name) },
      RemoteOperation("delete, made again", before: old, after: kept, attempts: 2) { try $0.delete(name) },
    ]
  }

  /// More than a sector, so that half of it can be there.
  private static func bytes(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 3_000) }

  private static func remote(_ home: String) throws -> FolderRemote {
    guard let remote = FolderRemote(path: home) else { throw DiskError("the path is not absolute") }
    return remote
  }

  func prepare(_ home: String) throws {
    let remote = try Self.remote(home)
    for (name, bytes) in before { try remote.put(name, bytes) }
  }

  func operate(_ home: String) throws {
    for _ in 1..<attempts {
      // Each attempt is that of another process, which remembers nothing.
      if (try? request(Self.remote(home))) != nil { return }
    }
    try request(Self.remote(home))
  }

  func judge(_ home: String) throws -> CrashVerdict {
    let found = try Self.objects(home)
    guard found == before || found == after else {
      throw CrashFinding.mixed("objects are neither as before nor as after: \(found.keys.sorted())")
    }
    let others = try DiskImage(of: home).files.keys.filter { found[$0] == nil }
    let isTemporary = others.allSatisfy { name in
      let last = name.split(separator: "/").last ?? ""
      return last.hasPrefix(".coffer-") && last.hasSuffix(".part")
    }
    guard isTemporary, others.count <= attempts else {
      throw CrashFinding.mixed("something lies there: \(others)")
    }
    try checkNextRun(home)
    return found == after ? .after : .before
  }

  private static func objects(_ home: String) throws -> Objects {
    let remote = try remote(home)
    var objects: Objects = [:]
    for object in try remote.list("").objects {
      let bytes = try remote.get(object.name)
      guard let bytes, bytes.count == object.byteCount else { throw CrashFinding.lost(object.name) }
      objects[object.name] = bytes
    }
    return objects
  }

  /// Makes the request in a copy that is not watched.
  private func checkNextRun(_ home: String) throws {
    let copy = RecordedDisk.parent + "/coffer-copy-\(UUID().uuidString)"
    guard mkdir(copy, 0o700) == 0 else { throw DiskError("mkdir", errno) }
    defer { try? FileManager.default.removeItem(atPath: copy) }
    try DiskImage(of: home).write(to: copy)
    try request(Self.remote(copy))
    guard try Self.objects(copy) == after else {
      throw CrashFinding.lost("the next run does not put it right")
    }
  }
}

/// Makes a folder and an object in it, and forgets to flush the folder that has the new folder's name.
final class UnflushedFolders: CrashScenario {
  let store = "guilty"
  let operation = "name of a new folder not flushed"

  func prepare(_ home: String) throws {}

  func operate(_ home: String) throws {
    let root = Glibc.open(home, O_RDONLY | O_DIRECTORY)
    guard mkdirat(root, "slots", 0o700) == 0 || errno == EEXIST else { throw DiskError("mkdirat", errno) }
    let folder = openat(root, "slots", O_RDONLY | O_DIRECTORY)
    let file = openat(folder, "new", O_WRONLY | O_CREAT, 0o600)
    defer { for descriptor in [root, folder, file] { Glibc.close(descriptor) } }
    guard write(file, "object", 6) == 6, fsync(file) == 0, renameat(folder, "new", folder, "hash") == 0,
      fsync(folder) == 0
    else { throw DiskError("write", errno) }
  }

  func judge(_ home: String) throws -> CrashVerdict {
    try DiskImage(of: home).files["slots/hash"] == Array("object".utf8) ? .after : .before
  }
}
