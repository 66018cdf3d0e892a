// SPDX-License-Identifier: Apache-2.0
//
// The life of an identity: made, backed up, taken from a file, given another end, revoked.

import CofferKit
import Foundation
import Glibc
import GnuPG
import Identities
import KeyCustody
import Keychains
import OpenPGP
import Primitives
import Secrets

extension Operation {
  static let identities =
    [true, false].flatMap { isUniversal in
      let profile = isUniversal ? "universal" : "advanced"
      return [
        Operation("make an identity, \(profile)") { try $0.withIdentity(isUniversal) { _, _, _ in } },
        Operation("back up an identity, \(profile)") { workspace in
          try workspace.withIdentity(isUniversal) { coffer, open, identity in
            try workspace.backUp(coffer, open, identity)
          }
        },
        Operation("import an identity from its backup, \(profile)") { workspace in
          try workspace.withIdentity(isUniversal) { coffer, open, identity in
            try workspace.importBackup(coffer, open, identity)
          }
        },
      ]
    } + [
      Operation("take an identity out of GnuPG, after a wrong passphrase") { workspace in
        try workspace.withIdentity(true) { coffer, open, identity in
          try workspace.takeFromGnuPG(coffer, open, identity)
        }
      },
      Operation("give an identity another end") { workspace in
        try workspace.withIdentity(true) { coffer, open, identity in
          let changed = try coffer.makeChange(.end(nil), of: identity, open, coffer.authorization())
          try expect(changed.expires == nil, "it never ends")
        }
      },
      Operation("revoke an identity") { workspace in
        try workspace.withIdentity(true) { coffer, open, identity in
          let changed = try coffer.makeChange(
            .revocation(.superseded), of: identity, open, coffer.authorization())
          try expect(changed.state == .revoked, "it is revoked")
        }
      },
    ]
}

extension Workspace {
  /// Makes a coffer with an identity, of whose secret parts the parent is told, and lends it.
  @inline(never)
  fileprivate func withIdentity(
    _ isUniversal: Bool, _ body: (Coffer, OpenIdentities, Identity) throws -> Void
  ) throws {
    try withIdentity(isUniversal, passphrase(), body)
  }

  /// - Parameter passphrase: of the coffer.
  @inline(never)
  func withIdentity(
    _ isUniversal: Bool, _ passphrase: borrowing Passphrase,
    _ body: (Coffer, OpenIdentities, Identity) throws -> Void
  ) throws {
    try makeCoffer(passphrase)
    try withCoffer(passphrase) { coffer in
      let open = try coffer.openIdentities()
      // With the algorithms of RFC 9980, which come with classical ones in every key.
      let wanted = try NewIdentity(
        userIDs: [UserIDText(new: "Leak Probe")], isUniversal: isUniversal, isPostQuantum: true)
      let identity = try coffer.generateIdentity(wanted, open, coffer.authorization())
      try tellParts(of: identity, coffer)
      try body(coffer, open, identity)
      try coffer.protectedDomains().relock()
    }
  }

  /// Tells of every secret part of an identity.
  @inline(never)
  func tellParts(of identity: Identity, _ coffer: Coffer) throws {
    let custody = try coffer.openPrivateKeys().custody
    try custody.withPrivateKey(identity.certificate.fingerprint, coffer.authorization()) { bytes, _ in
      let source = MemorySource(SharedSecretBytes(SecretBytes(copying: bytes)))
      for secret in try TransferableSecretKey.readAll(source)[0].secrets.values {
        // Without the two octets of a checksum, of version 4, and the length before the number.
        secret.protectedMaterial.withBytes { material in
          let (start, end) = identity.version == 4 ? (2, material.byteCount - 2) : (0, material.byteCount)
          SecretReport.tell("private key", material.extracting(start..<end))
        }
      }
    }
  }

  @inline(never)
  fileprivate func backUp(_ coffer: Coffer, _ open: OpenIdentities, _ identity: Identity) throws {
    let passphrase = SharedSecretBytes(text("passphrase of the backup", byteCount: 24))
    let target = try BackupTarget(path: given + "/backup")
    try coffer.backUp(identity, open, to: target, under: passphrase, coffer.authorization())
    try expect(coffer.identities(open).first?.isBackedUp == true, "the date is noted")
  }

  @inline(never)
  fileprivate func importBackup(_ coffer: Coffer, _ open: OpenIdentities, _ identity: Identity) throws {
    let passphrase = SharedSecretBytes(text("passphrase of the backup", byteCount: 24))
    let path = given + "/backup"
    let target = try BackupTarget(path: path)
    try coffer.backUp(identity, open, to: target, under: passphrase, coffer.authorization())
    try coffer.deleteIdentity(identity, open, acknowledgesMissingBackup: true)
    let wrong = SharedSecretBytes(text("wrong passphrase", byteCount: 24))
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
    try expect(descriptor >= 0, "the backup is there")
    defer { Glibc.close(descriptor) }
    let file = try SecretBytes.read(fromDescriptor: descriptor, byteCountLimit: KeyFile.byteCountLimit)
    let key = try coffer.keyFile(SharedSecretBytes(file)).keys[0]
    try expectThrow("a wrong passphrase") { _ = try key.opened([wrong]) }
    try coffer.importIdentities([key.opened([passphrase])], open, coffer.authorization())
    try expect(coffer.identities(open).count == 1, "it is here again")
  }

  /// A program that stands in for gpg refuses the first passphrase, and gives out a protected key for the second.
  @inline(never)
  fileprivate func takeFromGnuPG(_ coffer: Coffer, _ open: OpenIdentities, _ identity: Identity) throws {
    let passphrase = SharedSecretBytes(text("passphrase in GnuPG", byteCount: 24))
    let path = given + "/backup"
    let target = try BackupTarget(path: path)
    try coffer.backUp(identity, open, to: target, under: passphrase, coffer.authorization())
    try coffer.deleteIdentity(identity, open, acknowledgesMissingBackup: true)
    let script = """
      #!/bin/sh
      case "$*" in --version) echo 'gpg (GnuPG) 2.4.0'; exit ;; esac
      cat <&4 >/dev/null
      [ -e '\(path).tried' ] && exec cat '\(path)'
      : >'\(path).tried'
      echo '[GNUPG:] ERROR export_keys.secret 67108875' >&3
      exit 2

      """
    try write(Array(script.utf8).span.bytes, to: path + ".gpg")
    try expect(chmod(path + ".gpg", 0o700) == 0, "the program can be run")
    let gpg = try GnuPG(
      program: path + ".gpg", home: given, variables: ProcessInfo.processInfo.environment)
    let wrong = SharedSecretBytes(text("wrong passphrase", byteCount: 24))
    try expectThrow("a wrong passphrase") {
      _ = try gpg.privatePart(identity.fingerprint, asking: .passphrase(wrong))
    }
    let part = SharedSecretBytes(try gpg.privatePart(identity.fingerprint, asking: .passphrase(passphrase)))
    let key = try coffer.keyFile(part).keys[0]
    try coffer.importIdentities([key.opened([passphrase])], open, coffer.authorization())
    try expect(coffer.identities(open).count == 1, "it is here again")
  }
}
