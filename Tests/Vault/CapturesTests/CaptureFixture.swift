// SPDX-License-Identifier: Apache-2.0
//
// A coffer with captures, as a machine has it that was locked after its first unlock: the key of the class
// *when unlocked* is nowhere.

import Foundation
import Keychains
import Primitives
import Secrets
import Storage
import TemporaryHomes

@testable import Captures

final class CaptureFixture {
  let home: TemporaryHome
  let keys: ClassKeys
  let file: DatabaseFile
  let keychain: KeychainService
  let store: CaptureStore
  let time: CaptureTestClock
  let signer: TestSigner

  /// Makes a coffer.
  init() throws {
    home = try TemporaryHome()
    keys = ClassKeys(
      whenUnlocked: SharedSecretBytes(SecretBytes(zeroed: 32)),
      afterFirstUnlock: SharedSecretBytes(SystemRandom.secretBytes(count: 32)))
    let all = keys
    file = try DatabaseFile.create(home: home.path) { file in
      try KeychainService(keychain: FileKeychain(file), keys: all).prepare()
    }
    keychain = KeychainService(keychain: FileKeychain(file), keys: keys.locked())
    time = CaptureTestClock()
    signer = TestSigner()
    store = CaptureStore(file: file, keychain: keychain, clock: time.clock)
    try keychain.saveDeviceState(
      DeviceState(deviceId: signer.deviceID, attestationKeyId: signer.keyID, deviceModel: "test"))
  }

  /// What the next command sees: the coffer in `path`, opened by another store.
  func store(at path: String, keys: ClassKeys? = nil) throws -> CaptureStore {
    let file = try DatabaseFile.open(home: path)
    return CaptureStore(
      file: file, keychain: KeychainService(keychain: FileKeychain(file), keys: keys ?? self.keys.locked()),
      clock: time.clock)
  }

  /// A copy of all files, as a crash at this moment leaves them; removed with the fixture's folder.
  func snapshot() throws -> String {
    let copy = home.path + "-copy-\(UUID().uuidString)"
    try FileManager.default.copyItem(atPath: home.path, toPath: copy)
    return copy
  }

  @discardableResult
  func add(
    photo: [UInt8], depth: [UInt8]? = nil, metadata: String? = nil, thumbnail: [UInt8]? = nil,
    allowsDuplicate: Bool = false
  ) throws -> CaptureID {
    var capture = NewCapture(
      photo: source(photo), depth: depth.map(source), metadata: metadata.map { source(Array($0.utf8)) })
    capture.thumbnail = thumbnail.map(source)
    capture.allowsDuplicate = allowsDuplicate
    return try store.add(capture, signer: signer).id
  }

  /// A capture with every part: photo and depth in blobs, the rest in rows.
  func addFull(_ seed: UInt64 = 1) throws -> CaptureID {
    try add(
      photo: bytes(600_000, seed: seed), depth: bytes(70_000, seed: seed &+ 100),
      metadata: #"{"place": "garden", "seed": \#(seed)}"#, thumbnail: bytes(3_000, seed: seed &+ 200))
  }

  func read(_ part: CapturePart, of id: CaptureID, store: CaptureStore? = nil) throws -> [UInt8]? {
    var all: [UInt8] = []
    let isThere = try (store ?? self.store).withPart(part, of: id) {
      all.append($0)
      return true
    }
    return isThere ? all : nil
  }

  /// The blob files, in the order of their sizes.
  func blobs(_ path: String? = nil) throws -> [String] {
    let folder = (path ?? home.path) + "/blobs"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return try names.map { "\(folder)/\($0)" }.sorted {
      let sizes = try [$0, $1].map {
        try FileManager.default.attributesOfItem(atPath: $0)[.size] as? Int ?? 0
      }
      return sizes[0] < sizes[1]
    }
  }

  /// Changes the database behind the store's back.
  func change(_ sql: StaticString, _ values: StorageValue...) throws {
    _ = try file.write { transaction in
      switch values.count {
      case 0: try transaction.execute(sql)
      case 1: try transaction.execute(sql, values[0])
      default: try transaction.execute(sql, values[0], values[1])
      }
    }
  }

  func count(_ sql: StaticString) throws -> Int64 {
    try file.read { try $0.firstRow(sql) { try $0.integer(0) } ?? -1 }
  }

  func value(_ sql: StaticString) throws -> Data? {
    try file.read { try $0.firstRow(sql) { try $0.bytes(0) } }
  }
}

func source(_ bytes: [UInt8]) -> PartSource { PartSource(SecretBytes(copying: bytes.span.bytes)) }

/// Bytes that look random and are the same in each run; they repeat after 4,099, which divides no chunk.
func bytes(_ count: Int, seed: UInt64) -> [UInt8] {
  var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
  let period = (0..<min(count, 4_099)).map { _ in
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return UInt8(truncatingIfNeeded: state >> 32)
  }
  var all: [UInt8] = []
  all.reserveCapacity(count)
  while all.count < count { all.append(contentsOf: period.prefix(count - all.count)) }
  return all
}

/// Signs with a key of its own in software.
final class TestSigner: CaptureSigner {
  private let key = P256PrivateKey()
  let keyID: String
  let deviceID: String
  let level = AttestationLevel.unverified
  private let beforeSigning: @Sendable () throws -> Void

  var publicKey: [UInt8] { key.publicKey }

  /// - Parameter beforeSigning: runs when the large parts are on the disk and no row names them yet.
  init(
    deviceID: String = "0199ac5f-3000-7b3c-8d4e-5f60718293a4",
    beforeSigning: @escaping @Sendable () throws -> Void = {}
  ) {
    let publicKey = key.publicKey
    keyID = Hexadecimal.text(SHA256.hash(publicKey.span.bytes))
    self.deviceID = deviceID
    self.beforeSigning = beforeSigning
  }

  func sign(digest: [UInt8]) throws -> [UInt8] {
    try beforeSigning()
    return try key.signature(digest: digest)
  }
}
