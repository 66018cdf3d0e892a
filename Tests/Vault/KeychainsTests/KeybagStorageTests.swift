// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keychains
import Storage
import TemporaryHomes
import Testing

@Suite("Keybag in the file")
struct KeybagStorageTests {
  @Test("A keybag is read back, replaced in place, and known to be damaged or gone")
  func storage() throws {
    let home = try TemporaryHome()
    let file = try DatabaseFile.create(home: home.path) { _ in }
    #expect(throws: KeybagError.corrupt) { try file.read { try Keybag.load($0) } }
    var (keybag, unlocked) = try Keybag.create(passphrase("one"), kdf: cheapPBKDF2, now: 1)
    try file.write { try keybag.save($0) }
    #expect(try file.read { try Keybag.load($0) } == keybag)
    try keybag.addSlot(recoveryPhrase(1), kdf: .seed, keys: unlocked.keys, now: 2)
    try file.write { try keybag.save($0) }
    #expect(try file.read { try Keybag.load($0) } == keybag)
    try file.write { _ = try $0.execute("UPDATE keybag SET record = ?", .bytes(Data([1, 2]))) }
    #expect(throws: KeybagError.corrupt) { try file.read { try Keybag.load($0) } }
  }
}
