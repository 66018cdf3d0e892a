// SPDX-License-Identifier: Apache-2.0
//
// A custody that ends with the process. Envelopes, manifest, journal and modes are those of every custody; only the
// places are in memory: nothing is read from a disk or written to one.

public import Enclaves
public import Keychains
internal import Primitives
public import ProtectedData
internal import Secrets
internal import Synchronization

extension PrivateKeyCustody {
  /// An empty custody in memory, in mode *standard*, under class keys of its own.
  /// - Parameters:
  ///   - keychain: empty; envelopes and manifest are its items.
  ///   - records: the journal and the metadata.
  ///   - enclave: makes and opens the keys of envelopes.
  /// - Throws: `KeychainError.duplicateItem` when the keychain is not empty.
  public convenience init(
    inMemory keychain: InMemoryKeychain, records: InMemoryCustodyRecords,
    enclave: any Enclave = SoftwareEnclave()
  ) throws(KeychainError) {
    let keys = ClassKeys(
      whenUnlocked: SharedSecretBytes(SystemRandom.secretBytes(count: SymmetricKey.byteCount)),
      afterFirstUnlock: SharedSecretBytes(SystemRandom.secretBytes(count: SymmetricKey.byteCount)))
    let service = KeychainService(keychain: keychain, keys: keys)
    try service.prepare()
    try Self.prepare(service)
    self.init(writing: nil, keychain: service, records: records, enclave: enclave) { kind in
      kind == enclave.kind ? enclave : nil
    }
  }
}

/// Records of a custody in memory.
public final class InMemoryCustodyRecords: CustodyRecords {
  private struct Stored {
    var control = PrivateKeyControl.initial
    var metadata = KeyMetadata.initial
  }

  private let stored = Mutex(Stored())

  /// Mode *standard*, and no keys.
  public init() {}

  /// See ``CustodyRecords``.
  public func control() -> PrivateKeyControl { stored.withLock { $0.control } }

  /// See ``CustodyRecords``.
  public func changeControl(_ change: (inout PrivateKeyControl) -> Void) {
    stored.withLock { change(&$0.control) }
  }

  /// See ``CustodyRecords``.
  public func metadata() -> KeyMetadata { stored.withLock { $0.metadata } }

  /// See ``CustodyRecords``.
  public func changeMetadata(_ change: (inout KeyMetadata) -> Void) {
    stored.withLock { change(&$0.metadata) }
  }
}
