// SPDX-License-Identifier: Apache-2.0
//
// Security keys through libfido2, with an authenticator in software in this process: it keeps neither PIN nor secret.

#if SecurityKeys
  import SecurityKeys
  import SoftwareSecurityKey
#endif
import KeyCustody
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
  }
#endif
