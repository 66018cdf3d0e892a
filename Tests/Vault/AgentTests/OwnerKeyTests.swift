// SPDX-License-Identifier: Apache-2.0
//
// The owner key of a keybag shows that the person is there: it does not go to the agent, and so does not come
// back from one.

import Foundation
import Glibc
import Keychains
import Primitives
import Secrets
import Testing

@testable import Agent

@Suite("The owner key and the agent")
struct OwnerKeyTests {
  private let keybag: Keybag
  private let opened: Keybag.Unlocked

  init() throws {
    (keybag, opened) = try Keybag.create(
      Self.credential("one"), kdf: .pbkdf2(iterations: 10), now: 1_700_000_000)
  }

  @Test("An agent that was given the keys of an open slot hands back the class keys alone")
  func handedBack() throws {
    let served = try ServedHome()
    defer { served.end() }
    let client = try served.client()
    #expect(opened.keys.owner != nil)
    try client.give(opened.keys, binding: binding(), slot: opened.slot.id)
    for selection in AgentKeySelection.allCases {
      #expect(try client.keys(selection, binding: binding()).keys.owner == nil)
    }
    let keys = try client.keys(.all, binding: binding()).keys
    #expect(isSame(keys.whenUnlocked, opened.keys.whenUnlocked))
    #expect(isSame(keys.afterFirstUnlock, opened.keys.afterFirstUnlock))
  }

  @Test("What is sent are two keys, and neither is the owner key")
  func sent() throws {
    let folder = try RuntimeFolder()
    let place = try folder.place()
    let listening = try AgentServer.Listening(place)
    let client = try #require(AgentClient.connect(place))
    let accepted = accept(listening.descriptor, nil, nil)
    defer { close(accepted) }
    // The answer is there before the question: «done».
    let answer = AgentHeader(kind: 2).bytes
    #expect(send(accepted, answer, answer.count, 0) == answer.count)
    try client.give(opened.keys, binding: binding(), slot: opened.slot.id)
    var packet = [UInt8](repeating: 0, count: 1_000)
    let count = recv(accepted, &packet, packet.count, 0)
    #expect(count == 120)
    let owner = try #require(exposed(opened.keys.owner))
    let sent = Data(packet.prefix(max(count, 0)))
    #expect(sent.range(of: try #require(exposed(opened.keys.whenUnlocked))) != nil)
    for half in [owner.prefix(16), owner.suffix(16)] { #expect(sent.range(of: Data(half)) == nil) }
    listening.end()
  }

  @Test("With an agent's keys no slot changes, although they are those of the coffer")
  func slots() throws {
    let served = try ServedHome()
    defer { served.end() }
    let client = try served.client()
    try client.give(opened.keys, binding: binding(), slot: opened.slot.id)
    let keys = try client.keys(.all, binding: binding()).keys
    #expect(throws: Never.self) { try keybag.validate(keys) }
    var changed = keybag
    #expect(throws: KeybagError.wrongSecret) {
      try changed.addSlot(Self.credential("two"), kdf: .pbkdf2(iterations: 10), keys: keys, now: 2)
    }
    #expect(throws: KeybagError.wrongSecret) {
      try changed.replaceSlot(
        opened.slot.id, by: Self.credential("two"), kdf: .pbkdf2(iterations: 10), keys: keys, now: 2)
    }
    #expect(throws: KeybagError.wrongSecret) { try changed.removeSlot(opened.slot.id, keys: keys) }
    #expect(changed == keybag)
  }

  private func exposed(_ secret: SharedSecretBytes?) -> Data? {
    secret?.withBytes { bytes in bytes.withUnsafeBytes { Data($0) } }
  }

  private static func credential(_ text: String) throws -> SlotCredential {
    SlotCredential(try Passphrase(utf8: SecretBytes(copying: Array(text.utf8).span.bytes)))
  }
}
