// SPDX-License-Identifier: Apache-2.0
//
// Reads what an archive has before anything of it is unpacked: POSIX tar ("ustar", with extended headers), and the long
// names of GNU tar. Only files and folders are taken. Everything that could reach outside of the folder to unpack to, or
// that two programs could read differently, refuses the whole archive.

internal import Glibc

/// Why an archive is not unpacked. Entries are counted from 1; their names are content, and not told.
@nonexhaustive
public enum ArchiveProblem: Error, Equatable, Sendable {
  /// It does not begin as an archive does.
  case notAnArchive
  /// It ends too early.
  case cutOff
  /// A header is wrong in itself, or something follows the end.
  case damaged(entry: Int)
  /// A symbolic or hard link.
  case link(entry: Int)
  /// A device or a pipe.
  case device(entry: Int)
  /// A kind of entry that is not read here, such as sparse files.
  case unsupported(entry: Int)
  /// An absolute name, one with `..`, empty parts, control characters or direction marks, or one that is too long.
  case unsafeName(entry: Int)
  /// A name that another entry has, perhaps in other letters, or that goes through a file.
  case duplicateName(entry: Int)
  /// More than ``TarReader/depthLimit`` folders in one another.
  case tooDeep(entry: Int)
  /// More than ``TarReader/entryCountLimit``, or names that are too long together.
  case tooManyEntries
  /// The archive cannot be read from the disk.
  case cannotRead(errno: Int32)
}

/// A file or folder of an archive.
public struct ArchiveEntry: Equatable, Sendable {
  /// The parts of its name, from the outermost folder; at least one.
  public let path: [String]
  /// Whether it is a folder.
  public let isFolder: Bool
  /// Where a file's content begins in the archive.
  public let offset: Int
  /// Octets of a file's content.
  public let byteCount: Int
}

/// Reads the headers of archives.
public struct TarReader {
  /// Files and folders of an archive.
  public static let entryCountLimit = 1_000_000
  /// Folders in one another, and the file in them.
  public static let depthLimit = 32
  /// Octets of all names, which are in memory together.
  static let nameByteCountLimit = 256 << 20
  /// Octets of an extended header, or of a long name.
  static let extensionByteCountLimit = 1 << 20

  private let descriptor: Int32
  private let byteCount: Int
  private var position = 0
  /// The number of the present entry, from 1.
  private var number = 0
  private var tree = ArchiveTree()
  /// What an extended header says about the next entry.
  private var pending = TarExtension()

  /// All entries of an archive, each folder before what is in it; none is outside of the folder to unpack to.
  /// - Parameters:
  ///   - descriptor: the archive, from its beginning; its position does not matter.
  ///   - byteCount: of the archive.
  public static func entries(
    of descriptor: Int32, byteCount: Int
  ) throws(ArchiveProblem) -> [ArchiveEntry] {
    var reader = TarReader(descriptor: descriptor, byteCount: byteCount)
    try reader.readAll()
    return reader.tree.entries
  }

  private init(descriptor: Int32, byteCount: Int) {
    self.descriptor = descriptor
    self.byteCount = byteCount
  }

  private mutating func readAll() throws(ArchiveProblem) {
    while true {
      guard position + TarHeader.blockByteCount <= byteCount else {
        throw number == 0 ? .notAnArchive : .cutOff
      }
      let block = try read(TarHeader.blockByteCount)
      if block.allSatisfy({ $0 == 0 }) { return try checkEnd() }
      number += 1
      guard let header = TarFields(block) else {
        throw number == 1 ? .notAnArchive : .damaged(entry: number)
      }
      try take(header)
    }
  }

  /// Two empty blocks are the end, and nothing but more of them follows.
  private mutating func checkEnd() throws(ArchiveProblem) {
    guard number > 0 else { throw .notAnArchive }
    guard pending.isEmpty else { throw .damaged(entry: number) }
    guard position + TarHeader.blockByteCount <= byteCount else { throw .cutOff }
    while position < byteCount {
      let rest = try read(min(byteCount - position, 1 << 16))
      guard rest.allSatisfy({ $0 == 0 }) else { throw .damaged(entry: number) }
    }
  }

  private mutating func take(_ header: TarFields) throws(ArchiveProblem) {
    switch header.type {
    case UInt8(ascii: "x"), UInt8(ascii: "g"), UInt8(ascii: "L"), UInt8(ascii: "K"):
      // An extended header and the entry that it is about count as one.
      let content = try readExtension(header)
      try pending.take(header.type, content, entry: number)
      number -= 1
    case UInt8(ascii: "0"), 0, UInt8(ascii: "7"): try takeFile(header)
    case UInt8(ascii: "5"):
      guard header.byteCount == 0 else { throw .damaged(entry: number) }
      try add(header, isFolder: true, byteCount: 0)
    case UInt8(ascii: "1"), UInt8(ascii: "2"): throw .link(entry: number)
    case UInt8(ascii: "3"), UInt8(ascii: "4"), UInt8(ascii: "6"): throw .device(entry: number)
    default: throw .unsupported(entry: number)
    }
  }

  private mutating func readExtension(_ header: TarFields) throws(ArchiveProblem) -> [UInt8] {
    guard header.byteCount <= Self.extensionByteCountLimit else { throw .damaged(entry: number) }
    guard TarHeader.padded(header.byteCount) <= byteCount - position else { throw .cutOff }
    let content = try read(header.byteCount)
    position += TarHeader.padded(header.byteCount) - header.byteCount
    return content
  }

  private mutating func takeFile(_ header: TarFields) throws(ArchiveProblem) {
    let count = pending.byteCount ?? header.byteCount
    // The first comparison keeps the padding from overflowing.
    guard count <= byteCount - position, TarHeader.padded(count) <= byteCount - position else {
      throw .cutOff
    }
    try add(header, isFolder: false, byteCount: count)
    position += TarHeader.padded(count)
  }

  private mutating func add(
    _ header: TarFields, isFolder: Bool, byteCount: Int
  ) throws(ArchiveProblem) {
    let name = pending.name ?? header.name
    // Another program may take either of these otherwise, and then read other entries than this one.
    guard !pending.hasLink else { throw .link(entry: number) }
    guard !isFolder || pending.byteCount ?? 0 == 0 else { throw .damaged(entry: number) }
    pending = TarExtension()
    guard let path = ArchiveName.parts(name, isFolder: isFolder) else { throw .unsafeName(entry: number) }
    // The folder that was packed itself.
    if path.isEmpty { return }
    guard path.count <= Self.depthLimit else { throw .tooDeep(entry: number) }
    let entry = ArchiveEntry(path: path, isFolder: isFolder, offset: position, byteCount: byteCount)
    guard tree.add(entry) else { throw .duplicateName(entry: number) }
    guard tree.entries.count <= Self.entryCountLimit, tree.nameByteCount <= Self.nameByteCountLimit else {
      throw .tooManyEntries
    }
  }

  private mutating func read(_ count: Int) throws(ArchiveProblem) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      let got = unsafe bytes.withUnsafeMutableBytes { bytes in
        unsafe pread(
          descriptor, bytes.baseAddress.unsafelyUnwrapped + done, count - done, off_t(position + done))
      }
      if got < 0, errno == EINTR { continue }
      guard got >= 0 else { throw .cannotRead(errno: errno) }
      guard got > 0 else { throw .cutOff }
      done += got
    }
    position += count
    return bytes
  }
}
