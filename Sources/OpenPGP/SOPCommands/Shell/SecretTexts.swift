// SPDX-License-Identifier: Apache-2.0
//
// Secrets that are given as text: passwords (with the forms of one that are tried), and session keys (the
// number of the cipher, a colon, the key in hexadecimal digits). The text stays in memory for secrets.

internal import OpenPGP
internal import Secrets

/// A password that was handed in. Files often end their last line, so a password is tried without the white space at its
/// end, and then as it is. A new one is used without that white space, and must be text that can be read and typed.
struct Password {
  private let bytes: SharedSecretBytes
  private let trimmedCount: Int

  /// - Parameter designator: of the input that holds it.
  init(_ designator: String) throws(Failure) {
    bytes = SharedSecretBytes(try InputDesignator(designator).readSecret(byteCountLimit: Self.byteCountLimit))
    trimmedCount = bytes.withBytes { PasswordText.byteCountWithoutTrailingSpace($0) }
  }

  /// What to try, in this order: the end of a file's last line is seldom meant, and a try may take a second.
  var candidates: [SharedSecretBytes] { trimmedCount == bytes.count ? [bytes] : [trimmed, bytes] }

  /// What to protect something new with.
  /// - Throws: 31 when it is empty, not UTF-8, or has control characters.
  func new() throws(Failure) -> SharedSecretBytes {
    let password = trimmed
    guard password.count > 0, password.withBytes({ PasswordText.isHumanReadable($0) }) else {
      throw Failure(
        .passwordNotHumanReadable,
        "a new password is empty, is not UTF-8, or has control characters or a byte order mark",
        hint: "use text that can be read and typed")
    }
    return password
  }

  private var trimmed: SharedSecretBytes {
    guard trimmedCount < bytes.count else { return bytes }
    return SharedSecretBytes(bytes.withBytes { SecretBytes(copying: $0.extracting(0..<trimmedCount)) })
  }

  /// More than anybody types: a larger input is a file given by mistake.
  private static let byteCountLimit = 64 << 10
}

extension [Password] {
  /// Those of several options.
  init(_ designators: [String]) throws(Failure) {
    self = []
    for designator in designators { append(try Password(designator)) }
  }

  /// What to try, all of them.
  var candidates: [SharedSecretBytes] { flatMap(\.candidates) }
}

/// The characters of a password, read where it lies: a String would be a copy that nobody erases.
enum PasswordText {
  /// How long the text is without white space at its end.
  static func byteCountWithoutTrailingSpace(_ bytes: RawSpan) -> Int {
    var end = bytes.byteCount
    while let start = startOfLastScalar(bytes.extracting(0..<end)),
      let scalar = scalar(bytes.extracting(start..<end)), scalar.properties.isWhitespace
    {
      end = start
    }
    return end
  }

  /// Whether it is UTF-8 without control characters, surrogates, places where no character is, and the byte order mark that
  /// some editors begin a file with.
  static func isHumanReadable(_ bytes: RawSpan) -> Bool {
    var offset = 0
    while offset < bytes.byteCount {
      guard let count = sequenceByteCount(byte(bytes, offset)), offset + count <= bytes.byteCount,
        let scalar = scalar(bytes.extracting(offset..<offset + count))
      else { return false }
      if scalar == "\u{FEFF}" { return false }
      switch scalar.properties.generalCategory {
      case .control, .surrogate, .unassigned, .privateUse, .lineSeparator, .paragraphSeparator: return false
      default: offset += count
      }
    }
    return true
  }

  private static func startOfLastScalar(_ bytes: RawSpan) -> Int? {
    var start = bytes.byteCount - 1
    while start >= 0, byte(bytes, start) & 0xC0 == 0x80 { start -= 1 }
    return start >= 0 ? start : nil
  }

  /// The scalar that all of `bytes` are; nil when they are not one, in its shortest form.
  private static func scalar(_ bytes: RawSpan) -> Unicode.Scalar? {
    guard !bytes.isEmpty, sequenceByteCount(byte(bytes, 0)) == bytes.byteCount else { return nil }
    let count = bytes.byteCount
    var value = UInt32(byte(bytes, 0)) & (count == 1 ? 0x7F : 0xFF >> UInt32(count + 1))
    for offset in 1..<max(count, 1) {
      guard byte(bytes, offset) & 0xC0 == 0x80 else { return nil }
      value = value << 6 | UInt32(byte(bytes, offset) & 0x3F)
    }
    guard let scalar = Unicode.Scalar(value), UTF8.width(scalar) == count else { return nil }
    return scalar
  }

  private static func sequenceByteCount(_ first: UInt8) -> Int? {
    switch first {
    case 0x00...0x7F: 1
    case 0xC2...0xDF: 2
    case 0xE0...0xEF: 3
    case 0xF0...0xF4: 4
    default: nil
    }
  }

  private static func byte(_ bytes: RawSpan, _ offset: Int) -> UInt8 {
    unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }
}

/// Reads and writes session keys.
enum SessionKeyText {
  /// - Throws: 41 when it is not a session key.
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
