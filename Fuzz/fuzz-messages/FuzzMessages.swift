// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a message, encrypted to keys that are here or not at all. Reading twice and reading once must
// come to the same end, and what is refused must have released nothing. There are no passwords, so that no
// input decides to derive a key from one.

import Foundation
import OpenPGP

@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = FuzzInput(data, count)
  checkDecryption(input)
  checkReading(input)
  return 0
}

private func checkDecryption(_ input: FuzzInput) {
  var decryption = MessageDecryption()
  decryption.keys = Keys.shared.keys
  decryption.verifier = Keys.shared.verifier
  let twice = ArraySink()
  let message = try? decryption.decrypt(from: input.source, to: twice)
  guard message != nil || twice.bytes.isEmpty else { fatalError("a refused message released something") }
  let once = ArraySink()
  let early = try? decryption.decryptReleasingUnauthenticatedPlaintext(from: input.source, to: once)
  guard (message == nil) == (early == nil) else { fatalError("one pass and two do not agree on a message") }
  guard message == nil || twice.bytes == once.bytes else { fatalError("one pass and two read other data") }
}

private func checkReading(_ input: FuzzInput) {
  let sink = ArraySink()
  let reader = InlineMessageReader(verifier: Keys.shared.verifier)
  let message = try? reader.read(from: input.source, to: sink) { _ in true }
  guard message != nil || sink.bytes.isEmpty else { fatalError("a refused message released something") }
  if let message, message.verifications.count != message.signatures.count {
    fatalError("there is not one verification a signature")
  }
  let nothing = ArraySink()
  _ = try? reader.read(from: input.source, to: nothing) { _ in false }
  guard nothing.bytes.isEmpty else { fatalError("data were released that nobody wanted") }
}

/// The secret keys in the folder that COFFER_FUZZ_KEYS names.
private struct Keys {
  /// The fuzzer has one thread.
  nonisolated(unsafe) static let shared = Keys()

  let keys: [MessageDecryption.Key]
  let verifier: SignatureVerifier

  private init() {
    var found: [Fingerprint: MessageDecryption.Key] = [:]
    var certificates: [Fingerprint: Certificate] = [:]
    let folder = ProcessInfo.processInfo.environment["COFFER_FUZZ_KEYS"] ?? ""
    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder).sorted()) ?? [] {
      guard let blob = FileManager.default.contents(atPath: "\(folder)/\(name)"),
        let read = try? TransferableSecretKey.readAll(OpenPGPInput.packets(MemorySource(Array(blob))))
      else { continue }
      for key in read {
        certificates[key.certificate.fingerprint] = key.certificate
        for (fingerprint, secret) in key.secrets {
          guard let unlocked = try? secret.unlocked(password: nil, isSubkey: false) else { continue }
          found[fingerprint] = MessageDecryption.Key(unlocked, certificate: key.certificate.fingerprint)
        }
      }
    }
    keys = Array(found.values)
    verifier = SignatureVerifier(
      certificates: Array(certificates.values), policy: .standard,
      time: Timestamp(secondsSince1970: 1_800_000_000))
  }
}
