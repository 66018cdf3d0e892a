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
    let fixture = try CaptureFixture()
    try fixture.store.loadOrCreateEncryptionKey()
    let made = try fixture.keychain.load(forKey: account, in: .afterFirstUnlockThisDeviceOnly)
    #expect(made?.count == 32)
    fixture.file.close()
    let next = try fixture.store(at: fixture.home.path)
    try next.loadOrCreateEncryptionKey()
    _ = try next.add(NewCapture(photo: source([1])), signer: fixture.signer)
    #expect(try next.keychain.load(forKey: account, in: .afterFirstUnlockThisDeviceOnly) == made)
  }

  @Test("A key without a capture is an empty store")
  func keyAlone() throws {
    let fixture = try CaptureFixture()
    try fixture.store.loadOrCreateEncryptionKey()
    #expect(try fixture.store.list() == [])
    #expect(try fixture.store.examine(isDeep: true) == CaptureStore.Findings())
    #expect(throws: CaptureError.notFound) { try fixture.store.info(CaptureID()) }
  }

  @Test("Without the class key everything is locked, not missing")
  func locked() throws {
    let fixture = try CaptureFixture()
    let id = try fixture.addFull()
    let store = try fixture.store(
      at: fixture.home.path, keys: ClassKeys(whenUnlocked: fixture.keys.whenUnlocked, afterFirstUnlock: nil))
    fixture.file.close()
    #expect(throws: CaptureError.locked) { try store.list() }
    #expect(throws: CaptureError.locked) { try store.info(id) }
    #expect(throws: CaptureError.locked) { try store.verify(id) }
    #expect(throws: CaptureError.locked) { try store.remove(id) }
    #expect(throws: CaptureError.locked) { try store.export(id, to: fixture.home.path + "-out") }
    #expect(throws: CaptureError.locked) { try store.examine(isDeep: false) }
    #expect(throws: CaptureError.locked) { try store.loadOrCreateEncryptionKey() }
    #expect(throws: CaptureError.locked) {
      try store.add(NewCapture(photo: source([1])), signer: fixture.signer)
    }
    #expect(!FileManager.default.fileExists(atPath: fixture.home.path + "-out"))
  }

  @Test("A key that is gone while there are captures is a loss, and no new one is made")
  func lost() throws {
    let fixture = try CaptureFixture()
    let id = try fixture.addFull()
    try fixture.keychain.delete(forKey: account)
    let store = try fixture.store(at: fixture.home.path)
    fixture.file.close()
    #expect(throws: CaptureError.encryptionKeyNotFound) { try store.list() }
    #expect(throws: CaptureError.encryptionKeyNotFound) { try store.info(id) }
    #expect(throws: CaptureError.encryptionKeyNotFound) { try store.loadOrCreateEncryptionKey() }
    #expect(throws: CaptureError.encryptionKeyNotFound) {
      try store.add(NewCapture(photo: source([1])), signer: fixture.signer)
    }
    #expect(try fixture.blobs().count == 2)
  }

  @Test("Parts alone, or blobs alone, are no empty store either", arguments: ["captureParts", "blobs"])
  func lostWithRests(rest: String) throws {
    let fixture = try CaptureFixture()
    let id = try fixture.addFull()
    try fixture.change("DELETE FROM captures")
    try fixture.change("DELETE FROM captureState")
    if rest == "blobs" {
      try fixture.change("DELETE FROM captureParts")
    } else {
      for blob in try fixture.blobs() { try FileManager.default.removeItem(atPath: blob) }
    }
    try fixture.keychain.delete(forKey: account)
    let store = try fixture.store(at: fixture.home.path)
    fixture.file.close()
    #expect(throws: CaptureError.encryptionKeyNotFound) { try store.info(id) }
    #expect(throws: CaptureError.encryptionKeyNotFound) { try store.list() }
    #expect(throws: CaptureError.encryptionKeyNotFound) { try store.loadOrCreateEncryptionKey() }
  }

  @Test("A crash between the first state and the key leaves an empty store, which can be begun")
  func stateAlone() throws {
    let fixture = try CaptureFixture()
    try fixture.store.loadOrCreateEncryptionKey()
    try fixture.keychain.delete(forKey: account)
    fixture.file.close()
    let store = try fixture.store(at: fixture.home.path)
    #expect(try store.list() == [])
    let added = try store.add(NewCapture(photo: source([1])), signer: fixture.signer)
    #expect(try store.list().map(\.id) == [added.id])
  }

  @Test("Captures that were removed with their state and their blobs are a loss, not an empty store")
  func allTaken() throws {
    let fixture = try CaptureFixture()
    let id = try fixture.addFull()
    try fixture.change("DELETE FROM captures")
    try fixture.change("DELETE FROM captureParts")
    try fixture.change("DELETE FROM captureState")
    for blob in try fixture.blobs() { try FileManager.default.removeItem(atPath: blob) }
    fixture.file.close()
    let store = try fixture.store(at: fixture.home.path)
    #expect(throws: CaptureError.corrupt(nil)) { try store.list() }
    #expect(throws: CaptureError.corrupt(nil)) { try store.info(id) }
    #expect(throws: CaptureError.corrupt(nil)) {
      try store.add(NewCapture(photo: source([1])), signer: fixture.signer)
    }
  }

  @Test("Another key opens nothing")
  func otherKey() throws {
    let fixture = try CaptureFixture()
    let id = try fixture.addFull()
    try fixture.keychain.saveSymmetricKey(SymmetricKey(), forKey: account)
    let store = try fixture.store(at: fixture.home.path)
    #expect(throws: CaptureError.corrupt(nil)) { try store.info(id) }
    #expect(throws: CaptureError.corrupt(nil)) { try store.list() }
    // The store that has the right key in memory still reads.
    _ = try fixture.store.verify(id)
    fixture.store.clearCache()
    #expect(throws: CaptureError.corrupt(nil)) { try fixture.store.verify(id) }
  }

  @Test("A key of another length is damage")
  func wrongLength() throws {
    let fixture = try CaptureFixture()
    try fixture.keychain.save(Data([1, 2, 3]), forKey: account)
    #expect(throws: CaptureError.corrupt(nil)) { try fixture.store.list() }
    #expect(throws: CaptureError.corrupt(nil)) { try fixture.addFull() }
  }
}
