// SPDX-License-Identifier: Apache-2.0
//
// The account of several devices, in a folder that is searched: what is in it is ciphertext.

import Captures
import CofferKit
import Enclaves
import Foundation
import Keychains
import MessageFormats
import Primitives
import Remotes
import Secrets
import Syncing

extension Operation {
  static let accounts = [
    Operation("make an account, and send") { workspace in
      try workspace.withAccount { _, _ in }
    },
    Operation("join an account, and get") { workspace in
      try workspace.withAccount { first, passphrase in
        try workspace.withSecondCoffer(passphrase) { second in
          let report = try workspace.join(second, first, AccountSecret(passphrase))
          try expect(report.outcome == .complete && report.newCount == 1, "the message came")
        }
      }
    },
    Operation("join an account with a wrong passphrase") { workspace in
      try workspace.withAccount { first, passphrase in
        let wrong = try workspace.passphrase("wrong passphrase")
        try workspace.withSecondCoffer(passphrase) { second in
          try expectThrow("a wrong passphrase") {
            _ = try workspace.join(second, first, AccountSecret(wrong))
          }
        }
      }
    },
    Operation("revoke a device") { workspace in
      try workspace.withAccount { first, passphrase in
        try workspace.withSecondCoffer(passphrase) { second in
          _ = try workspace.join(second, first, AccountSecret(passphrase))
          let synchronizer = try first.account.open()
          _ = try synchronizer.run(.sync, at: workspace.folder())
          let other = try synchronizer.status().devices.first { !$0.isThisDevice }
          guard let other else { throw Unexpected("there is no other device") }
          let report = try synchronizer.revoke(
            other.id, with: AccountSecret(passphrase), at: workspace.folder())
          try expect(report.outcome == .complete, "it is revoked")
          try workspace.tellAccount(first)
        }
      }
    },
    Operation("let a device in that asks") { workspace in
      try workspace.withAccount { first, passphrase in
        try workspace.withSecondCoffer(passphrase) { second in
          let account = try first.account.open()
          _ = try second.account.askToJoin(
            at: workspace.folder(), account.address(), enclave: SoftwareEnclave(), name: "second")
          let device = try account.waitingDevices(at: workspace.folder()).devices.first
          guard let device else { throw Unexpected("there is no request") }
          let report = try account.approve(
            device, with: AccountSecret(passphrase), at: workspace.folder())
          try expect(report.outcome == .complete, "it is let in")
          let got = try second.account.open().run(.sync, at: workspace.folder())
          try expect(got.outcome == .complete && got.newCount == 1, "the message came")
          try workspace.tellAccount(second)
        }
      }
    },
    Operation("join again, revoked") { workspace in
      try workspace.withAccount { first, passphrase in
        try workspace.withSecondCoffer(passphrase) { second in
          _ = try workspace.join(second, first, AccountSecret(passphrase))
          let device = try second.account.open().device
          _ = try first.account.open().run(.sync, at: workspace.folder())
          _ = try first.account.open().revoke(
            device, with: AccountSecret(passphrase), at: workspace.folder())
          let report = try second.account.open().rejoin(
            with: AccountSecret(passphrase), enclave: SoftwareEnclave(), at: workspace.folder())
          try expect(report.outcome == .complete, "it is a member again")
          try workspace.tellAccount(second)
        }
      }
    },
    Operation("give an account another passphrase, and a new card") { workspace in
      try workspace.withAccount { first, passphrase in
        let other = try workspace.passphrase("account's passphrase")
        let account = try first.account.open()
        let costs = try Argon2idParameters(memoryKiB: 64, passes: 1, lanes: 1)
        let exchanged = try account.changeSlots(
          adding: AccountSecret(other), removing: { $0.filter { $0.kind == .passphrase }.map(\.id) },
          costs: costs, with: AccountSecret(passphrase), at: workspace.folder())
        try expect(exchanged.outcome == .complete, "the account has it")
        let renewed = try account.changeSlots(
          adding: AccountSecret(other), removing: { _ in [] }, changesCard: true, costs: costs,
          with: AccountSecret(other), at: workspace.folder())
        try expect(renewed.outcome == .complete, "the card is new")
        try workspace.tellAccount(first)
      }
    },
    Operation("release a capture, and get it back") { workspace in
      try workspace.withAccount { first, _ in
        let photo = workspace.text("photo", byteCount: 70_000)
        let captures = first.captureAccess
        let capture = try captures.add(NewCapture(photo: PartSource(photo)), signer: captures.signer()).id
        let account = try first.account.open()
        _ = try account.run(.sync, at: workspace.folder())
        var freed = 0
        let broken = try account.release([capture], at: workspace.folder()) { freed += $1 }
        try expect(broken.isEmpty && freed == 70_000, "it is released")
        try expect(try account.fetch([capture], at: workspace.folder()).isEmpty, "it is back")
      }
    },
    Operation("recovery drill of an account") { workspace in
      try workspace.withAccount { first, passphrase in
        let drill = try first.account.drill(
          at: workspace.folder(), first.account.open().address(), with: AccountSecret(passphrase),
          enclave: SoftwareEnclave())
        try expect(drill.messageCount == 1, "the message would come")
      }
    },
  ]
}

extension Workspace {
  private var stick: String { searched + "/stick" }

  func folder() throws -> FolderRemote {
    guard let remote = FolderRemote(path: stick) else { throw Unexpected("the folder has no absolute path") }
    return remote
  }

  /// A coffer with a message and an account to which that was sent.
  @inline(never)
  fileprivate func withAccount(_ body: (Coffer, borrowing Passphrase) throws -> Void) throws {
    let passphrase = try passphrase()
    let words = phrase()
    try makeCoffer(passphrase, words)
    try FileManager.default.createDirectory(atPath: stick, withIntermediateDirectories: false)
    let coffer = try open(passphrase)
    defer { coffer.close() }
    _ = try coffer.addMessage(
      text("message", byteCount: 240), metadata: MessageMetadata(title: "", contentType: "text/plain"))
    let synchronizer = try coffer.account.make(
      at: folder(), .folder(path: stick), passphrase: passphrase, words: words,
      costs: Argon2idParameters(memoryKiB: 64, passes: 1, lanes: 1), enclave: SoftwareEnclave(), name: "first"
    )
    let report = try synchronizer.run(.sync, at: folder())
    try expect(report.outcome == .complete && report.sentCount == 1, "the message is sent")
    try tellAccount(coffer)
    try body(coffer, passphrase)
  }

  /// A coffer elsewhere.
  @inline(never)
  fileprivate func withSecondCoffer(
    _ passphrase: borrowing Passphrase, _ body: (Coffer) throws -> Void
  ) throws {
    let coffer = try Coffer.create(
      home: searched + "/second", passphrase: passphrase, recoveryPhrase: phrase(), kdf: Self.cheapKDF(),
      machine: machine)
    defer { coffer.close() }
    try body(coffer)
  }

  /// Joins the account of `first`.
  @inline(never)
  fileprivate func join(_ second: Coffer, _ first: Coffer, _ secret: AccountSecret) throws -> SyncReport {
    try second.account.join(
      at: folder(), first.account.open().address(), with: secret, enclave: SoftwareEnclave(), name: "second"
    ).report
  }

  /// Tells of what the keychain keeps of an account.
  @inline(never)
  fileprivate func tellAccount(_ coffer: Coffer) throws {
    for (name, told) in Self.accountItems {
      SecretReport.tell(told, try coffer.keychain.requireSecret(forKey: name))
    }
    // Behind it the item has the identifier of an operation, which is in the log.
    try coffer.keychain.requireSecret(forKey: "account.secret").withBytes {
      SecretReport.tell("card's secret", $0.extracting(first: 16))
    }
  }

  private static let accountItems: [(String, StaticString)] = [
    ("account.epochs", "epoch keys"),
    ("account.state.key", "account's state key"),
  ]
}
