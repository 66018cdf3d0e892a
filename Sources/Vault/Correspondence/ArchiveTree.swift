// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The names of an archive's entries.
package enum ArchiveName {
  /// Octets of a part, as file systems have it.
  private static let partByteCountLimit = 255

  /// The parts of a name; none for the folder itself that was packed; nil when the name is not safe.
  static func parts(_ name: [UInt8], isFolder: Bool) -> [String]? {
    guard !name.isEmpty, name.count <= 4096, let text = String(validating: name, as: UTF8.self),
      text.unicodeScalars.allSatisfy(isHarmless)
    else { return nil }
    var parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      .map { String(Substring($0)) }
    if isFolder, parts.count > 1, parts.last == "" { parts.removeLast() }
    // `tar -c .` begins all names like this.
    if parts.first == "." { parts.removeFirst() }
    if parts.isEmpty { return isFolder ? [] : nil }
    let isSafe = parts.allSatisfy {
      !["", ".", ".."].contains($0) && $0.utf8.count <= partByteCountLimit
    }
    return isSafe ? parts : nil
  }

  /// Whether a character can neither control a terminal nor turn the order of what is read.
  private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: false
    default: !scalar.properties.isBidiControl
    }
  }

  /// The same for names that some file system takes for the same: those that fold letter case make "ss" of a sharp s, and
  /// overlook what is not shown.
  static func folded(_ path: ArraySlice<String>) -> String { folded(path.joined(separator: "/")) }

  /// The same of one name. Capitals first: some letters have several, and no small letters of these.
  package static func folded(_ name: String) -> String {
    var shown = String.UnicodeScalarView()
    shown.append(contentsOf: name.unicodeScalars.filter { !$0.properties.isDefaultIgnorableCodePoint })
    return String(shown).precomposedStringWithCanonicalMapping.uppercased().lowercased()
      .precomposedStringWithCanonicalMapping
  }
}

/// The entries of an archive, without two of one name.
struct ArchiveTree {
  private struct Node {
    let path: ArraySlice<String>
    let isFolder: Bool
    /// Whether it had an entry of its own, and was not only the folder of another one.
    var isListed: Bool
  }

  /// Each folder before what is in it.
  private(set) var entries: [ArchiveEntry] = []
  private var nodes: [String: Node] = [:]
  /// Octets of all names, with those of the folders that they are in.
  private(set) var nameByteCount = 0

  /// Adds an entry, and the folders that it is in.
  /// - Returns: false when another entry has the name, or one of the folders is a file or is spelt differently.
  mutating func add(_ entry: ArchiveEntry) -> Bool {
    for count in 1..<max(entry.path.count, 1) {
      let path = entry.path.prefix(count)
      let key = ArchiveName.folded(path)
      if let node = nodes[key] {
        guard node.isFolder, node.path.elementsEqual(path, by: Self.isSame) else { return false }
        continue
      }
      nameByteCount += key.utf8.count
      nodes[key] = Node(path: path, isFolder: true, isListed: false)
      entries.append(ArchiveEntry(path: Array(path), isFolder: true, offset: 0, byteCount: 0))
    }
    let key = ArchiveName.folded(entry.path[...])
    if let node = nodes[key] {
      guard entry.isFolder, node.isFolder, !node.isListed,
        node.path.elementsEqual(entry.path, by: Self.isSame)
      else { return false }
      nodes[key]?.isListed = true
      return true
    }
    nameByteCount += key.utf8.count
    nodes[key] = Node(path: entry.path[...], isFolder: entry.isFolder, isListed: true)
    entries.append(entry)
    return true
  }

  /// Octet by octet: two texts that are canonically equivalent are two names on a disk.
  private static func isSame(_ left: String, _ right: String) -> Bool { left.utf8.elementsEqual(right.utf8) }
}
