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
  /// The object that somebody else writes first, and leaves any part of it.
  private let strange: String?
  private let request: (FolderRemote, _ home: String) throws -> Void

  private init(
    _ operation: String, before: Objects, after: Objects, attempts: Int = 1, strange: String? = nil,
    _ request: @escaping (FolderRemote, _ home: String) throws -> Void
  ) {
    self.operation = operation
    self.before = before
    self.after = after
    self.attempts = attempts
    self.strange = strange
    self.request = request
  }

  /// The object that requests are about.
  private static let name = "account/pack/device/0a/hash"
  /// One in a folder that is there before.
  private static let other = "account/control/1-hash"

  /// Every request that changes something.
  static var all: [RemoteOperation] {
    let kept: Objects = ["account/control/0-hash": bytes(1)]
    let old = kept.merging([name: bytes(2)]) { $1 }
    let new = kept.merging([name: bytes(3)]) { $1 }
    let put = { (remote: FolderRemote, _: String) in try remote.put(name, bytes(3)) }
    let delete = { (remote: FolderRemote, _: String) in try remote.delete(name) }
    return [
      RemoteOperation("put, in new folders", before: kept, after: new, put),
      RemoteOperation("put, over another object", before: old, after: new, put),
      RemoteOperation("put, over the same object", before: new, after: new, put),
      RemoteOperation("put, made again", before: kept, after: new, attempts: 2, put),
      RemoteOperation("put, over a stranger's file", before: old, after: new, strange: name) {
        remote, home in
        try write(bytes(3), to: home + "/" + name)
        try put(remote, home)
      },
      RemoteOperation(
        "put, over a stranger's new file", before: kept, after: kept.merging([other: bytes(3)]) { $1 },
        strange: other
      ) { remote, home in
        try write(bytes(3), to: home + "/" + other)
        try remote.put(other, bytes(3))
      },
      RemoteOperation("put, where folders were replaced", before: kept, after: new) { remote, home in
        try put(remote, home)
        try remove(name, from: home)
        try put(remote, home)
      },
      RemoteOperation("delete", before: old, after: kept, delete),
      RemoteOperation("delete, made again", before: old, after: kept, attempts: 2, delete),
    ]
  }

  /// Writes a file in place, as a synchroniser may, and leaves it to the system when that is on the disk.
  private static func write(_ bytes: [UInt8], to path: String) throws {
    let file = Glibc.open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    guard file >= 0 else { throw DiskError("open", errno) }
    defer { Glibc.close(file) }
    guard Glibc.write(file, bytes, bytes.count) == bytes.count else { throw DiskError("write", errno) }
  }

  /// Removes an object, and each folder that holds nothing then.
  private static func remove(_ name: String, from home: String) throws {
    guard unlink(home + "/" + name) == 0 else { throw DiskError("unlink", errno) }
    var parts = name.split(separator: "/").dropLast()
    while !parts.isEmpty, rmdir(home + "/" + parts.joined(separator: "/")) == 0 { parts.removeLast() }
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
      if (try? request(Self.remote(home), home)) != nil { return }
    }
    try request(Self.remote(home), home)
  }

  func judge(_ home: String) throws -> CrashVerdict {
    var found = try Self.objects(home)
    // A part of a stranger's file is not ours to answer for, until we have said that the object is there.
    if let strange, found != after { found[strange] = before[strange] }
    guard found == before || found == after else {
      throw CrashFinding.mixed("objects are neither as before nor as after: \(found.keys.sorted())")
    }
    let others = try DiskImage(of: home).files.keys.filter { found[$0] == nil && $0 != strange }
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
    try request(Self.remote(copy), copy)
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
