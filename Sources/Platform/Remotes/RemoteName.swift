// SPDX-License-Identifier: Apache-2.0
//
// The names of objects. They have only what every engine can keep apart: a folder on a stick does not tell upper case
// from lower case, and no part can be "." or "..".

/// The name of an object on a remote: one to six parts with a slash between them. A part has 1 to 128 of the characters
/// a to z, 0 to 9 and hyphen.
public struct RemoteName: Hashable, Sendable {
  /// Parts in a name, at most.
  public static let partCountLimit = 6
  /// Bytes in a part, at most. A number and a hash take 81; file systems that encrypt names allow 143.
  public static let partByteCountLimit = 128

  /// At least one.
  public let parts: [String]

  /// Reads a name; nil for anything else.
  public init?(_ text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard parts.count <= Self.partCountLimit, parts.allSatisfy({ Self.isPart($0) }) else { return nil }
    self.parts = parts.map { String(Substring($0)) }
  }

  /// The parts of a folder, the outermost first: none for the empty text, nil for what cannot be a folder.
  public static func parts(ofFolder text: String) -> [String]? {
    if text.isEmpty { return [] }
    guard let parts = RemoteName(text)?.parts, parts.count < partCountLimit else { return nil }
    return parts
  }

  /// The parts before the last.
  var folders: ArraySlice<String> { parts.dropLast() }

  /// The last part.
  var file: String { parts[parts.count - 1] }

  /// Whether these bytes can be a part of a name.
  static func isPart(_ bytes: some Collection<UInt8>) -> Bool {
    (1...partByteCountLimit).contains(bytes.count)
      && bytes.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
          true
        default: false
        }
      }
  }
}
