// SPDX-License-Identifier: Apache-2.0
//
// What a slot of a chip keeps beside the wrapped keys (Specs/keybag.md, «Attachment»):
//
//   ephemeral public key (65) ‖ the enclave's handle
//
// The ephemeral private key is gone; only the chip can agree on the same secret again.

internal import Primitives

struct EnclaveAttachment: Equatable {
  /// 65 bytes (SEC 1, 2.3.3).
  let ephemeralKey: [UInt8]
  /// As the enclave gave it.
  let handle: [UInt8]

  init(ephemeralKey: [UInt8], handle: [UInt8]) {
    self.ephemeralKey = ephemeralKey
    self.handle = handle
  }

  init(_ bytes: [UInt8]) throws(KeybagError) {
    guard bytes.count > Self.pointByteCount, bytes[0] == 4 else { throw .corrupt }
    ephemeralKey = Array(bytes[..<Self.pointByteCount])
    handle = Array(bytes[Self.pointByteCount...])
  }

  var bytes: [UInt8] { ephemeralKey + handle }

  private static let pointByteCount = 65
}
