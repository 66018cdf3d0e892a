// SPDX-License-Identifier: Apache-2.0
//
// Integers of libcrypto, for the parts of keys. All are treated as secret: arithmetic does not branch on
// their value where libcrypto can avoid it, and their memory is erased when it is freed.

internal import COpenSSL
package import Secrets

/// An integer of any size, not negative. It does not change once it is made.
@safe
package final class BigNumber {
  /// A `BIGNUM`.
  let reference: OpaquePointer

  /// Takes over a number of libcrypto's.
  @unsafe
  init(owning reference: OpaquePointer) {
    unsafe self.reference = unsafe reference
    unsafe BN_set_flags(reference, BN_FLG_CONSTTIME)
  }

  private convenience init() {
    guard let number = unsafe BN_secure_new() else { preconditionFailure("out of memory for a number") }
    unsafe self.init(owning: number)
  }

  /// The number of big-endian octets.
  package convenience init(_ octets: RawSpan) {
    self.init()
    unsafe octets.withUnsafeBytes {
      guard let start = unsafe $0.octets else { return }
      precondition(unsafe BN_bin2bn(start, Int32($0.count), reference) != nil, "out of memory")
    }
  }

  /// The number of little-endian octets.
  package convenience init(littleEndian octets: RawSpan) {
    self.init()
    unsafe octets.withUnsafeBytes {
      guard let start = unsafe $0.octets else { return }
      precondition(unsafe BN_lebin2bn(start, Int32($0.count), reference) != nil, "out of memory")
    }
  }

  deinit { unsafe BN_clear_free(reference) }

  package var bitCount: Int { Int(unsafe BN_num_bits(reference)) }
  package var byteCount: Int { (bitCount + 7) / 8 }
  package var isOdd: Bool { unsafe BN_is_odd(reference) == 1 }

  /// Writes exactly as many big-endian octets as `output` has room for; false when the number needs more.
  package func write(to output: inout MutableRawSpan) -> Bool {
    unsafe output.withUnsafeMutableBytes {
      unsafe BN_bn2binpad(reference, $0.octets, Int32($0.count)) >= 0
    }
  }

  /// Exactly `count` octets, big-endian or little-endian; nil when the number needs more.
  package func octets(_ count: Int, isLittleEndian: Bool = false) -> SecretBytes? {
    var octets = SecretBytes(zeroed: count)
    let fits = octets.withMutableBytes { output in
      guard isLittleEndian else { return write(to: &output) }
      return unsafe output.withUnsafeMutableBytes {
        unsafe BN_bn2lebinpad(reference, $0.octets, Int32($0.count)) >= 0
      }
    }
    guard fits else { return nil }
    return octets
  }

  /// The octets, big-endian and without leading zeros; for public numbers.
  package var publicOctets: [UInt8] {
    var octets = [UInt8](repeating: 0, count: byteCount)
    _ = octets.withMutableRawSpan { write(to: &$0) }
    return octets
  }

  // MARK: Arithmetic

  package static func == (left: BigNumber, right: BigNumber) -> Bool {
    unsafe BN_cmp(left.reference, right.reference) == 0
  }

  package var isOne: Bool { unsafe BN_is_one(reference) == 1 }

  /// This number less one; it must not be zero.
  package var predecessor: BigNumber {
    let result = BigNumber()
    let isDone =
      unsafe BN_copy(result.reference, reference) != nil && BN_sub_word(result.reference, 1) == 1
    precondition(isDone, "out of memory for a number")
    return result
  }

  package static func * (left: BigNumber, right: BigNumber) -> BigNumber {
    unsafe compute { unsafe BN_mul($0.reference, left.reference, right.reference, $1) }
  }

  /// The rest of a division; `right` must not be zero.
  package static func % (left: BigNumber, right: BigNumber) -> BigNumber {
    unsafe compute { unsafe BN_div(nil, $0.reference, left.reference, right.reference, $1) }
  }

  private static func compute(_ body: (BigNumber, OpaquePointer) -> Int32) -> BigNumber {
    guard let context = unsafe BN_CTX_secure_new() else { preconditionFailure("out of memory") }
    defer { unsafe BN_CTX_free(context) }
    let result = BigNumber()
    precondition(unsafe body(result, context) == 1, "arithmetic cannot fail")
    return result
  }
}
