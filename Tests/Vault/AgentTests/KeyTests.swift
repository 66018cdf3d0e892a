// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keychains
import Testing

@testable import Agent

@Suite("Keys given to the agent")
struct KeyTests {
  @Test("Both keys come back exactly, with the slot, as often as asked", arguments: [false, true])
  func roundTrip(ordinary: Bool) throws {
    var options = AgentOptions()
    options.usesOrdinaryMemory = ordinary
    let served = try ServedHome(options: options)
    defer { served.end() }
    let (keys, slot) = (someKeys(), UUID())
    try served.client().give(keys, binding: binding(), slot: slot)
    let client = try served.client()
    for _ in 1...3 {
      let got = try client.keys(.all, binding: binding())
      #expect(isSame(got.keys.whenUnlocked, keys.whenUnlocked))
      #expect(isSame(got.keys.afterFirstUnlock, keys.afterFirstUnlock))
      #expect(got.slot == slot)
    }
    let one = try client.keys(.afterFirstUnlock, binding: binding())
    #expect(one.keys.whenUnlocked == nil)
    #expect(isSame(one.keys.afterFirstUnlock, keys.afterFirstUnlock))
    #expect(one.slot == slot)
    if ordinary { #expect(try client.status().keyMemory == .locked) }
  }

  @Test("An agent that was never given keys has none")
  func neverUnlocked() throws {
    let served = try ServedHome()
    defer { served.end() }
    let client = try served.client()
    #expect(try client.status().state == .neverUnlocked)
    for selection in AgentKeySelection.allCases {
      #expect(throws: AgentError.locked) { try client.keys(selection, binding: binding()) }
    }
    try client.lock()
    #expect(try client.status().state == .neverUnlocked)
  }

  @Test("Keys of one coffer are not handed out for another")
  func otherBinding() throws {
    let served = try ServedHome()
    defer { served.end() }
    let client = try served.client()
    try client.give(someKeys(), binding: binding(), slot: UUID())
    for selection in AgentKeySelection.allCases {
      #expect(throws: AgentError.otherCoffer) { try client.keys(selection, binding: binding("another")) }
    }
    #expect(try client.keys(.all, binding: binding()).keys.whenUnlocked != nil)
  }

  @Test("New keys take the place of the former ones, and of what they belonged to")
  func replaced() throws {
    let served = try ServedHome()
    defer { served.end() }
    let client = try served.client()
    try client.give(someKeys(), binding: binding("first"), slot: UUID())
    let (keys, slot) = (someKeys(), UUID())
    try client.give(keys, binding: binding("second"), slot: slot)
    #expect(throws: AgentError.otherCoffer) { try client.keys(.all, binding: binding("first")) }
    let got = try client.keys(.all, binding: binding("second"))
    #expect(isSame(got.keys.whenUnlocked, keys.whenUnlocked))
    #expect(isSame(got.keys.afterFirstUnlock, keys.afterFirstUnlock))
    #expect(got.slot == slot)
  }

  @Test("Giving needs both keys")
  func missingKey() throws {
    let served = try ServedHome()
    defer { served.end() }
    let client = try served.client()
    #expect(throws: AgentError.missingKey) {
      try client.give(someKeys().locked(), binding: binding(), slot: UUID())
    }
    #expect(try client.status().state == .neverUnlocked)
  }

  @Test("Locking leaves the after-first-unlock key, and unlocking brings the other back")
  func lock() throws {
    let served = try ServedHome()
    defer { served.end() }
    let (client, keys) = (try served.client(), someKeys())
    try client.give(keys, binding: binding(), slot: UUID())
    try client.lock()
    #expect(try client.status().state == .locked)
    let left = try client.keys(.all, binding: binding())
    #expect(left.keys.whenUnlocked == nil)
    #expect(isSame(left.keys.afterFirstUnlock, keys.afterFirstUnlock))
    try client.give(keys, binding: binding(), slot: UUID())
    #expect(isSame(try client.keys(.all, binding: binding()).keys.whenUnlocked, keys.whenUnlocked))
  }

  @Test("After logout there is no agent, and its place is free")
  func logout() throws {
    let served = try ServedHome()
    defer { served.end() }
    let client = try served.client()
    try client.give(someKeys(), binding: binding(), slot: UUID())
    try client.logout()
    #expect(AgentClient.connect(served.place) == nil)
    #expect(!FileManager.default.fileExists(atPath: served.place.socket))
    _ = try AgentServer.Listening(served.place)
    served.waitForEnd()
    #expect(served.holder.page.held == 0 && served.holder.binding == nil && served.holder.slot == nil)
    #expect(throws: AgentError.notAnswering) { try client.status() }
  }

  @Test("Status tells what there is, and when it goes")
  func status() throws {
    let served = try ServedHome()
    defer { served.end() }
    let client = try served.client()
    var status = try client.status()
    #expect(status.processID == getpid())
    #expect(status.idleLimitSeconds == 300 && status.absoluteLimitSeconds == 28_800)
    #expect(status.secondsUntilIdle == nil && status.binding == nil && status.slot == nil)
    #expect(!status.isPressureWatched && status.sessionWatch != .watched)
    let slot = UUID()
    try client.give(someKeys(), binding: binding(), slot: slot)
    served.clock.advance(seconds: 10.5)
    status = try client.status()
    #expect(status.secondsUntilIdle == 290 && status.secondsUntilAbsolute == 28_790)
    #expect(status.binding == binding() && status.slot == slot)
  }

  @Test("A thousand keys in and out stay the same ones")
  func manyRounds() throws {
    let served = try ServedHome()
    defer { served.end() }
    let client = try served.client()
    for _ in 1...500 {
      let keys = someKeys()
      try client.give(keys, binding: binding(), slot: UUID())
      let got = try client.keys(.all, binding: binding()).keys
      #expect(isSame(got.whenUnlocked, keys.whenUnlocked))
      #expect(isSame(got.afterFirstUnlock, keys.afterFirstUnlock))
    }
  }
}
