// SPDX-License-Identifier: Apache-2.0
//
// The memory of another process, as the kernel shows it: every region that it may read, stacks and locked
// pages too (proc(5), smaps). Left out is what the process cannot have put anything into: code and constants
// of programs and libraries, of which it has no page of its own.

import Glibc

/// A region of a process's memory.
public struct MemoryRegion: Sendable {
  public let range: Range<UInt>
  /// A file, `[heap]`, `[stack]`, or "anonymous memory".
  public let name: String
  /// Locked against swapping, and left out of core dumps: pages for secrets.
  public let isForSecrets: Bool
  /// Belongs to the process alone, and is no part of a file.
  private let isPrivateAnonymous: Bool

  /// The kernel does not show this memory.
  public struct Unreadable: Error {
    public init() {}
  }

  /// What of it may hold anything but zeros.
  public func parts(_ pages: PageMap) -> [Range<UInt>] {
    isPrivateAnonymous ? pages.heldParts(of: range) : [range]
  }

  /// The regions that the process itself may read, and may have written to.
  public static func all(of process: Int32) throws -> [MemoryRegion] {
    let text = try read("/proc/\(process)/smaps")
    var regions: [MemoryRegion] = []
    var head: Head?
    // Pages that are no longer those of the file: of a table that the loader filled and then closed, say.
    var ownKibibytes = 0
    for line in text.split(separator: "\n") {
      if line.hasPrefix("VmFlags:") {
        let flags = Set(line.split(separator: " ").dropFirst())
        if let head, head.isReadable, head.isWritable || !head.isFile || ownKibibytes > 0 {
          regions.append(
            MemoryRegion(
              range: head.range, name: head.name, isForSecrets: flags.isSuperset(of: ["lo", "dd", "wf"]),
              isPrivateAnonymous: head.isPrivateAnonymous))
        }
        head = nil
      } else if line.hasPrefix("Anonymous:") || line.hasPrefix("Swap:") {
        ownKibibytes += Int(line.split(separator: " ")[1]) ?? 0
      } else if let begun = Self.head(line) {
        head = begun
        ownKibibytes = 0
      }
    }
    return regions
  }

  /// All of a file that tells no size and comes in pieces.
  private static func read(_ path: String) throws -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Unreadable() }
    defer { close(descriptor) }
    var text: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = Glibc.read(descriptor, &piece, piece.count)
      guard count >= 0 else { throw Unreadable() }
      if count == 0 { return String(decoding: text, as: UTF8.self) }
      text += piece[..<count]
    }
  }

  /// The first line of a region.
  private struct Head {
    let range: Range<UInt>
    let name: String
    let isReadable: Bool
    let isWritable: Bool
    /// Whether it is part of a file that has a name.
    let isFile: Bool
    let isPrivateAnonymous: Bool
  }

  /// "7f1c00000000-7f1c00021000 rw-p 00000000 00:00 0    [heap]"; nil for the lines below one.
  private static func head(_ line: Substring) -> Head? {
    let fields = line.split(separator: " ", maxSplits: 5)
    guard fields.count >= 5 else { return nil }
    let ends = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
    guard ends.count == 2, fields[0].contains("-") else { return nil }
    let name = fields.count > 5 ? String(fields[5].drop { $0 == " " }) : "anonymous memory"
    // Pages of the kernel, which cannot be read this way and hold its clock.
    let isKernels = name.hasPrefix("[vvar") || name == "[vsyscall]"
    return Head(
      range: ends[0]..<ends[1], name: name, isReadable: fields[1].hasPrefix("r") && !isKernels,
      isWritable: fields[1].dropFirst().hasPrefix("w"),
      isFile: name.hasPrefix("/") && !name.hasSuffix("(deleted)"),
      isPrivateAnonymous: fields[1].hasSuffix("p") && !name.hasPrefix("/"))
  }
}
