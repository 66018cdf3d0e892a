// SPDX-License-Identifier: Apache-2.0
//
// What a host and a pin can be, whatever the service.

/// Rules for the parts of a place on the network.
enum ServiceRules {
  static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  static func isHost(_ host: String) -> Bool {
    guard (1...253).contains(host.utf8.count) else { return false }
    if host.hasPrefix("[") {
      let inner = host.utf8.dropFirst().dropLast()
      return host.hasSuffix("]") && !inner.isEmpty
        && inner.allSatisfy { "0123456789abcdef:.".utf8.contains($0) }
    }
    return host.utf8.first.map { isNameByte($0) && $0 != UInt8(ascii: "-") } == true
      && host.utf8.allSatisfy { isNameByte($0) && !(0x41...0x5A).contains($0) }
  }

  /// Whether nothing leaves this machine. "localhost" is never asked for at a name server: libcurl knows it,
  /// and libpq gets the address.
  static func isLoopback(_ host: String) -> Bool {
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    let isIPv4 =
      parts.count == 4 && parts[0] == "127"
      && parts.allSatisfy { part in UInt8(part).map { "\($0)" == part } == true }
    return isIPv4 || host == "localhost" || host == "[::1]"
  }

  /// "sha256//" and 32 bytes in base64.
  static func isPin(_ pin: String) -> Bool {
    guard pin.hasPrefix("sha256//"), pin.hasSuffix("="), pin.utf8.count == 8 + 44 else { return false }
    return pin.utf8.dropFirst(8).dropLast().allSatisfy { byte in
      isNameByte(byte) && !"-._".utf8.contains(byte) || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "/")
    }
  }
}
