// SPDX-License-Identifier: Apache-2.0
//
// SHAKE256 (FIPS 202, 6.2) of octets of any number, one after another; libcrypto's needs as long for a short input and
// has no interface for it in LibCrypto.

internal import CKeccak
internal import Secrets

/// A hash of octets that arrive piece by piece. Its state is erased at its end.
@safe
struct SHAKE256: ~Copyable {
  /// The bits 1111 behind the message, and the first of the padding.
  static let firstPadding: UInt64 = 0x1F
  /// The last bit of the padding.
  static let lastPadding: UInt64 = 0x8000_0000_0000_0000

  private var state = SecretBytes(zeroed: 200)
  private var filled = 0

  mutating func update(_ bytes: RawSpan) {
    for offset in 0..<bytes.byteCount {
      add(unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self), at: filled)
      filled += 1
      if filled == Self.rate { permute() }
    }
  }

  mutating func update(_ bytes: [UInt8]) { update(bytes.rawSpan) }

  /// The first `count` octets of the output, at most 136, which are not secret.
  consuming func finish(_ count: Int) -> [UInt8] {
    precondition(count <= Self.rate, "one block of output")
    add(UInt8(Self.firstPadding), at: filled)
    add(0x80, at: Self.rate - 1)
    permute()
    return state.withBytes { state in
      (0..<count).map { unsafe state.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
    }
  }

  private mutating func add(_ byte: UInt8, at offset: Int) {
    state.withMutableBytes { state in
      let old = unsafe state.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
      state.storeBytes(of: old ^ byte, toByteOffset: offset, as: UInt8.self)
    }
  }

  private mutating func permute() {
    state.withMutableBytes { state in
      unsafe state.withUnsafeMutableBytes { state in
        unsafe coffer_keccak_permute(state.start.assumingMemoryBound(to: UInt64.self), 1)
      }
    }
    filled = 0
  }

  /// Octets of a block.
  private static let rate = 136
}
