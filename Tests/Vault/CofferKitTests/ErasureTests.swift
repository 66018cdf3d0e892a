// SPDX-License-Identifier: Apache-2.0
//
// The end of a coffer.

import Captures
import Foundation
import Secrets
import TemporaryHomes
import Testing

@testable import CofferKit

@Suite("Erasing")
struct ErasureTests {
  @Test("Nothing is left of a coffer with captures")
  func everything() throws {
    let home = try TemporaryHome()
    let coffer = try makeCoffer(home.path)
    var photo = SecretBytes(zeroed: 200_000)
    photo.withMutableBytes { $0.storeBytes(of: 7, toByteOffset: 9, as: UInt8.self) }
    let access = coffer.captureAccess
    _ = try access.store.add(NewCapture(photo: PartSource(photo)), signer: access.signer())
    coffer.close()
    #expect(FileManager.default.fileExists(atPath: home.path + "/blobs"))
    #expect(try Erasure.erase(home: home.path) == Erasure.Remains())
    #expect(!FileManager.default.fileExists(atPath: home.path))
  }

  @Test("When a blob cannot be removed, the coffer is still there to be erased again")
  func again() throws {
    let home = try TemporaryHome()
    try makeCoffer(home.path).close()
    // A folder of a blob's name: nothing that `unlink` removes.
    let stubborn = home.path + "/blobs/" + String(repeating: "ab", count: 16)
    try FileManager.default.createDirectory(atPath: stubborn, withIntermediateDirectories: true)
    #expect(throws: (any Error).self) { try Erasure.erase(home: home.path) }
    try FileManager.default.removeItem(atPath: stubborn)
    // The file was overwritten by then, and does not say any more what it had elsewhere.
    var remains = Erasure.Remains()
    remains.isSecretServiceUnknown = true
    remains.isCounterUnknown = true
    #expect(try Erasure.erase(home: home.path) == remains)
    #expect(!FileManager.default.fileExists(atPath: home.path))
  }

  @Test("While the files cannot be removed, the notes of killed exports stay for the next try")
  func notesStay() throws {
    let (home, outside) = (try TemporaryHome(), try TemporaryHome())
    try makeCoffer(home.path).close()
    let stubborn = home.path + "/blobs/" + String(repeating: "ab", count: 16)
    try FileManager.default.createDirectory(atPath: stubborn, withIntermediateDirectories: true)
    // Out of reach: its note is all that is known of it.
    let path = outside.path + "/gone/coffer-unfinished-" + String(repeating: "5e", count: 16)
    UnfinishedExports(home: home.path).begin(path)
    #expect(throws: (any Error).self) { try Erasure.erase(home: home.path) }
    #expect(UnfinishedExports(home: home.path).leftovers().unreachable == [path])
    try FileManager.default.removeItem(atPath: stubborn)
    #expect(try Erasure.erase(home: home.path).exports == [path])
    #expect(!FileManager.default.fileExists(atPath: home.path))
  }
}
