// SPDX-License-Identifier: Apache-2.0
//
// Security keys through libfido2, with an authenticator in software in this process: it keeps neither PIN nor secret.

#if SecurityKeys
  import SecurityKeys
  import SoftwareSecurityKey
#endif
import CofferKit
import KeyCustody
import Keychains
import Secrets

extension Operation {
  #if SecurityKeys
    static let securityKeys = [
      Operation("enrol a security key") { try $0.enrol { _, _, _ in } },
      Operation("use a security key, and open a guard with it") { workspace in
        try workspace.enrol { key, made, pin in
          let answer = try key.device().secret(
            of: [made.credential], salt: Workspace.salt, .pin(pin), SecurityKeyAttempt())
          try expect(answer.credential == made.credential, "the key answers")
          _ = try GuardKey("key", answer)
        }
      },
      Operation("refuse a wrong PIN of a security key") { workspace in
        try workspace.enrol { key, made, _ in
          let wrong = workspace.pin("wrong PIN of the security key")
          try expectThrow("a wrong PIN") {
            _ = try key.device().secret(
              of: [made.credential], salt: Workspace.salt, .pin(wrong), SecurityKeyAttempt())
          }
        }
      },
      Operation("take a security key out while it waits") { workspace in
        try workspace.enrol { key, made, pin in
          key.behaviour.touch = .unplugged
          try expectThrow("a key that is gone") {
            _ = try key.device().secret(
              of: [made.credential], salt: Workspace.salt, .pin(pin), SecurityKeyAttempt())
          }
        }
      },
      Operation("add a security key's slot") { try $0.makeCofferWithKey { _, _ in } },
      Operation("unlock with a security key") { workspace in
        try workspace.makeCofferWithKey { key, pin in
          let (locked, answer) = try workspace.ask(key, pin)
          try locked.unlock(answer).close()
        }
      },
      Operation("a wrong PIN of a security key with a slot") { workspace in
        try workspace.makeCofferWithKey { key, _ in
          let wrong = workspace.pin("wrong PIN of the security key")
          try expectThrow("a wrong PIN") { _ = try workspace.ask(key, wrong) }
        }
      },
      Operation("take a security key with a slot out while it waits") { workspace in
        try workspace.makeCofferWithKey { key, pin in
          key.behaviour.touch = .unplugged
          try expectThrow("a key that is gone") { _ = try workspace.ask(key, pin) }
        }
      },
    ]
  #else
    static let securityKeys: [Operation] = []
  #endif
}

#if SecurityKeys
  extension Workspace {
    fileprivate static let salt = [UInt8](repeating: 7, count: 32)

    /// Enrols a security key and lends it with its PIN.
    @inline(never)
    fileprivate func enrol(
      _ body: (SoftwareSecurityKey, EnrolledSecurityKey, SharedSecretBytes) throws -> Void
    ) throws {
      let pin = pin("PIN of the security key")
      let key = SoftwareSecurityKey(pin: pin)
      let made = try key.device().enrol(.pin(pin), besides: [], salt: Self.salt, SecurityKeyAttempt())
      SecretReport.tell("secret of the security key", made.secret)
      try body(key, made, pin)
    }

    /// Makes a coffer that a security key opens too, and lends the key with its PIN.
    @inline(never)
    fileprivate func makeCofferWithKey(_ body: (SoftwareSecurityKey, SharedSecretBytes) throws -> Void) throws
    {
      let passphrase = try passphrase()
      try makeCoffer(passphrase)
      let pin = pin("PIN of the security key")
      let key = SoftwareSecurityKey(pin: pin)
      let coffer = try open(passphrase)
      let question = try coffer.questionForSlot(labelled: "key")
      let made = try key.device().enrol(
        .pin(pin), besides: question.credentials, salt: question.salt, SecurityKeyAttempt())
      SecretReport.tell("secret of the security key", made.secret)
      _ = try coffer.addSlot(made, label: "key", question)
      coffer.close()
      try body(key, pin)
    }

    /// Asks the key for the secret of its slot.
    @inline(never)
    fileprivate func ask(
      _ key: SoftwareSecurityKey, _ pin: SharedSecretBytes
    ) throws -> (LockedCoffer, SecurityKeyAnswer) {
      let locked = try LockedCoffer(home: home, machine: machine)
      let question = locked.securityKeyQuestion
      return (
        locked,
        try key.device().secret(
          of: question.credentials, salt: question.salt, .pin(pin), SecurityKeyAttempt())
      )
    }
  }
#endif
