// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keychains
import Primitives
import Secrets
import Storage
import Testing

@testable import Captures

@Suite("The capture key")
struct CaptureKeyTests {
  private let account = KeychainService.Account.captureKey

  @Test("It is made once, of the class that outlives the lock, and kept")
  func madeOnce() throws {
    let bench = try CaptureBench()
    try bench.store.loadOrCreateEncryptionKey()
    let made = try bench.keychain.load(forKey: account, in: .afterFirstUnlockThisDeviceOnly)
    #expect(made?.count == 32)
    bench.file.close()
    let next = try bench.store(at: bench.home.path)
    try next.loadOrCreateEncryptionKey()
    _ = try next.add(NewCapture(photo: source([1])), signer: bench.signer)
    #expect(try next.keychain.load(forKey: account, in: .afterFirstUnlockThisDeviceOnly) == made)
  }

  @Test("A key without a capture is an empty store")
  func keyAlone() throws {
    let bench = try CaptureBench()
    try bench.store.loadOrCreateEncryptionKey()
    #expect(try bench.store.list() == [])
    #expect(try bench.store.examine(isDeep: true) == CaptureStore.Findings())
    #expect(throws: CaptureError.notFound) { try bench.store.info(CaptureID()) }
  }

  @Test("Without the class key everything is locked, not missing")
  func locked() throws {
    let bench = try CaptureBench()
    let id = try bench.addFull()
    let store = try bench.store(
      at: bench.home.path, keys: ClassKeys(whenUnlocked: bench.keys.whenUnlocked, afterFirstUnlock: nil))
    bench.file.close()
    #expect(throws: CaptureError.locked) { try store.list() }
    #expect(throws: CaptureError.locked) { try store.info(id) }
    #expect(throws: CaptureError.locked) { try store.verify(id) }
    #expect(throws: CaptureError.locked) { try store.remove(id) }
    #expect(throws: CaptureError.locked) { try store.export(id, to: bench.home.path + "-out") }
    #expect(throws: CaptureError.locked) { try store.examine(isDeep: false) }
    #expect(throws: CaptureError.locked) { try store.loadOrCreateEncryptionKey() }
    #expect(throws: CaptureError.locked) {
      try store.add(NewCapture(photo: source([1])), signer: bench.signer)
    }
    #expect(!FileManager.default.fileExists(atPath: bench.home.path + "-out"))
  }

  @Test("A key that is gone while there are captures is a loss, and no new one is made")
  func lost() throws {
    let bench = try CaptureBench()
    let id = try bench.addFull()
    try bench.keychain.delete(forKey: account)
    let store = try bench.store(at: bench.home.path)
    bench.file.close()
    #expect(throws: CaptureError.encryptionKeyNotFound) { try store.list() }
    #expect(throws: CaptureError.encryptionKeyNotFound) { try store.info(id) }
    #expect(throws: CaptureError.encryptionKeyNotFound) { try store.loadOrCreateEncryptionKey() }
    #expect(throws: CaptureError.encryptionKeyNotFound) {
      try store.add(NewCapture(photo: source([1])), signer: bench.signer)
    }
    #expect(try bench.blobs().count == 2)
  }

  @Test("Parts alone, or blobs alone, are no empty store either", arguments: ["captureParts", "blobs"])
  func lostWithRests(rest: String) throws {
    let bench = try CaptureBench()
    let id = try bench.addFull()
    try bench.change("DELETE FROM captures")
    try bench.change("DELETE FROM captureState")
    if rest == "blobs" {
      try bench.change("DELETE FROM captureParts")
    } else {
      for blob in try bench.blobs() { try FileManager.default.removeItem(atPath: blob) }
    }
    try bench.keychain.delete(forKey: account)
    let store = try bench.store(at: bench.home.path)
    bench.file.close()
    #expect(throws: CaptureError.encryptionKeyNotFound) { try store.info(id) }
    #expect(throws: CaptureError.encryptionKeyNotFound) { try store.list() }
    #expect(throws: CaptureError.encryptionKeyNotFound) { try store.loadOrCreateEncryptionKey() }
  }

  @Test("A crash between the first state and the key leaves an empty store, which can be begun")
  func stateAlone() throws {
    let bench = try CaptureBench()
    try bench.store.loadOrCreateEncryptionKey()
    try bench.keychain.delete(forKey: account)
    bench.file.close()
    let store = try bench.store(at: bench.home.path)
    #expect(try store.list() == [])
    let added = try store.add(NewCapture(photo: source([1])), signer: bench.signer)
    #expect(try store.list().map(\.id) == [added.id])
  }

  @Test("Captures that were removed with their state and their blobs are a loss, not an empty store")
  func allTaken() throws {
    let bench = try CaptureBench()
    let id = try bench.addFull()
    try bench.change("DELETE FROM captures")
    try bench.change("DELETE FROM captureParts")
    try bench.change("DELETE FROM captureState")
    for blob in try bench.blobs() { try FileManager.default.removeItem(atPath: blob) }
    bench.file.close()
    let store = try bench.store(at: bench.home.path)
    #expect(throws: CaptureError.corrupt(nil)) { try store.list() }
    #expect(throws: CaptureError.corrupt(nil)) { try store.info(id) }
    #expect(throws: CaptureError.corrupt(nil)) {
      try store.add(NewCapture(photo: source([1])), signer: bench.signer)
    }
  }

  @Test("Another key opens nothing")
  func otherKey() throws {
    let bench = try CaptureBench()
    let id = try bench.addFull()
    try bench.keychain.saveSymmetricKey(SymmetricKey(), forKey: account)
    let store = try bench.store(at: bench.home.path)
    #expect(throws: CaptureError.corrupt(nil)) { try store.info(id) }
    #expect(throws: CaptureError.corrupt(nil)) { try store.list() }
    // The store that has the right key in memory still reads.
    _ = try bench.store.verify(id)
    bench.store.clearCache()
    #expect(throws: CaptureError.corrupt(nil)) { try bench.store.verify(id) }
  }

  @Test("A key of another length is damage")
  func wrongLength() throws {
    let bench = try CaptureBench()
    try bench.keychain.save(Data([1, 2, 3]), forKey: account)
    #expect(throws: CaptureError.corrupt(nil)) { try bench.store.list() }
    #expect(throws: CaptureError.corrupt(nil)) { try bench.addFull() }
  }
}
