// SPDX-License-Identifier: Apache-2.0
//
// Files and directories as one archive: POSIX tar, "ustar" with extended headers where a name or a length does not fit
// (IEEE Std 1003.1-2017, pax). The same files give the same octets: sorted, owner 0, whole seconds, two modes. Links
// are stored and never followed. What is neither a file, a directory nor a link is left out and named.

internal import Glibc
public import OpenPGP
internal import Primitives
internal import Secrets

/// An archive that is made as it is read.
public final class TarSource: ByteSource {
  /// One entry.
  struct Entry {
    enum Kind { case file, directory, link(target: [UInt8]) }
    /// Where it is.
    let path: [UInt8]
    /// What it is called in the archive, with slashes.
    let name: [UInt8]
    let kind: Kind
    let byteCount: Int
    let isExecutable: Bool
    /// Seconds since 1970.
    let time: Int
  }

  /// How many files there are, without directories and links.
  public let fileCount: Int
  /// Octets of the whole archive.
  public let byteCount: Int
  /// What was left out, as names in the archive.
  public let leftOut: [String]

  private let entries: [Entry]
  private var nextEntry = 0
  /// Headers and padding that are lent next.
  private var buffer: [UInt8] = []
  private var offset = 0
  private var descriptor: Int32 = -1
  /// Reads the content of the present file into memory for secrets.
  private var file: FileDescriptorSource?
  private var fileLeft = 0
  private var paddingCount = 0
  private var isAtEnd = false

  /// Looks at everything that goes into the archive, and reads no file.
  /// - Parameter paths: files and directories; each is called by the last part of its path.
  /// - Throws: `OpenPGPError.inputOutput`, with ENOTUNIQ when two would have one name.
  public init(paths: [String]) throws(OpenPGPError) {
    var walk = TarWalk()
    for path in paths { try walk.add(path) }
    entries = walk.entries.sorted { $0.name.lexicographicallyPrecedes($1.name) }
    leftOut = walk.leftOut.sorted()
    fileCount = entries.count { if case .file = $0.kind { true } else { false } }
    byteCount =
      entries.reduce(2 * TarHeader.blockByteCount) { sum, entry in
        sum + TarHeader.blocks(of: entry).count + TarHeader.padded(entry.byteCount)
      }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// See `ByteSource`.
  public func withNext<R: ~Copyable>(_ body: (RawSpan) throws(OpenPGPError) -> R) throws(OpenPGPError) -> R {
    while offset == buffer.count && fileLeft == 0 && !isAtEnd { try advance() }
    guard offset == buffer.count, fileLeft > 0, let file else {
      let bytes = buffer
      return try body(bytes.rawSpan.extracting(offset..<bytes.count))
    }
    return try file.withNext { (next) throws(OpenPGPError) -> R in
      // Its header says how long it was.
      guard !next.isEmpty else { throw .inputChanged }
      return try body(next.extracting(0..<min(next.byteCount, fileLeft)))
    }
  }

  /// See `ByteSource`.
  public func consume(_ count: Int) {
    if offset < buffer.count || count == 0 {
      precondition(count <= buffer.count - offset, "more was consumed than lent")
      offset += count
    } else {
      precondition(count <= fileLeft, "more was consumed than lent")
      file?.consume(count)
      fileLeft -= count
    }
  }

  private func advance() throws(OpenPGPError) {
    buffer.removeAll(keepingCapacity: true)
    offset = 0
    if descriptor >= 0 {
      close(descriptor)
      descriptor = -1
      file = nil
      buffer = [UInt8](repeating: 0, count: paddingCount)
      if !buffer.isEmpty { return }
    }
    guard nextEntry < entries.count else {
      buffer = [UInt8](repeating: 0, count: 2 * TarHeader.blockByteCount)
      isAtEnd = true
      return
    }
    let entry = entries[nextEntry]
    nextEntry += 1
    if case .file = entry.kind { try begin(entry) }
    buffer = TarHeader.blocks(of: entry)
  }

  private func begin(_ entry: Entry) throws(OpenPGPError) {
    descriptor = unsafe TarWalk.withPath(entry.path) { unsafe open($0, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) }
    guard descriptor >= 0 else { throw .inputOutput(errno: errno) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw .inputOutput(errno: errno) }
    guard Int(status.st_size) == entry.byteCount else { throw .inputChanged }
    file = FileDescriptorSource(descriptor: descriptor)
    fileLeft = entry.byteCount
    paddingCount = TarHeader.padded(entry.byteCount) - entry.byteCount
  }
}

/// Finds what goes into an archive.
private struct TarWalk {
  var entries: [TarSource.Entry] = []
  var leftOut: [String] = []
  private var roots: Set<[UInt8]> = []

  mutating func add(_ path: String) throws(OpenPGPError) {
    var bytes = Array(path.utf8)
    while bytes.count > 1, bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
    let name = Array(bytes.split(separator: UInt8(ascii: "/")).last ?? [])
    guard !name.isEmpty, name != Array(".".utf8), name != Array("..".utf8) else {
      throw .inputOutput(errno: EINVAL)
    }
    guard roots.insert(name).inserted else { throw .inputOutput(errno: ENOTUNIQ) }
    try add(bytes, name, depth: 0)
  }

  private mutating func add(_ path: [UInt8], _ name: [UInt8], depth: Int) throws(OpenPGPError) {
    guard depth <= Self.depthLimit else { throw .inputOutput(errno: ELOOP) }
    var status = stat()
    // A link that the user names means what it leads to; links inside are kept as links.
    let code = unsafe Self.withPath(path) { unsafe depth == 0 ? stat($0, &status) : lstat($0, &status) }
    guard code == 0 else { throw .inputOutput(errno: errno) }
    let kind: TarSource.Entry.Kind
    switch status.st_mode & S_IFMT {
    case S_IFREG: kind = .file
    case S_IFDIR: kind = .directory
    case S_IFLNK: kind = .link(target: try Self.target(of: path))
    default:
      leftOut.append(String(decoding: name, as: UTF8.self))
      return
    }
    let isFile = if case .file = kind { true } else { false }
    entries.append(
      TarSource.Entry(
        path: path, name: name, kind: kind, byteCount: isFile ? Int(status.st_size) : 0,
        isExecutable: isFile && status.st_mode & S_IXUSR != 0, time: max(0, status.st_mtim.tv_sec)))
    guard case .directory = kind else { return }
    for child in try Self.children(of: path) {
      try add(
        path + [UInt8(ascii: "/")] + child, name + [UInt8(ascii: "/")] + child, depth: depth + 1)
    }
  }

  private static func children(of path: [UInt8]) throws(OpenPGPError) -> [[UInt8]] {
    guard let folder = unsafe withPath(path, { unsafe opendir($0) }) else { throw .inputOutput(errno: errno) }
    defer { unsafe _ = closedir(folder) }
    var names: [[UInt8]] = []
    while let entry = unsafe readdir(folder) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        unsafe Array(bytes.prefix { $0 != 0 })
      }
      if name == Array(".".utf8) || name == Array("..".utf8) { continue }
      names.append(name)
    }
    return names
  }

  private static func target(of path: [UInt8]) throws(OpenPGPError) -> [UInt8] {
    var target = [CChar](repeating: 0, count: Int(PATH_MAX))
    let room = target.count
    let count = unsafe withPath(path) { path in unsafe readlink(path, &target, room) }
    guard count > 0 else { throw .inputOutput(errno: errno) }
    return target.prefix(count).map { UInt8(bitPattern: $0) }
  }

  static func withPath<R>(_ path: [UInt8], _ body: (UnsafePointer<CChar>) -> R) -> R {
    let text = path.map { CChar(bitPattern: $0) } + [0]
    return unsafe text.withUnsafeBufferPointer { text in
      // It has the zero at least.
      unsafe body(text.baseAddress.unsafelyUnwrapped)
    }
  }

  /// More would not be unpacked again by us.
  private static let depthLimit = 32
}
