// SPDX-License-Identifier: Apache-2.0
//
// A disk of 3 MiB: a tmpfs in a namespace that a process holds open, so that no test needs to be root and
// nothing stays mounted. Commands run inside the namespace; the tests look in through /proc.

import Foundation
import Glibc
import Testing

/// A disk that is soon full.
public final class SmallDisk {
  public static let byteCount = 3 << 20
  /// Whether this machine lets us mount something.
  public static let isPossible = {
    let folder = FileManager.default.temporaryDirectory.appending(path: "small-disk-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    return (try? SmallDisk(in: folder.path)) != nil
  }()
  public static let absence: Comment = "no right to mount a disk in a namespace of its own (unshare)"

  private let holder = Process()
  /// Its end makes the holder end.
  private let leash = Pipe()
  /// Where the disk is for those inside.
  public let point: String
  /// Where it is for the tests.
  public let path: String
  /// Runs a program inside.
  public var prefix: [String] {
    ["/usr/bin/nsenter", "-t", "\(holder.processIdentifier)", "-U", "-m", "--preserve-credentials"]
  }

  /// - Parameter folder: gets the folder that it is mounted on.
  /// - Returns: nil where namespaces are not allowed.
  public init?(in folder: String) throws {
    point = folder + "/disk"
    try FileManager.default.createDirectory(atPath: point, withIntermediateDirectories: true)
    let answer = Pipe()
    holder.executableURL = URL(filePath: "/usr/bin/unshare")
    holder.arguments = [
      "-rm", "sh", "-c",
      "mount -t tmpfs -o size=\(Self.byteCount),mode=700 tmpfs \"$0\" && echo ready && exec cat",
      point,
    ]
    holder.standardInput = leash
    holder.standardOutput = answer
    holder.standardError = FileHandle.nullDevice
    guard (try? holder.run()) != nil else { return nil }
    guard answer.fileHandleForReading.availableData == Data("ready\n".utf8) else { return nil }
    path = "/proc/\(holder.processIdentifier)/root\(point)"
    guard FileManager.default.fileExists(atPath: path), freeByteCount <= Self.byteCount else { return nil }
  }

  deinit {
    try? leash.fileHandleForWriting.close()
    holder.waitUntilExit()
  }

  public var freeByteCount: Int {
    var status = statvfs()
    guard statvfs(path, &status) == 0 else { return .max }
    return Int(status.f_bavail) * Int(status.f_frsize)
  }

  /// Leaves only so many bytes free, by a file of zeros.
  public func fill(leaving left: Int) throws {
    let filler = open(path + "/filler", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(filler) }
    let size = freeByteCount - left
    if size > 0 { _ = posix_fallocate(filler, 0, size) }
  }

  public func empty() { unlink(path + "/filler") }

  /// Makes the mount one that nobody can write to: of a disk in another user's namespace nothing else can be changed.
  /// - Returns: whether that succeeded.
  public func makeReadOnly() throws -> Bool {
    let mount = Process()
    let command = prefix + ["/bin/mount", "-o", "remount,bind,ro", point]
    mount.executableURL = URL(filePath: command[0])
    mount.arguments = Array(command.dropFirst())
    try mount.run()
    mount.waitUntilExit()
    return mount.terminationStatus == 0
  }
}
