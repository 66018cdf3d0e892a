// SPDX-License-Identifier: Apache-2.0
//
// Session keys as text: the number of the cipher, a colon, the key in hexadecimal digits. The text lies in
// memory for secrets too.

internal import OpenPGP
internal import Secrets

/// Reads and writes session keys.
enum SessionKeyText {
  /// - Throws: 41 when it is no session key.
  static func read(_ designator: String) throws(Failure) -> SessionKey {
    let text = try InputDesignator(designator).readSecret(byteCountLimit: byteCountLimit)
    guard let key = text.withBytes({ parse($0) }) else {
      throw Failure(
        .badData, "a session key is not like 9:0123…",
        hint: "the number of its cipher, a colon, hexadecimal digits")
    }
    return key
  }

  /// Prepares `output` with the text.
  static func write(_ key: SessionKey, to output: OutputDesignator) throws(Failure) {
    let head = Array("\(key.cipher?.rawValue ?? 0):".utf8)
    let digits = Array("0123456789ABCDEF".utf8)
    let text = SecretBytes(byteCount: head.count + key.bytes.count * 2) { output in
      for (offset, character) in head.enumerated() {
        output.storeBytes(of: character, toByteOffset: offset, as: UInt8.self)
      }
      key.bytes.withBytes { bytes in
        for offset in 0..<bytes.byteCount {
          let byte = unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
          let place = head.count + offset * 2
          output.storeBytes(of: digits[Int(byte >> 4)], toByteOffset: place, as: UInt8.self)
          output.storeBytes(of: digits[Int(byte & 15)], toByteOffset: place + 1, as: UInt8.self)
        }
      }
    }
    try text.withBytes { (text) throws(Failure) in try output.prepare(text) }
  }

  private static func parse(_ text: RawSpan) -> SessionKey? {
    let end = PasswordText.byteCountWithoutTrailingSpace(text)
    var number = 0
    var offset = 0
    while offset < min(end, 3), let digit = value(text, offset), digit < 10 {
      number = number * 10 + digit
      offset += 1
    }
    guard offset > 0, offset < end,
      unsafe text.unsafeLoad(fromByteOffset: offset, as: UInt8.self) == UInt8(ascii: ":"),
      let rawValue = UInt8(exactly: number)
    else { return nil }
    let start = offset + 1
    let cipher = SymmetricAlgorithm(rawValue: rawValue)
    guard let count = cipher.keyByteCount, end - start == count * 2 else { return nil }
    var bytes = SecretBytes(zeroed: count)
    for index in 0..<count {
      guard let high = value(text, start + index * 2), let low = value(text, start + index * 2 + 1) else {
        return nil
      }
      bytes.withMutableBytes {
        $0.storeBytes(of: UInt8(high << 4 | low), toByteOffset: index, as: UInt8.self)
      }
    }
    return SessionKey(cipher: cipher, bytes: SharedSecretBytes(bytes))
  }

  /// The value of a hexadecimal digit.
  private static func value(_ text: RawSpan, _ offset: Int) -> Int? {
    let character = unsafe text.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    switch character {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): return Int(character - UInt8(ascii: "0"))
    case UInt8(ascii: "A")...UInt8(ascii: "F"): return Int(character - UInt8(ascii: "A")) + 10
    case UInt8(ascii: "a")...UInt8(ascii: "f"): return Int(character - UInt8(ascii: "a")) + 10
    default: return nil
    }
  }

  /// The longest key has 32 octets.
  private static let byteCountLimit = 256
}
