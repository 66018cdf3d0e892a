// SPDX-License-Identifier: Apache-2.0

import Primitives
import Secrets
import Testing

@testable import Histories
@testable import HistoriesSimulator

@Suite("Bytes of a request to be enrolled")
struct JoinRequestFormatTests {
  private var samples = Samples()
  private let secret = SharedSecretBytes(testing: [UInt8](repeating: 8, count: 16))
  private let id: RequestID
  private let request: JoinRequest

  init() {
    id = RequestID(beginningOf: samples.machine.random(16))
    request = JoinRequest(
      device: DeviceEntry(
        id: samples.device, signingKey: samples.machine.signing.publicKey,
        agreementKey: samples.machine.agreement.publicKey, level: 2, name: "laptop", replaces: nil),
      madeAt: 1_760_000_000)
  }

  private func sealed() -> [UInt8] { request.seal(id: id, account: samples.account, urlSecret: secret) }

  @Test("A request opens with the card's secret, and has no byte of the device in it")
  func roundTrip() throws {
    let object = sealed()
    #expect(object.count <= JoinRequest.byteCountLimit)
    let read = try JoinRequest(object, id: id, account: samples.account, urlSecret: secret)
    #expect(read == request)
    #expect(read.device.fingerprint(in: samples.account) == request.device.fingerprint(in: samples.account))
    for part in [samples.device.bytes, request.device.signingKey, Array("laptop".utf8)] {
      #expect(object.firstRange(of: part) == nil)
    }
    // The longest name still fits.
    let long = JoinRequest(
      device: DeviceEntry(
        id: samples.device, signingKey: request.device.signingKey, agreementKey: request.device.agreementKey,
        level: 1, name: String(repeating: "n", count: DeviceEntry.nameByteCountLimit), replaces: nil),
      madeAt: .max)
    let longest = long.seal(id: id, account: samples.account, urlSecret: secret)
    #expect(try JoinRequest(longest, id: id, account: samples.account, urlSecret: secret) == long)
  }

  @Test("The example keeps its bytes")
  func example() {
    #expect(digest(sealed()) == "a34895df16ba45d34b9c70ff10fe4d381fccd7a4ac5cf26f3ff50787d6f73b6e")
    #expect(
      digest(request.device.fingerprint(in: samples.account))
        == "b222664bad30f375d9a9ae7e4f32c471612bc3d19b0de1eaba2c422637f7a785")
  }

  @Test("Another card, another account and another name open nothing")
  func wrongPlaces() {
    let object = sealed()
    let other = SharedSecretBytes(testing: [UInt8](repeating: 9, count: 16))
    #expect(throws: FormatError.notAuthentic) {
      try JoinRequest(object, id: id, account: samples.account, urlSecret: other)
    }
    #expect(throws: FormatError.notAuthentic) {
      try JoinRequest(object, id: id, account: samples.otherAccount, urlSecret: secret)
    }
    #expect(throws: FormatError.notAuthentic) {
      try JoinRequest(
        object, id: RequestID(beginningOf: samples.device.bytes), account: samples.account, urlSecret: secret)
    }
  }

  @Test("Each changed byte is refused, and each other length")
  func changedBytes() {
    expectEachByteGuards(sealed()) {
      _ = try JoinRequest($0, id: id, account: samples.account, urlSecret: secret)
    }
    #expect(throws: FormatError.tooLarge) {
      try JoinRequest(
        [UInt8](repeating: 0, count: 513), id: id, account: samples.account, urlSecret: secret)
    }
  }

  @Test("Each key, the level, the name and the account change the fingerprint")
  func fingerprint() {
    let device = request.device
    func entry(
      signing: [UInt8]? = nil, agreement: [UInt8]? = nil, level: UInt8 = 2, name: String = "laptop"
    ) -> JoinRequest {
      JoinRequest(
        device: DeviceEntry(
          id: device.id, signingKey: signing ?? device.signingKey,
          agreementKey: agreement ?? device.agreementKey,
          level: level, name: name, replaces: nil), madeAt: request.madeAt)
    }
    let fingerprints = [
      entry(), entry(signing: device.agreementKey), entry(agreement: device.signingKey), entry(level: 1),
      entry(name: "laptoq"),
    ].map { $0.device.fingerprint(in: samples.account) }
    #expect(
      Set(fingerprints).count == 5 && fingerprints[0] == request.device.fingerprint(in: samples.account))
    #expect(request.device.fingerprint(in: samples.otherAccount) != fingerprints[0])
  }

  @Test("A request is void after seven days, and from a future that no clock explains")
  func lifetime() {
    let made = request.madeAt
    for (now, isVoid) in [
      (made, false), (made + 7 * 86_400, false), (made + 7 * 86_400 + 1, true), (made - 86_400, false),
      (made - 86_401, true),
    ] { #expect(request.isVoid(at: now) == isVoid, "\(now)") }
    let last = JoinRequest(device: request.device, madeAt: .max)
    #expect(last.isVoid(at: 0) && !last.isVoid(at: .max))
  }
}
