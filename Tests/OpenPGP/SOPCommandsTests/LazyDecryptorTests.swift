// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import OpenPGP
@testable import SOPCommands

struct LazyDecryptorTests {
  private let key = PublicKey(
    version: 6, creationTime: Timestamp(secondsSince1970: 0), algorithm: .x25519,
    material: .x25519([UInt8](repeating: 9, count: 32)))

  @Test("A key that no password opens is not tried again for every session key of a message")
  func lockedOnce() {
    var count = 0
    let decryptor = LazyDecryptor(key) { () throws(OpenPGPError) in
      count += 1
      throw .keyIsLocked
    }
    let packet = PKESK(
      version: 6, recipient: .anonymous, algorithm: .x25519,
      material: .x25519(ephemeral: [UInt8](repeating: 9, count: 32), nil, wrapped: []))
    for _ in 0..<3 {
      #expect(throws: OpenPGPError.keyIsLocked) { _ = try decryptor.decrypt(packet) }
    }
    #expect(count == 1)
  }

  @Test("A secret key that is broken is not told as a message that is")
  func brokenKey() {
    let failure = Failure(.malformed(.secretKey), .message)
    #expect(failure.exit == .badData)
    #expect(failure.message == Failure(.malformed(.certificateStructure), .keys).message)
  }
}
