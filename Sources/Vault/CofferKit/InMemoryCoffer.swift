// SPDX-License-Identifier: Apache-2.0
//
// A coffer in memory, for practice: made and opened by the same code as one on a disk. There is no directory, no
// agent and no way to either: it ends with the process.

internal import Enclaves
package import Keychains
package import Secrets
internal import Storage
internal import Synchronization
package import Vaults

/// A coffer that is nowhere but in this process, with a session that is open.
package final class InMemoryCoffer: Sendable {
  /// The machine it is on.
  package let machine: Machine
  private let file: DatabaseFile
  private let clock: VaultClock
  private let session: InMemorySession

  /// Makes one. Its keys are in the machine's enclave for new keys.
  /// - Parameter kdf: for the passphrase; an attacker has nothing to try it on, so it may cost little.
  /// - Throws: `CofferError.weakPassphrase`; as `Coffer.create`.
  package init(
    passphrase: borrowing Passphrase, kdf: SlotKDF, machine: Machine, clock: VaultClock = .system
  ) throws {
    let assessment = PassphrasePolicy.usual.check(passphrase)
    guard assessment.isAccepted else { throw CofferError.weakPassphrase(assessment.problems) }
    let (keybag, unlocked) = try Keybag.create(
      SlotCredential(passphrase), kdf: kdf, keychain: .file, now: clock.now())
    let enclave = try machine.enclaveForNewKeys()
    file = try DatabaseFile.createInMemory { file in
      try Coffer.populate(
        file, keybag, unlocked.keys, enclave: enclave, policy: .usual, clock: clock)
    }
    session = InMemorySession(unlocked.keys.withoutOwner())
    self.machine = machine
    self.clock = clock
  }

  /// The coffer as a command finds it. Its ``AgentSession`` has the keys that an agent would keep.
  package func locked() throws -> LockedCoffer {
    try LockedCoffer(inMemory: file, machine: machine, clock: clock, session: session)
  }

  /// The coffer, opened with its session's keys.
  package func open() throws -> Coffer { try locked().unlock(session.keys) }
}

/// What an agent keeps of a coffer, kept by this process.
final class InMemorySession: Sendable {
  /// Without the owner key, as an agent has them.
  let keys: ClassKeys
  private let grace = Mutex<(passcode: SharedSecretBytes, end: ContinuousClock.Instant)?>(nil)

  init(_ keys: ClassKeys) { self.keys = keys }

  /// The passcode of private keys, within the grace period.
  func passcode() -> SharedSecretBytes? {
    grace.withLock { grace in
      if let end = grace?.end, end <= .now { grace = nil }
      return grace?.passcode
    }
  }

  func keep(_ passcode: SharedSecretBytes, seconds: Int) {
    grace.withLock { $0 = (passcode, .now + .seconds(seconds)) }
  }

  func dropPasscode() { grace.withLock { $0 = nil } }
}
