// SPDX-License-Identifier: Apache-2.0
//
// A bus that accepts a connection and does not answer.

import Extents
import Foundation
import Testing

@testable import Agent

@Suite("A desktop that does not answer the agent")
struct WatchConnectorTests {
  @Test(
    "The agent hears clients, limits and its end while the desktop does not answer, and later the desktop")
  func deaf() throws {
    let answers = DispatchSemaphore(value: 0)
    let asked = DispatchSemaphore(value: 0)
    let watch = TestWatch()
    let served = try ServedHome(patience: .zero) {
      asked.signal()
      answers.wait()
      return watch
    }
    defer { served.end() }
    asked.wait()
    let client = try served.client()
    try client.give(someKeys(), binding: binding(), slot: UUID())
    #expect(try client.status().state == .unlocked)
    #expect(try client.status().sessionWatch == .absent)
    // The limit takes the key away all the same.
    served.clock.advance(seconds: 300)
    try served.wait(for: .locked)
    try client.give(someKeys(), binding: binding(), slot: UUID())
    try client.lock()
    #expect(try client.status().state == .locked)
    answers.signal()
    try eventually { try client.status().sessionWatch == .watched }
    try client.give(someKeys(), binding: binding(), slot: UUID())
    watch.send(.locked)
    try served.wait(for: .locked)
  }

  @Test("The end of the agent does not wait for the desktop")
  func ends() throws {
    let answers = DispatchSemaphore(value: 0)
    let served = try ServedHome(patience: .zero) {
      answers.wait()
      return nil
    }
    try served.client().give(someKeys(), binding: binding(), slot: UUID())
    served.end()
    #expect(served.holder.page.held == 0)
    answers.signal()
  }
}
