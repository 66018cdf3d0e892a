// SPDX-License-Identifier: Apache-2.0
//
// VerifySignature SIGNATURE CERTIFICATE FILE: tells whether the owner of CERTIFICATE signed FILE.

import Glibc
import OpenPGP

guard CommandLine.arguments.count == 4 else {
  print("usage: VerifySignature SIGNATURE CERTIFICATE FILE")
  exit(2)
}

/// Reads a file from its beginning, armored or binary.
func source(_ path: String) -> FileDescriptorSource {
  let descriptor = open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else {
    print("cannot open \(path)")
    exit(1)
  }
  return FileDescriptorSource(descriptor: descriptor)
}

do {
  let signatures = try SignatureList(
    reading: OpenPGPInput.packets(source(CommandLine.arguments[1]), .allBlocks)
  ).signatures
  let certificates = try Certificate.readAll(
    try OpenPGPInput.packets(source(CommandLine.arguments[2]), .allBlocks))

  // The policy says which algorithms and key sizes count; the time says which keys have expired.
  let verifier = SignatureVerifier(
    certificates: certificates, policy: .standard,
    time: Timestamp(secondsSince1970: UInt32(time(nil))))
  // One pass over the file, in constant memory.
  let verifications = try DetachedVerification(verifier).verify(
    signatures, over: source(CommandLine.arguments[3]))

  // Only the verifier can make a VerifiedSignature. Everything else is not a proof of anything.
  let verified = verifications.compactMap(\.verified)
  for signature in verified {
    print("good signature by \(signature.primaryKey.hexadecimal)")
  }
  if verified.isEmpty {
    print("no good signature: \(verifications.map { "\($0.result)" }.joined(separator: ", "))")
    exit(1)
  }
} catch let error {
  print("not verified: \(error)")
  exit(1)
}
