// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 10.2: secret keys in the place of public ones, and lists in which both are mixed.

import Primitives
import Secrets
import Testing

@testable import OpenPGP

struct TransferableSecretKeyTests {
  private typealias Parts = CertificateParts

  private var key: TransferableSecretKey {
    TransferableSecretKey(
      certificate: Parts.complete,
      secrets: [
        Parts.key(1).fingerprint: Parts.secret(Parts.key(1)),
        Parts.key(2).fingerprint: Parts.secret(Parts.key(2)),
      ])
  }

  private func octets(_ key: TransferableSecretKey) throws -> [UInt8] {
    let sink = ArraySink()
    try key.write(to: sink)
    return sink.bytes
  }

  @Test("What is written is read again, and writes the same octets")
  func roundTrip() throws {
    let written = try octets(key)
    let read = try TransferableSecretKey.readAll(MemorySource(written))
    #expect(read.map(\.certificate) == [Parts.complete])
    #expect(read[0].secrets.keys.count == 2)
    #expect(try octets(read[0]) == written)
  }

  @Test("The certificate of a secret key has nothing secret")
  func extracted() throws {
    let written = try Parts.octets(key.certificate)
    let read = try Certificate.readAll(MemorySource(written))
    #expect(read == [Parts.complete])
    #expect(throws: OpenPGPError.malformed(.certificateAsSecretKey)) {
      try TransferableSecretKey.readAll(MemorySource(written))
    }
  }

  @Test("A subkey without its secret part stays a public one")
  func publicSubkey() throws {
    var partial = key
    partial.secrets[Parts.key(2).fingerprint] = nil
    let read = try TransferableSecretKey.readAll(MemorySource(try octets(partial)))[0]
    #expect(read.certificate == Parts.complete)
    #expect(Array(read.secrets.keys) == [Parts.key(1).fingerprint])
  }

  @Test("One secret subkey makes it a secret key")
  func secretSubkeyAlone() throws {
    var partial = key
    partial.secrets[Parts.key(1).fingerprint] = nil
    let written = try octets(partial)
    #expect(try TransferableSecretKey.readAll(MemorySource(written)).count == 1)
    #expect(throws: OpenPGPError.malformed(.secretKeyAsCertificate)) {
      try Certificate.readAll(MemorySource(written))
    }
  }

  @Test("Of a mixed list, each reader takes its own")
  func mixed() throws {
    let certificate = Certificate(primaryKey: Parts.key(7))
    let list = try octets(key) + Parts.octets(certificate) + octets(key)
    #expect(try Certificate.readAll(MemorySource(list)) == [certificate])
    #expect(try TransferableSecretKey.readAll(MemorySource(list)).map(\.certificate) == [Parts.complete])
  }

  @Test(
    "A secret subkey of an unknown version stays in the key with its signatures, and out of the certificate")
  func unknownSecretSubkey() throws {
    let unknown = Parts.packet(7, [99, 1, 2, 3])
    let binding = try Parts.octets([.signature(Parts.signature(.subkeyBinding, 30))])
    let list = try octets(key) + unknown + binding + unknown
    let read = try #require(TransferableSecretKey.readAll(MemorySource(list)).first)
    #expect(read.certificate == Parts.complete)
    #expect(try octets(read) == list)
  }

  @Test("Behind a secret subkey of an unknown version the next component has its own signatures")
  func behindUnknownSecretSubkey() throws {
    let unknown = Parts.packet(7, [99, 1, 2, 3])
    let primary = try Parts.octets([.secretKey(Parts.secret(Parts.key(1)))])
    let subkey = try Parts.octets([
      .secretSubkey(Parts.secret(Parts.key(2))), .signature(Parts.signature(.subkeyBinding, 30)),
    ])
    let read = try #require(TransferableSecretKey.readAll(MemorySource(primary + unknown + subkey)).first)
    #expect(read.certificate.subkeys.map(\.signatures.count) == [1])
    #expect(try octets(read) == primary + subkey + unknown)
  }

  @Test("What could not be read of one key is not the next key's")
  func unreadableOfOneKey() throws {
    let unknown = Parts.packet(7, [99, 1, 2, 3])
    let other = TransferableSecretKey(
      certificate: Certificate(primaryKey: Parts.key(7)),
      secrets: [Parts.key(7).fingerprint: Parts.secret(Parts.key(7))])
    let lists = [try octets(key) + unknown, try octets(other)]
    let read = try TransferableSecretKey.readAll(MemorySource(lists[0] + lists[1]))
    #expect(try read.map { try octets($0) } == lists)
  }

  @Test("Of several copies the one that is there and needs no password is kept, wherever it stands")
  func copies() throws {
    let primary = Parts.key(1).fingerprint
    let whole = key
    var (locked, stub) = (key, key)
    let specifier = StringToKey.simple(.sha256)
    locked.secrets[primary] = SecretKey(
      publicKey: Parts.key(1), protection: .cfb(.aes128, specifier, iv: [UInt8](repeating: 0, count: 16)),
      protectedMaterial: SharedSecretBytes(SecretBytes(zeroed: 40)))
    stub.secrets[primary] = SecretKey(
      publicKey: Parts.key(1), protection: .unknown(usage: 254, [9, 101, 0] + Array("GNU".utf8) + [1]),
      protectedMaterial: SharedSecretBytes(SecretBytes(zeroed: 0)))
    func kept(_ copies: TransferableSecretKey...) throws -> SecretKeyProtection? {
      let read = try TransferableSecretKey.readAll(MemorySource(try copies.flatMap { try octets($0) }))
      #expect(read.count == 1)
      return read.first?.secrets[primary]?.protection
    }
    #expect(try kept(stub, whole) == SecretKeyProtection.none)
    #expect(try kept(whole, stub) == SecretKeyProtection.none)
    #expect(try kept(stub, locked, whole) == SecretKeyProtection.none)
    #expect(try kept(stub, locked) == locked.secrets[primary]?.protection)
    #expect(try kept(stub, stub) == stub.secrets[primary]?.protection)
  }

  // MARK: Damage

  /// The primary key and the subkey, with the primary key's secret part replaced.
  private func octets(primarySecret material: [UInt8], version: UInt8 = 4) throws -> [UInt8] {
    let primary = Parts.key(1, version: version)
    let secret = SecretKey(
      publicKey: primary, protection: .none,
      protectedMaterial: SharedSecretBytes(SecretBytes(copying: material.span.bytes)))
    return try octets(
      TransferableSecretKey(
        certificate: Certificate(primaryKey: primary), secrets: [primary.fingerprint: secret]))
  }

  private static let zeros = [UInt8](repeating: 0, count: 32)

  @Test(
    "A secret key of version 4 whose checksum is wrong is not read, nor is its certificate taken out of it")
  func wrongChecksum() throws {
    let changed: [UInt8] = [1] + Self.zeros.dropFirst() + [0, 0]
    for material in [Self.zeros + [0, 1], changed, Self.zeros + [1, 0], [0], []] as [[UInt8]] {
      #expect(throws: OpenPGPError.notAuthentic) {
        try TransferableSecretKey.readAll(MemorySource(try octets(primarySecret: material)))
      }
    }
    #expect(
      try TransferableSecretKey.readAll(MemorySource(try octets(primarySecret: Self.zeros + [0, 0]))).count
        == 1)
  }

  @Test("The checksum of a subkey, and of any key of a file, is looked at too")
  func wrongChecksumOfSubkey() throws {
    var damaged = key
    damaged.secrets[Parts.key(2).fingerprint] = SecretKey(
      publicKey: Parts.key(2), protection: .none,
      protectedMaterial: SharedSecretBytes(SecretBytes(copying: (Self.zeros + [0, 1]).span.bytes)))
    for list in [try octets(damaged), try octets(primarySecret: Self.zeros + [0, 0]) + octets(damaged)] {
      #expect(throws: OpenPGPError.notAuthentic) { try TransferableSecretKey.readAll(MemorySource(list)) }
    }
  }

  @Test("A secret part in the clear that has other fields than its algorithm is malformed, in either version")
  func wrongFields() throws {
    for (material, version) in [
      (Array(Self.zeros.dropLast()) + [0, 0], UInt8(4)), (Self.zeros + [0, 0, 0], 4),
      (Array(Self.zeros.dropLast()), 6), (Self.zeros + [0], 6), ([], 6),
    ] as [([UInt8], UInt8)] {
      #expect(throws: OpenPGPError.malformed(.secretKey)) {
        try TransferableSecretKey.readAll(MemorySource(try octets(primarySecret: material, version: version)))
      }
    }
  }

  @Test("A secret subkey that is cut off is not left out in silence")
  func malformedSubkey() throws {
    let body = Parts.secret(Parts.key(3)).body().withBytes { [UInt8](copying: $0) }
    let list = try octets(key) + Parts.packet(7, Array(body.prefix(20)))
    #expect(throws: OpenPGPError.malformed(.truncated)) {
      try TransferableSecretKey.readAll(MemorySource(list))
    }
  }

  @Test("What a password protects, or is elsewhere, is not looked at")
  func protectedMaterial() throws {
    var other = key
    other.secrets[Parts.key(1).fingerprint] = SecretKey(
      publicKey: Parts.key(1), protection: .unknown(usage: 254, [9, 101, 0] + Array("GNU".utf8) + [1]),
      protectedMaterial: SharedSecretBytes(SecretBytes(zeroed: 0)))
    other.secrets[Parts.key(2).fingerprint] = SecretKey(
      publicKey: Parts.key(2), protection: .cfbChecksum(.aes128, nil, iv: [UInt8](repeating: 0, count: 16)),
      protectedMaterial: SharedSecretBytes(SecretBytes(copying: [1, 2, 3].span.bytes)))
    #expect(try TransferableSecretKey.readAll(MemorySource(try octets(other))).count == 1)
  }

  @Test("Beside a whole copy of a key a damaged one does no harm, wherever it stands")
  func damagedCopy() throws {
    let whole = try octets(primarySecret: Self.zeros + [0, 0])
    let damaged = try octets(primarySecret: Self.zeros + [0, 1])
    for list in [whole + damaged, damaged + whole] {
      let read = try #require(TransferableSecretKey.readAll(MemorySource(list)).first)
      #expect(try octets(read) == whole)
    }
  }
}
