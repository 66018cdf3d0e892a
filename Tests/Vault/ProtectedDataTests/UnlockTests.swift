// SPDX-License-Identifier: Apache-2.0
//
// When protected data open, and that nothing is fetched when they do not (PD-09, PD-17, PD-25).

import Enclaves
import Foundation
import ScriptedPrompts
import Secrets
import Storage
import Testing
import UserAuthentication

@testable import ProtectedData

@Suite("Unlocking protected data")
struct UnlockTests {
  /// A clock that stands still until a test moves it.
  private final class HandClock: Sendable {
    private let instant = Guarded(ContinuousClock.now)
    var now: ContinuousClock.Instant { instant.value }
    var clock: AuthenticationClock { AuthenticationClock { self.instant.value } }
    func advance(by duration: Duration) { instant.change { $0 = $0.advanced(by: duration) } }
  }

  private func context(_ hand: HandClock) throws -> AuthenticatedContext {
    let prompt = ScriptedPrompt(replies: [SharedSecretBytes(SecretBytes(copying: Array("1".utf8).span.bytes))]
    )
    return try UserAuthenticator(prompt: prompt, clock: hand.clock).evaluate(
      .deviceOwner, passcode: PromptRequest("PIN")
    ) { _ in true }
  }

  @Test("PD-09: an authenticated context opens all domains with one fetch of the root secret")
  func pd09Context() throws {
    let fixture = try ProtectedDataFixture()
    let domains = try fixture.domains()
    let report = try domains.unlock(context(HandClock()))
    #expect(report == UnlockReport(outcome: .opened, domains: domains.domains))
    #expect(report.domains.count == ProtectedDataFixture.all.count)
    #expect(fixture.enclave.agreements == 1)
    #expect(fixture.store.updateCount == 0)
  }

  @Test("PD-09: what is open is used again, without another fetch")
  func pd09Reused() throws {
    let fixture = try ProtectedDataFixture()
    let domains = try fixture.unlocked()
    let (calls, reads) = (fixture.enclave.calls, fixture.store.readCount)
    let report = try domains.unlock(.always)
    #expect(report == UnlockReport(outcome: .alreadyOpen, domains: domains.domains))
    #expect(fixture.enclave.calls == calls && fixture.store.readCount == reads)
  }

  @Test("PD-09: without leave that counts nothing is fetched, and nobody is asked")
  func pd09NoLeave() throws {
    let fixture = try ProtectedDataFixture()
    let domains = try fixture.domains()
    let hand = HandClock()
    var erased = try context(hand)
    erased.erase()
    let late = try context(hand)
    hand.advance(by: .seconds(31))
    let nothing = UnlockReport(outcome: .notAuthorised, domains: [:])
    #expect(try domains.unlock(erased) == nothing)
    #expect(try domains.unlock(late) == nothing)
    let atDeadline = SessionAuthorization(deadline: hand.now, clock: hand.clock) { true }
    #expect(try domains.unlock(atDeadline) == nothing)
    let closed = SessionAuthorization(deadline: hand.now.advanced(by: .seconds(1)), clock: hand.clock) {
      false
    }
    #expect(try domains.unlock(closed) == nothing)
    #expect(domains.state == .locked)
    #expect(fixture.enclave.calls == 0 && fixture.store.readCount == 0)
    let open = SessionAuthorization(deadline: hand.now.advanced(by: .seconds(1)), clock: hand.clock) { true }
    #expect(try domains.unlock(open).outcome == .opened)
  }

  @Test("PD-09: with no domain to open, or all of them pending, nothing is fetched")
  func pd09NothingToOpen() throws {
    let fixture = try ProtectedDataFixture()
    try fixture.changeRegistry { registry in
      for domain in ProtectedDataFixture.all { registry.entries[domain] = .pendingDelete }
      registry.entries[.contacts] = nil
    }
    let (calls, reads, content) = (fixture.enclave.calls, fixture.store.readCount, try fixture.content())
    let domains = try fixture.domains()
    let report = try domains.unlock(.always)
    #expect(report.outcome == .nothingToOpen)
    #expect(report.domains[.contacts] == .recovery(.absent))
    #expect(report.domains[.keyMetadata] == .pendingMutation)
    #expect(domains.state == .locked)
    #expect(fixture.enclave.calls == calls && fixture.store.readCount == reads)
    #expect(try fixture.content() == content)
  }

  @Test("PD-09: a domain that is being changed is skipped while another process writes, and the others open")
  func pd09Pending() throws {
    let fixture = try ProtectedDataFixture()
    try fixture.changeRegistry { $0.entries[.contacts] = .pendingDelete }
    // The fixture itself has the writer's lock.
    let other = try fixture.another()
    let before = try fixture.content()
    let report = try other.unlock(.always)
    #expect(report.outcome == .opened)
    #expect(report.domains[.contacts] == .pendingMutation)
    #expect(throws: ProtectedDataError.pendingMutation(.contacts)) { try other.read(ContactsSnapshot.self) }
    #expect(try other.read() == ProtectedSettings.initial)
    #expect(try fixture.content() == before)
  }

  @Test("PD-18: unlocking lets go of the root secret; a session keeps what is derived and no more")
  func pd18RootSecret() throws {
    let fixture = try ProtectedDataFixture()
    let domains = try fixture.unlocked()
    let kept = try #require(domains.core.withLock { $0.session?.keys })
    let expected = try fixture.rootKeys()
    #expect(
      kept.wrapping.withBytes { [UInt8](copying: $0) } == expected.wrapping.withBytes { [UInt8](copying: $0) }
    )
    #expect(Mirror(reflecting: kept).children.map(\.label) == ["wrapping", "registry"])
  }

  @Test("PD-19: each domain has a key of its own, stored only wrapped, and opens under no other")
  func pd19DomainKeys() throws {
    let fixture = try ProtectedDataFixture()
    let keys = try fixture.rootKeys()
    var seen: Set<[UInt8]> = []
    let image = try fixture.image
    for domain in ProtectedDataFixture.all {
      let row = try #require(image.rows[domain])
      let key = try #require(DomainKey.unwrap(row.wrappedKey, for: domain, keys))
      let bytes = key.withBytes { [UInt8](copying: $0) }
      seen.insert(bytes)
      #expect(Data(row.wrappedKey).range(of: Data(bytes)) == nil)
      for other in ProtectedDataFixture.all where other != domain {
        #expect(DomainKey.unwrap(row.wrappedKey, for: other, keys) == nil)
      }
    }
    #expect(seen.count == ProtectedDataFixture.all.count)
    // One domain's rows in another's place.
    for (domain, other) in [(ProtectedDomain.contacts, ProtectedDomain.keyMetadata)] {
      let (mine, theirs) = try (#require(image.rows[domain]), #require(image.rows[other]))
      for row in [
        theirs, DomainRow(wrappedKey: mine.wrappedKey, payload: theirs.payload),
        DomainRow(wrappedKey: theirs.wrappedKey, payload: mine.payload),
      ] {
        try fixture.set(domain, row)
        let state = try fixture.domains().unlock(.always).domains[domain]
        #expect(state == .recovery(row.wrappedKey == mine.wrappedKey ? .payloadCorrupt : .keyCorrupt))
      }
    }
  }

  @Test("PD-19: between two calls a session holds no domain key and no payload")
  func pd19NothingKept() throws {
    let fixture = try ProtectedDataFixture()
    let domains = try fixture.unlocked()
    try Sample.store(domains)
    try Sample.expectStored(domains)
    let session = try #require(domains.core.withLock { $0.session })
    let labels = Mirror(reflecting: session).children.compactMap(\.label)
    #expect(labels == ["keys", "revision", "generations", "domains"])
  }

  @Test("PD-17: without settings there is no grace, and no default for encrypting to oneself")
  func pd17NoSettings() {
    let now = ContinuousClock.now
    let grace = SessionGrace(settings: nil, lastAuthentication: now)
    #expect(grace.mustAuthenticate(now: now))
    #expect(throws: ProtectedDataError.settingsUnavailable) { try grace.encryptsToSelf() }
  }

  @Test("PD-25: the grace window begins with the authentication and ends before its last second is over")
  func pd25Window() throws {
    var settings = ProtectedSettings.initial
    settings.gracePeriodSeconds = 60
    let then = ContinuousClock.now
    let grace = SessionGrace(settings: settings, lastAuthentication: then)
    #expect(!grace.mustAuthenticate(now: then))
    #expect(!grace.mustAuthenticate(now: then.advanced(by: .nanoseconds(59_999_999_999))))
    #expect(grace.mustAuthenticate(now: then.advanced(by: .seconds(60))))
    // A clock that went back proves nothing.
    #expect(grace.mustAuthenticate(now: then.advanced(by: .nanoseconds(-1))))
    #expect(SessionGrace(settings: settings, lastAuthentication: nil).mustAuthenticate(now: then))
    settings.gracePeriodSeconds = 0
    #expect(SessionGrace(settings: settings, lastAuthentication: then).mustAuthenticate(now: then))
    settings.encryptToSelf = false
    #expect(try !SessionGrace(settings: settings, lastAuthentication: nil).encryptsToSelf())
  }
}
