// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as certificates and as secret keys: what was read and written is read as the same again, merging
// with itself changes nothing, and everything that a view can be asked is asked.

import OpenPGP
import Secrets

@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = FuzzInput(data, count)
  if let certificates = try? Certificate.readAll(OpenPGPInput.packets(input.source, .allBlocks)) {
    for certificate in certificates { check(certificate) }
  }
  if let keys = try? TransferableSecretKey.readAll(OpenPGPInput.packets(input.source, .allBlocks)) {
    for key in keys { check(key) }
  }
  return 0
}

private func check(_ certificate: Certificate) {
  let written = ArraySink()
  guard (try? certificate.write(to: written)) != nil else { fatalError("a certificate cannot be written") }
  guard let again = try? Certificate.readAll(MemorySource(written.bytes)), again.count == 1 else {
    fatalError("a certificate that was written is refused")
  }
  let second = ArraySink()
  guard (try? again[0].write(to: second)) != nil, second.bytes == written.bytes else {
    fatalError("a certificate that was written is read as another")
  }
  guard again[0].merging(again[0]) == again[0] else {
    fatalError("merging with itself changed a certificate")
  }
  look(at: again[0])
}

/// Asks what recipients, signers and verifiers ask.
private func look(at certificate: Certificate) {
  let now = Timestamp(secondsSince1970: 1_800_000_000)
  let valid = ValidCertificate(certificate, at: now, now: now, policy: .standard)
  guard valid.keys.count == certificate.publicKeys.count else { fatalError("a valid lost a key") }
  _ = valid.primaryUserID
  if let chosen = try? valid.encryptionKeys(for: [.encryptCommunications, .encryptStorage]) {
    guard valid.problem == nil, !chosen.isEmpty else { fatalError("a key was chosen that cannot be used") }
  }
}

private func check(_ key: TransferableSecretKey) {
  let written = ArraySink()
  guard (try? key.write(to: written)) != nil else { fatalError("a secret key cannot be written") }
  // Secret parts that cannot be read are not written: without any of them a certificate is left.
  if key.secrets.isEmpty { return }
  guard let again = try? TransferableSecretKey.readAll(MemorySource(written.bytes)), again.count == 1 else {
    fatalError("a secret key that was written is refused")
  }
  guard again[0].secrets.count == key.secrets.count else { fatalError("a secret key was lost") }
}
