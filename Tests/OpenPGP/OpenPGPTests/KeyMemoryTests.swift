// SPDX-License-Identifier: Apache-2.0
//
// What a secret key leaves in memory when it has been made, written, read, unlocked and locked again: nothing.

import MemorySearch
import Primitives
import Secrets
import Testing

@testable import OpenPGP

@Suite("What a secret key leaves in memory")
struct KeyMemoryTests {
  @Test("Secret keys and their password are gone after use")
  func nothingLeft() async {
    await #expect(processExitsWith: .success) {
      recordingErrors {
        for profile in [KeyProfile.universal, .rfc9580, .postQuantum, .hashBased128f] {
          for needle in try KeyMemoryTests().use(profile) {
            try ProcessMemory.expectGone(needle, "\(profile)")
          }
        }
      }
    }
  }

  @Test("The search finds a secret key that is in use")
  func searchWorks() async {
    await #expect(processExitsWith: .success) {
      recordingErrors {
        let key = try KeyGeneration(.rfc9580, userIDs: [], creationTime: day(0)).generate()
        for needle in KeyMemoryTests().needles(key) {
          #expect(try !ProcessMemory.places(of: needle).isEmpty)
        }
        #expect(key.secrets.count == 2)
      }
    }
  }

  /// Everything that is done with a secret key; what to look for afterwards.
  @inline(never)
  private func use(_ profile: KeyProfile) throws -> [Needle] {
    let password = SharedSecretBytes(SystemRandom.secretBytes(count: 32))
    var key = try KeyGeneration(profile, userIDs: [KeyHolderFixture.userID], creationTime: day(0)).generate()
    let needles = needles(key) + [password.withBytes { Needle($0) }]
    let sink = SecretSink()
    try key.write(to: sink)
    let read = try TransferableSecretKey.readAll(MemorySource(SharedSecretBytes(sink.finish())))[0]
    let primary = try read.unlocked(read.certificate.fingerprint, for: .certify, passwords: [])
    _ = try read.certificate.revocationCertificate(
      reason: RevocationReason(.retired), at: day(1), by: primary)
    // Advanced locking takes half a gigabyte; what it does to memory is the same with less.
    if profile == .universal {
      try key.changePassword(from: [], to: password)
      _ = try key.unlocked(key.certificate.fingerprint, for: .sign, passwords: [password])
    }
    return needles
  }

  /// The secret fields, without what stands around them.
  @inline(never)
  private func needles(_ key: TransferableSecretKey) -> [Needle] {
    key.secrets.values.map { secret in
      secret.protectedMaterial.withBytes { bytes in
        // Version 4 has two octets of length before and two of checksum behind.
        Needle(bytes.extracting(2..<30))
      }
    }
  }
}

/// Collects secret bytes without a second copy.
private final class SecretSink: ByteSink {
  // A key of SLH-DSA-SHAKE-128f has three signatures of 17 KiB.
  private var bytes = SecretBytes(zeroed: 64 << 10)
  private var count = 0

  func write(_ new: RawSpan) throws(OpenPGPError) {
    bytes.withMutableBytes { $0.copy(new, to: count) }
    count += new.byteCount
  }

  func finish() -> SecretBytes {
    let count = count
    return bytes.withBytes { SecretBytes(copying: $0.extracting(0..<count)) }
  }
}
