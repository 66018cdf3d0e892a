// SPDX-License-Identifier: Apache-2.0
//
// A disk of 3 MiB: a tmpfs in a namespace that a process holds open, so that no test needs to be root and
// nothing stays mounted. Commands run inside the namespace; the tests look in through /proc.

import Foundation
import Glibc
import Testing

final class SmallDisk {
  static let byteCount = 3 << 20
  /// Whether this machine lets us mount something.
  static let isPossible = (try? CofferFixture()).flatMap { try? SmallDisk(in: $0) } != nil
  static let absence: Comment = "no right to mount a disk in a namespace of its own (unshare)"

  private let holder = Process()
  /// Its end makes the holder end.
  private let leash = Pipe()
  /// Where the disk is for those inside.
  let point: String
  /// Where it is for the tests.
  let path: String
  /// Runs a program inside.
  var prefix: [String] {
    ["/usr/bin/nsenter", "-t", "\(holder.processIdentifier)", "-U", "-m", "--preserve-credentials"]
  }

  /// - Returns: nil where namespaces are not allowed.
  init?(in fixture: CofferFixture) throws {
    point = fixture.folder + "/disk"
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

  var freeByteCount: Int {
    var status = statvfs()
    guard statvfs(path, &status) == 0 else { return .max }
    return Int(status.f_bavail) * Int(status.f_frsize)
  }

  /// Leaves only so many bytes free, by a file of zeros.
  func fill(leaving left: Int) throws {
    let filler = open(path + "/filler", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(filler) }
    let size = freeByteCount - left
    if size > 0 { _ = posix_fallocate(filler, 0, size) }
  }

  func empty() { unlink(path + "/filler") }
}
