// SPDX-License-Identifier: Apache-2.0
//
// EncryptFile CERTIFICATE FILE: encrypts FILE to everybody in CERTIFICATE and writes FILE.pgp.

import Glibc
import OpenPGP

guard CommandLine.arguments.count == 3 else {
  print("usage: EncryptFile CERTIFICATE FILE")
  exit(2)
}
let (certificateFile, file) = (CommandLine.arguments[1], CommandLine.arguments[2])

/// Opens a file for reading.
func openFile(_ path: String) -> Int32 {
  let descriptor = open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else {
    print("cannot open \(path)")
    exit(1)
  }
  return descriptor
}

do {
  // Certificates may be armored or binary, and there may be several in one file.
  let source = FileDescriptorSource(descriptor: openFile(certificateFile))
  let recipients = try Certificate.readAll(try OpenPGPInput.packets(source, .allBlocks))

  // The engine reads no clock: what is valid, and what is expired, depends on the time that you give.
  let now = Timestamp(secondsSince1970: UInt32(time(nil)))
  // Refuses certificates that are expired, revoked or too weak. The format is what all recipients can read.
  let message = try MessageEncryption(to: recipients, time: now)

  // The file appears under its name when it is complete, or not at all.
  let output = try AtomicFileSink(path: file + ".pgp")
  let armor = try ArmorWriter(output, kind: .message)
  try message.encrypt(from: FileDescriptorSource(descriptor: openFile(file)), to: armor)
  try armor.finish()
  try output.commit()
  print("wrote \(file).pgp for \(recipients.count) recipient(s)")
} catch let error {
  // OpenPGPError says what was wrong, and never holds plaintext, keys or fingerprints.
  print("not encrypted: \(error)")
  exit(1)
}
