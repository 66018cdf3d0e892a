// SPDX-License-Identifier: Apache-2.0
//
// What is refused because it does not fit, or cannot be sealed to: an outcome each, and nothing of it stays.

import Primitives
import Secrets
import Testing

@testable import Histories
@testable import HistoriesSimulator

@Suite("Limits of histories")
struct LimitTests {
  /// Bytes in the form of a point that are not on any curve here.
  private static let noPoint = [4] + [UInt8](repeating: 1, count: 64)

  private func device(_ simulation: inout Simulation, signing: [UInt8]? = nil, agreement: [UInt8]? = nil)
    -> DeviceEntry
  {
    let machine = simulation.newMachine()
    return DeviceEntry(
      id: simulation.identifier(), signingKey: signing ?? machine.signing.publicKey,
      agreementKey: agreement ?? machine.agreement.publicKey, level: 2, name: "device", replaces: nil)
  }

  private func slot(_ simulation: inout Simulation, agreement: [UInt8]) -> SlotEntry {
    SlotEntry(
      id: simulation.identifier(), kind: .words, agreementKey: agreement,
      object: ObjectHash(hashing: simulation.bytes(8)))
  }

  @Test("A key that is not a point is refused when it is added") func added() throws {
    var simulation = RuleTests.pair()
    let opened = try #require(simulation.slots.first)
    let known = Set(simulation.computers[0].history.log.entries.keys)
    let bad = slot(&simulation, agreement: Self.noPoint)
    let changes: [AccountChange] = [
      .approve(device(&simulation, signing: Self.noPoint)),
      .approve(device(&simulation, agreement: Self.noPoint)),
      .rejoin(device(&simulation, agreement: Self.noPoint)), .addSlot(bad),
      .replaceSlots(removing: [opened.id], adding: [bad]),
    ]
    for change in changes {
      simulation.step(0, .account(change, opened, at: 1))
      #expect(simulation.computers[0].outcome == .keyInvalid)
    }
    var named = device(&simulation)
    named = DeviceEntry(
      id: named.id, signingKey: named.signingKey, agreementKey: named.agreementKey, level: 3, name: "device",
      replaces: nil)
    simulation.step(0, .account(.approve(named), opened, at: 1))
    #expect(simulation.computers[0].outcome == .keyInvalid)
    #expect(Set(simulation.computers[0].history.log.entries.keys) == known)
    #expect(simulation.computers[0].history.keys.count == 1)
  }

  @Test("On the real curve too") func realCurve() {
    let machine = SeededMachine(run: 1)
    #expect(!machine.isPublicKey(Self.noPoint))
    #expect(!machine.isPublicKey([4]))
    #expect(machine.isPublicKey(machine.agreement.publicKey))
  }

  @Test("An operation that brings such a key is refused, and stops nobody") func brought() throws {
    for isDevice in [true, false] {
      var simulation = RuleTests.pair()
      let owner = try #require(simulation.slots.first).owner
      let history = simulation.computers[0].history
      let keys = try #require(history.keys.values.first)
      let operation = ControlOperation(
        account: history.account, random: simulation.bytes(16), generation: 1,
        number: (history.log.heads.compactMap { history.log.entries[$0]?.operation.number }.max() ?? 0) + 1,
        parents: history.log.heads, frontier: [], envelopesHash: ControlSeal.hash(ofEnvelopes: []),
        handsOut: [],
        kind: isDevice
          ? .addDevice(device(&simulation, agreement: Self.noPoint))
          : .addSlot(slot(&simulation, agreement: Self.noPoint)))
      let signed = SignedControlOperation(
        operation,
        signature: simulation.computers[0].machine.signature(of: operation.signedBytes(), by: .memory(owner)))
      let object = ControlSeal.seal(signed, envelopes: [], account: history.account, keys: keys)
      let name = ObjectName.control(number: operation.number, ObjectHash(hashing: object))
      simulation.server.write(object, as: name, by: -1)
      simulation.perform(.run(device: 1, .sync, seed: 0))
      #expect(simulation.computers[1].history.alarms == [.tampered(name)])
      #expect(simulation.computers[1].history.log.heads == history.log.heads)
      simulation.perform(.handOutKeys(by: 1))
      #expect(simulation.computers[1].outcome == .complete)
    }
  }

  @Test("No epoch is begun whose key an envelope has no room for") func epochs() throws {
    var simulation = RuleTests.pair()
    simulation.computers[0].history.limits.epochCount = 3
    for _ in 0..<2 {
      simulation.perform(.handOutKeys(by: 0))
      #expect(simulation.computers[0].outcome == .complete)
    }
    let before = simulation.computers[0].history
    #expect(before.keys.count == 3)
    let changes: [AccountChange] = [
      .handOutKeys, .revoke([simulation.computers[1].history.device], heads: nil),
      .rejoin(device(&simulation)),
    ]
    for change in changes {
      simulation.step(0, .account(change, simulation.slots[0], at: 1))
      #expect(simulation.computers[0].outcome == .tooManyEpochs)
    }
    #expect(simulation.computers[0].history.log.heads == before.log.heads)
    #expect(simulation.computers[0].history.device == before.device)
    #expect(simulation.computers[0].history.keys.count == 3)
    // What begins none goes on.
    simulation.perform(.enrol(by: 0))
    #expect(simulation.computers.count == 3)
    simulation.perform(.run(device: 0, .sync, seed: 0))
    #expect(simulation.computers[0].outcome == .complete)
  }

  @Test("An envelope holds as many epochs as it says, and no more") func envelope() {
    var machine = KeyedHashMachine(run: 5, table: KeyTable())
    let keys = (1...Envelope.epochCountLimit).map {
      EpochKeys(number: UInt32($0), key: machine.randomSecret(32))
    }
    #expect(keys.count == 1_812)
    let envelope = Envelope.seal(
      EnvelopeContents(epochKeys: keys, urlSecret: machine.randomSecret(16), owner: machine.makeKeyPair()),
      to: .device(DeviceID(beginningOf: machine.random(16))), publicKey: machine.agreement.publicKey,
      epoch: keys[0].name, account: AccountID(beginningOf: machine.random(16)), machine: &machine)
    #expect(envelope.count <= Envelope.byteCountLimit)
    #expect(envelope.count + EnvelopeContents.epochByteCount > Envelope.byteCountLimit)
  }

  @Test("A slot whose owner key is another one than it says changes nothing") func otherOwner() throws {
    var simulation = RuleTests.pair()
    let slot = try #require(simulation.slots.first)
    var machine = simulation.newMachine()
    let wrong = OpenedSlot(
      id: slot.id, agreement: slot.agreement,
      owner: KeyPair(privateKey: machine.makeKeyPair().privateKey, publicKey: slot.owner.publicKey),
      anchor: nil)
    let before = simulation.computers[0].history
    for change: AccountChange in [.handOutKeys, .approve(device(&simulation))] {
      simulation.step(0, .account(change, wrong, at: 1))
      #expect(simulation.computers[0].outcome == .notOwner)
    }
    #expect(simulation.computers[0].history.log.heads == before.log.heads)
    #expect(Set(simulation.computers[0].history.keys.keys) == Set(before.keys.keys))
  }

  @Test("Devices and heads that are named twice are revoked once") func twice() {
    var simulation = RuleTests.pair()
    simulation.perform(.add(device: 1, content: 1))
    simulation.perform(.run(device: 1, .sync, seed: 0))
    simulation.perform(.run(device: 0, .sync, seed: 0))
    let gone = simulation.computers[1].history.device
    let heads = simulation.computers[0].history.chains.heads[gone] ?? []
    simulation.step(0, .account(.revoke([gone, gone], heads: heads + heads), simulation.slots[0], at: 1))
    #expect(simulation.computers[0].outcome == .complete)
    #expect(simulation.computers[0].history.membership.revocations[gone]?.map(\.heads) == [heads])
  }
}
