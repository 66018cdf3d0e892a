// SPDX-License-Identifier: Apache-2.0
//
// What is done to identities: private parts in custody, and their metadata in the protected data, which are two
// stores. Each judgement opens every private part, and what it says must be what its metadata says.

import CrashDisk
import Enclaves
import Identities
import KeyCustody
import Keychains
import OpenPGP
import ProtectedData
import Secrets

final class IdentityOperation: CrashScenario {
  let operation: String
  var store: String { kind.name }
  /// A judgement opens every private part, in two stores.
  let stride = 3
  private let kind: KeychainKind
  private let deed: (OpenCustody, IdentityStore) throws -> Void
  private let isAfter: (Contents) -> Bool
  private var before: Contents = [:]

  /// What there is to say about an identity.
  struct State: Equatable {
    /// 0 for never.
    let end: Int64
    /// Whether another one replaces it, as both say.
    var isReplaced = false
  }

  /// By fingerprint.
  typealias Contents = [String: State]

  /// - Parameters:
  ///   - deed: the operation.
  ///   - isAfter: whether this is what it is to leave; not what there was before.
  init(
    _ kind: KeychainKind, _ operation: String, deed: @escaping (OpenCustody, IdentityStore) throws -> Void,
    isAfter: @escaping (Contents) -> Bool
  ) {
    self.kind = kind
    self.operation = operation
    self.deed = deed
    self.isAfter = isAfter
  }

  private static let now: Int64 = 1_800_000_000
  private static let end: Int64 = 1_900_000_000

  static func all(_ kind: KeychainKind) -> [IdentityOperation] {
    [
      IdentityOperation(
        kind, "identity generate", deed: { open, store in _ = try generate("Carol", open, store) },
        isAfter: { $0.count == 3 }),
      IdentityOperation(
        kind, "identity import",
        deed: { open, store in
          try store.importKeys(KeysOfFile.all.map { try $0.opened([]) }, open.authorization(), at: now)
        },
        isAfter: { contents in
          contents.count == 4 && KeysOfFile.all.allSatisfy { contents[$0.fingerprint] != nil }
        }),
      IdentityOperation(
        kind, "identity expire",
        deed: { open, store in
          _ = try store.make(.end(end), of: store.all(at: now)[1], open.authorization(), at: now + 60)
        },
        isAfter: { $0.count == 2 && $0.values.map(\.end).sorted() == [0, end] }),
      IdentityOperation(
        kind, "identity replace",
        deed: { open, store in
          let identities = try store.all(at: now)
          _ = try store.replace(identities[1], by: identities[0], open.authorization(), at: now + 60)
        },
        isAfter: { $0.count == 2 && $0.values.count(where: \.isReplaced) == 1 }),
      IdentityOperation(
        kind, "identity delete",
        deed: { _, store in try store.delete(store.all(at: now)[1], acknowledgesMissingBackup: true) },
        isAfter: { $0.count == 1 }),
    ]
  }

  private static func generate(
    _ name: String, _ open: OpenCustody, _ store: IdentityStore
  ) throws -> Identity {
    let wanted = try NewIdentity(
      userIDs: [UserIDText(new: name)], isPostQuantum: true, expiry: .never)
    return try store.generate(wanted, open.authorization(), at: now)
  }

  /// Private keys as a file has them, without a passphrase.
  private enum KeysOfFile {
    static let all: [KeyFile.Key] = {
      do {
        return try ["Dan", "Eve"].flatMap { name in
          let generation = KeyGeneration(
            .universal, userIDs: [UserID(name)],
            creationTime: Timestamp(secondsSince1970: UInt32(now)))
          let packets = ArraySink()
          try generation.generate().write(to: packets)
          return try KeyFile(
            SharedSecretBytes(SecretBytes(copying: packets.bytes.span.bytes)), at: now
          ).keys
        }
      } catch { preconditionFailure("keys cannot be made: \(error)") }
    }()
  }

  // MARK: Scenario

  func prepare(_ home: String) throws {
    try OpenKeychain.create(home, kind) { opened in
      try ProtectedDomains.create(file: opened.file, keychain: opened.keychain, enclave: SoftwareEnclave())
      try PrivateKeyCustody.prepare(opened.keychain)
    }
    let opened = try open(home)
    let store = IdentityStore(opened.custody, opened.records)
    for name in ["Ada", "Bob"] { before[try Self.generate(name, opened, store).fingerprint] = State(end: 0) }
    close(opened)
  }

  func open(_ home: String) throws -> OpenCustody { try OpenCustody(OpenKeychain.open(home, kind)) }

  func operate(_ store: OpenCustody) throws { try deed(store, IdentityStore(store.custody, store.records)) }

  func judge(_ store: OpenCustody) throws -> CrashVerdict {
    try store.recover()
    try store.checkOrder()
    let metadata = try store.records.metadata()
    guard metadata.staged.isEmpty else { throw CrashFinding.mixed("there is metadata of no change") }
    guard try Set(store.custody.fingerprints()) == Set(metadata.identities.map(\.fingerprint)) else {
      throw CrashFinding.mixed("private parts and metadata are not of the same identities")
    }
    for identity in metadata.identities {
      let key = try store.custody.withPrivateKey(identity.fingerprint, store.authorization()) { bytes, _ in
        try TransferableSecretKey.readAll(MemorySource(SharedSecretBytes(SecretBytes(copying: bytes))))[0]
      }
      let packets = ArraySink()
      try key.certificate.write(to: packets)
      guard packets.bytes == identity.certificate else {
        throw CrashFinding.mixed("a private part says something else than its metadata")
      }
    }
    let identities = try IdentityStore(store.custody, store.records).all(at: Self.now + 60)
    let found = Dictionary(
      uniqueKeysWithValues: identities.map { identity in
        let isReplaced = identities.contains {
          identity.statement.relation(toSuccessor: $0.statement) == .confirmed
        }
        return (identity.fingerprint, State(end: identity.expires ?? 0, isReplaced: isReplaced))
      })
    if found == before { return .before }
    guard isAfter(found), before.keys.count(where: { found[$0] != nil }) >= min(before.count, found.count)
    else {
      throw CrashFinding.mixed("the identities are neither those before nor those after")
    }
    return .after
  }

  func close(_ store: OpenCustody) { store.opened.file.close() }
}
