// SPDX-License-Identifier: Apache-2.0
//
// All certificates and secret keys of the published cases, other implementations' among them: they parse, and
// what is written of them is the same to the last octet when it is written again.

import Primitives
import TestVectors
import Testing

@testable import OpenPGP

struct CertificateVectorTests {
  /// Paths of the certificates, or of the secret keys, of all cases that are to be accepted.
  private func paths(_ kind: Kind) throws -> [String] {
    var paths: Set<String> = []
    for row in try VectorTable("openpgp/cases").rows where try row.text("expect") == "accept" {
      let words = try row.text("command").split(separator: " ").map(String.init).filter {
        !$0.hasPrefix("--")
      }
      switch (kind, words[0]) {
      case (.certificates, "verify"): paths.formUnion(words.dropFirst(2))
      case (.certificates, "encrypt"), (.certificates, "inline-verify"): paths.formUnion(words.dropFirst(1))
      case (.secretKeys, "extract-cert"): paths.insert(try row.text("stdin"))
      case (.secretKeys, "decrypt"), (.secretKeys, "sign"): paths.formUnion(words.dropFirst(1))
      default: break
      }
    }
    return paths.sorted()
  }

  private enum Kind { case certificates, secretKeys }

  private func source(_ path: String) throws -> any ByteSource {
    try OpenPGPInput.packets(MemorySource(try VectorFiles.contents("openpgp/" + path)), .allBlocks)
  }

  @Test("Certificates of the cases are read, and writing changes nothing more")
  func certificates() throws {
    let paths = try paths(.certificates)
    #expect(paths.count > 80)
    for path in paths {
      let certificates = try Certificate.readAll(try source(path))
      #expect(!certificates.isEmpty, "\(path)")
      for certificate in certificates {
        let octets = try CertificateParts.octets(certificate)
        #expect(try Certificate.readAll(MemorySource(octets)) == [certificate], "\(path)")
      }
    }
  }

  @Test("Secret keys of the cases are read, and writing changes nothing more")
  func secretKeys() throws {
    let paths = try paths(.secretKeys)
    #expect(paths.count > 60)
    for path in paths {
      let keys = try TransferableSecretKey.readAll(try source(path))
      for key in keys {
        #expect(!key.secrets.isEmpty, "\(path)")
        let sink = ArraySink()
        try key.write(to: sink)
        let again = try TransferableSecretKey.readAll(MemorySource(sink.bytes))
        let second = ArraySink()
        try again[0].write(to: second)
        #expect(again.count == 1 && again[0].certificate == key.certificate, "\(path)")
        #expect(second.bytes == sink.bytes, "\(path)")
      }
    }
  }
}
