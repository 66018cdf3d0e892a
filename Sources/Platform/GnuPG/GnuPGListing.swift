// SPDX-License-Identifier: Apache-2.0
//
// What gpg lists with `--with-colons` (doc/DETAILS of GnuPG). Names in it are anybody's.

/// A key as gpg lists it.
public struct GnuPGKey: Sendable, Equatable {
  /// Where the private half of a part is.
  public enum Place: Sendable, Equatable {
    /// With gpg's agent.
    case here
    /// Nowhere here, as the primary key of somebody who keeps it apart.
    case elsewhere
    /// On a card.
    case card
  }

  /// Lower-case hexadecimal, 40 or 64 digits.
  public let fingerprint: String
  /// Others chose them: make them safe before you show them.
  public let userIDs: [String]
  /// Such as "RSA 4096" or "ed25519".
  public let algorithm: String
  /// Seconds since 1970, UTC; nil for never.
  public let expires: Int64?
  /// Of the primary key and the subkeys; of a public part all are `elsewhere`.
  public let places: [Place]
}

enum GnuPGListing {
  /// More keys than any ring has that a coffer could take.
  static let keyCountLimit = 20_000

  /// The keys of a listing, in their order.
  /// - Throws: `.notUnderstood`
  static func keys(_ text: String) throws(GnuPGError) -> [GnuPGKey] {
    var keys: [GnuPGKey] = []
    var next: Record?
    for line in text.split(separator: "\n") {
      let fields = line.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
      switch fields[0] {
      case "sec", "pub":
        if let key = try next?.key() { keys.append(key) }
        guard keys.count < keyCountLimit else { throw .notUnderstood }
        next = try Record(fields)
      case "ssb": next?.places.append(place(fields))
      case "fpr": next?.take(fingerprint: fields)
      case "uid": next?.take(userID: fields)
      default: break
      }
    }
    if let key = try next?.key() { keys.append(key) }
    return keys
  }

  /// What is between a key's first line and that of the next.
  private struct Record {
    var fingerprint: String?
    var userIDs: [String] = []
    let algorithm: String
    let expires: Int64?
    var places: [GnuPGKey.Place]

    init(_ fields: [String]) throws(GnuPGError) {
      guard fields.count > 11 else { throw .notUnderstood }
      algorithm = GnuPGListing.algorithm(fields)
      expires = Int64(fields[6])
      places = [place(fields)]
    }

    /// The first one is that of the primary key.
    mutating func take(fingerprint fields: [String]) {
      guard fingerprint == nil, fields.count > 9 else { return }
      fingerprint = fields[9].lowercased()
    }

    mutating func take(userID fields: [String]) {
      guard fields.count > 9, !fields[9].isEmpty, fields[1] != "r" else { return }
      userIDs.append(GnuPGListing.unescaped(fields[9]))
    }

    func key() throws(GnuPGError) -> GnuPGKey {
      guard let fingerprint, [40, 64].contains(fingerprint.utf8.count),
        fingerprint.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
      else { throw .notUnderstood }
      return GnuPGKey(
        fingerprint: fingerprint, userIDs: userIDs, algorithm: algorithm, expires: expires, places: places)
    }
  }

  /// Field 15: `+` for the agent, `#` for nowhere, else the serial number of a card.
  private static func place(_ fields: [String]) -> GnuPGKey.Place {
    guard fields.count > 14 else { return .elsewhere }
    return switch fields[14] {
    case "+": .here
    case "#", "": .elsewhere
    default: .card
    }
  }

  private static func algorithm(_ fields: [String]) -> String {
    if fields.count > 16, !fields[16].isEmpty { return fields[16] }
    let name =
      switch fields[3] {
      case "1", "2", "3": "RSA"
      case "16": "Elgamal"
      case "17": "DSA"
      default: "algorithm \(fields[3]),"
      }
    return "\(name) \(fields[2])"
  }

  /// `\x3a` stands for a colon, and so on; gpg writes control characters as in C.
  static func unescaped(_ text: String) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\"), let kind = rest.first else {
        bytes.append(byte)
        continue
      }
      rest.removeFirst()
      switch kind {
      case UInt8(ascii: "x"):
        let digits = String(decoding: rest.prefix(2), as: UTF8.self)
        guard digits.utf8.count == 2, let value = UInt8(digits, radix: 16) else {
          bytes += [byte, kind]
          continue
        }
        rest = rest.dropFirst(2)
        bytes.append(value)
      case UInt8(ascii: "n"): bytes.append(0x0A)
      case UInt8(ascii: "r"): bytes.append(0x0D)
      case UInt8(ascii: "t"): bytes.append(0x09)
      default: bytes += [kind]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
