// SPDX-License-Identifier: Apache-2.0
//
// The worked example of Specs/remote.md.

import Primitives
import Secrets
import SpecExamples
import Testing

@testable import Histories
@testable import HistoriesSimulator

@Suite("The page of objects at a remote")
struct RemoteSpecTests {
  @Test("the segment of the page opens, says what the page says, and is sealed to the same bytes")
  func segment() throws {
    let page = try SpecExample(page: "remote.md")
    let keys = EpochKeys(number: 1, key: SharedSecretBytes(testing: try page.bytes("epoch key")))
    var name: [UInt8] = []
    name.append(keys.name)
    #expect(try name == page.bytes("epoch name"))
    let account = try #require(AccountID(try page.bytes("account")))
    let device = try #require(DeviceID(try page.bytes("device")))
    let object = try page.bytes("segment")

    let opened = try SegmentSeal.open(object, account: account, device: device, number: 1, keys: keys)
    #expect(opened.signedBytes == (try page.bytes("body")))
    let publicKey = try page.bytes("signing key")
    #expect(SeededMachine(run: 1).isSignature(opened.signature, of: opened.signedBytes, by: publicKey))
    guard case .add(let addition) = try #require(opened.segment.operations.first) else {
      Issue.record("the operation is an addition")
      return
    }
    #expect(addition.hasItsVersion(device: device))
    #expect(addition.frameHash == FrameHash(hashing: Array("a frame".utf8)))

    let again = SegmentSeal.seal(
      signedBytes: opened.segment.body(), signature: opened.signature, segment: opened.segment, keys: keys)
    #expect(again == object)
  }
}
