// SPDX-License-Identifier: Apache-2.0

import TemporaryHomes
import Testing

@testable import CofferKit

@Suite("A coffer that an agent's keys opened")
struct HandedOnTests {
  @Test("It does not decide who can open the coffer")
  func slots() throws {
    let home = try TemporaryHome()
    let own = try makeCoffer(home.path)
    let (keys, id) = (own.keys, try #require(own.slots().first?.id))
    own.close()
    #expect(keys.owner != nil)
    let coffer = try LockedCoffer(home: home.path).unlock(keys)
    #expect(coffer.keys.owner == nil)
    #expect(throws: CofferError.slotRequired) { try coffer.removeSlot(id) }
    #expect(throws: CofferError.slotRequired) { try coffer.addSlot(newPhrase()) }
    #expect(throws: CofferError.slotRequired) { try coffer.addSlot(passphrase()) }
    #expect(throws: CofferError.slotRequired) { try coffer.changePassphrase(to: passphrase()) }
    #expect(throws: CofferError.slotRequired) { try coffer.resetPassphrase(to: passphrase()) }
    #expect(throws: CofferError.slotRequired) { try coffer.forgetDevice() }
    #expect(throws: CofferError.slotRequired) { try coffer.beginSession(executable: "/nonexistent") }
    #expect(try coffer.slots().count == 2)
    #expect(try coffer.device() != nil)
  }
}
