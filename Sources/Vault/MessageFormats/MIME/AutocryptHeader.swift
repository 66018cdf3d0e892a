// SPDX-License-Identifier: Apache-2.0
//
// The header `Autocrypt:` (Autocrypt Level 1, section 2.1) as a place for a public part, and nothing else: no state is
// kept, and what it says besides is not read.

internal import Texts

/// An address, and the public part that a mail brings for it.
public struct AutocryptHeader: Sendable, Equatable {
  /// In ASCII.
  public let address: String
  /// The packets of a public part, as they came.
  public let keyData: [UInt8]

  /// Whoever writes one stays below 10 KiB; one whose keys are of RSA and have a picture, below this.
  public static let byteCountLimit = 128 << 10

  init(address: String, keyData: [UInt8]) { (self.address, self.keyData) = (address, keyData) }

  /// Reads a header's value; nil if it is not one, or two programs could read it in two ways.
  init?(_ bytes: RawSpan, _ value: Range<Int>) {
    guard value.count <= Self.byteCountLimit else { return nil }
    // Line ends of folded lines go, and so do all blanks: none of the values has one.
    let text = value.map { bytes.byte($0) }.filter { !ASCII.isBlank($0) && $0 != 0x0D && $0 != 0x0A }
    var found: [String: ArraySlice<UInt8>] = [:]
    for attribute in text.split(separator: ASCII.semicolon) {
      guard found["keydata"] == nil, let equals = attribute.firstIndex(of: ASCII.equals) else { return nil }
      let name = String(decoding: attribute[..<equals], as: UTF8.self).lowercased()
      // Unknown attributes change the meaning, unless their names begin with an underscore.
      guard ["addr", "prefer-encrypt", "keydata"].contains(name) || name.hasPrefix("_"),
        found.updateValue(attribute[(equals + 1)...], forKey: name) == nil
      else { return nil }
    }
    guard let keydata = found["keydata"], !keydata.isEmpty, let name = found["addr"] else { return nil }
    let addr = Array(name)
    guard let list = unsafe MailAddress.list(addr.span.bytes, addr.span.bytes.whole), list.count == 1,
      list[0].name.isEmpty, list[0].address == String(decoding: addr, as: UTF8.self)
    else { return nil }
    var decoded = ByteBuffer(capacity: keydata.count)
    let encoded = Array(keydata)
    unsafe decoded.append(encoded.span.bytes)
    guard let count = Base64.decodeInPlace(&decoded, 0..<encoded.count, .exact) else { return nil }
    address = list[0].address
    keyData = decoded.withBytes { bytes in (0..<count).map { bytes.byte($0) } }
  }

  /// The whole header, folded.
  var text: String {
    var encoded = ByteBuffer(capacity: keyData.count / 3 * 4 + 8)
    unsafe Base64.encode(keyData.span.bytes, into: &encoded)
    let characters = encoded.withBytes { $0.string($0.whole) }
    var lines = ["Autocrypt: addr=\(address);", " keydata="]
    var rest = characters[...]
    while !rest.isEmpty {
      lines.append(" " + rest.prefix(Self.lineCharacterCount))
      rest = rest.dropFirst(Self.lineCharacterCount)
    }
    return lines.map { $0 + "\r\n" }.joined()
  }

  private static let lineCharacterCount = 76
}

extension MailTree {
  /// The headers `Autocrypt:` of a part: how many, and what the only one says.
  public func autocrypt(of index: Int, in mail: RawSpan) -> (count: Int, only: AutocryptHeader?) {
    let fields = parts[index].fields.filter { $0.name == "autocrypt" }
    return (fields.count, fields.count == 1 ? AutocryptHeader(mail, fields[0].value) : nil)
  }
}
