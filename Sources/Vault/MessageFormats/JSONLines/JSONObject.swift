// SPDX-License-Identifier: Apache-2.0

/// Checks JSON that is kept as it is.
public enum JSONObject {
  /// Whether `bytes` are one JSON object (RFC 8259) in UTF-8, nested at most 32 levels deep, with nothing but
  /// white space around it. Nothing is copied.
  public static func isWellFormed(_ bytes: RawSpan) -> Bool {
    let all = 0..<bytes.byteCount
    guard bytes.validUTF8End(in: all) == bytes.byteCount else { return false }
    var scanner = JSONScanner(all)
    guard scanner.peek(bytes) == UInt8(ascii: "{") else { return false }
    do { try scanner.skipValue(bytes) } catch { return false }
    return scanner.peek(bytes) == nil
  }
}
