// SPDX-License-Identifier: Apache-2.0
//
// What a device keeps of an account in its keychain, all of it of the class *when unlocked*: the handles of its two keys in
// the enclave, the account's secret, the keys of epochs, the key of the rows in the file, and which passphrase of this
// coffer the account has.

internal import Enclaves
internal import Histories
internal import Keychains
internal import Primitives
internal import Remotes
internal import Secrets

/// The keys of this device in the account.
struct DeviceKeys: Sendable {
  /// Under which names their handles are in the keychain. A device that rejoins has both for a while, and its state says
  /// which it goes by.
  enum Pair: Sendable {
    case first, second

    var other: Pair { self == .first ? .second : .first }
  }

  let pair: Pair
  let enclave: any Enclave
  /// Signs this device's segments.
  let signing: EnclaveKey
  /// Opens envelopes for this device.
  let agreement: EnclaveKey

  /// As the control log names where keys are.
  var level: UInt8 { enclave.kind.isHardware ? 1 : 2 }
}

/// The account's items in a keychain.
struct AccountItems {
  let keychain: KeychainService

  private enum Name: String, CaseIterable {
    case signing = "account.signing.key"
    case agreement = "account.agreement.key"
    case secondSigning = "account.signing.key.2"
    case secondAgreement = "account.agreement.key.2"
    case place = "account.place"
    case secret = "account.secret"
    case epochs = "account.epochs"
    case state = "account.state.key"
    case equality = "account.passphrase"
    case captures = "account.captures"
    case told = "account.told"

    static func keys(_ pair: DeviceKeys.Pair) -> (signing: Name, agreement: Name) {
      pair == .first ? (.signing, .agreement) : (.secondSigning, .secondAgreement)
    }
  }

  /// The names of all items: none of them may come to another machine.
  static let names = Name.allCases.map(\.rawValue)

  // MARK: Device

  func makeKeys(
    in enclave: any Enclave, as pair: DeviceKeys.Pair = .first
  ) throws(KeychainError) -> DeviceKeys {
    let access = AccessControl(.whenUnlockedThisDeviceOnly)
    let names = Name.keys(pair)
    return DeviceKeys(
      pair: pair, enclave: enclave,
      signing: try keychain.createSecureEnclaveKey(
        tag: names.signing.rawValue, in: enclave, use: .signing, access: access),
      agreement: try keychain.createSecureEnclaveKey(
        tag: names.agreement.rawValue, in: enclave, use: .agreement, access: access))
  }

  /// The keys that this device goes by.
  /// - Parameters:
  ///   - enclaveOfKind: this machine's.
  ///   - signingKey: the public key of the device's state; asked for only when there are two pairs.
  /// - Throws: `KeychainError.invalidData` when a key is gone; `.secureEnclaveUnavailable`.
  func keys(
    _ enclaveOfKind: (EnclaveKind) -> (any Enclave)?, signingKey: () -> [UInt8]?
  ) throws(KeychainError) -> DeviceKeys {
    guard try load(.secondSigning) != nil else { return try keys(.first, enclaveOfKind) }
    let wanted = signingKey()
    var failure = KeychainError.invalidData
    for pair in [DeviceKeys.Pair.first, .second] {
      do throws(KeychainError) {
        let keys = try keys(pair, enclaveOfKind)
        if keys.signing.publicKey == wanted { return keys }
      } catch { failure = error }
    }
    throw failure
  }

  private func keys(
    _ pair: DeviceKeys.Pair, _ enclaveOfKind: (EnclaveKind) -> (any Enclave)?
  ) throws(KeychainError) -> DeviceKeys {
    let names = Name.keys(pair)
    guard let handle = try load(names.signing), let kind = handle.withBytes({ EnclaveKind(handle: $0) })
    else { throw .invalidData }
    guard let enclave = enclaveOfKind(kind) else { throw .secureEnclaveUnavailable }
    guard let signing = try keychain.loadSecureEnclaveKey(tag: names.signing.rawValue, in: enclave),
      let agreement = try keychain.loadSecureEnclaveKey(tag: names.agreement.rawValue, in: enclave)
    else { throw .invalidData }
    return DeviceKeys(pair: pair, enclave: enclave, signing: signing, agreement: agreement)
  }

  /// The kind of enclave that the first pair found is in; nil without one.
  func enclaveKind() throws(KeychainError) -> EnclaveKind? {
    for pair in [DeviceKeys.Pair.first, .second] {
      if let kind = try load(Name.keys(pair).signing)?.withBytes({ EnclaveKind(handle: $0) }) { return kind }
    }
    return nil
  }

  /// Removes the handles of a pair, and the keys from the enclave if that answers.
  func removeKeys(
    _ pair: DeviceKeys.Pair, _ enclaveOfKind: (EnclaveKind) -> (any Enclave)?
  ) throws(KeychainError) {
    if let keys = try? keys(pair, enclaveOfKind) {
      // Without its handle, a key is as good as deleted.
      try? keys.enclave.deleteKey(keys.signing)
      try? keys.enclave.deleteKey(keys.agreement)
    }
    let names = Name.keys(pair)
    for name in [names.signing, names.agreement] { try keychain.delete(forKey: name.rawValue) }
  }

  // MARK: Account

  /// Where the account is, with the credentials.
  func place() throws(KeychainError) -> RemotePlace {
    guard let url = try load(.place) else { throw .invalidData }
    do { return try url.withBytes { try RemotePlace(url: $0) } } catch { throw .invalidData }
  }

  func save(_ place: RemotePlace) throws(KeychainError) { try save(place.url(), as: .place) }

  /// The secret of the card; and the operation whose envelope had it, if it did not come from a card.
  func secret() throws(KeychainError) -> (secret: SharedSecretBytes, from: ControlID?) {
    let count = AccountAddress.secretByteCount
    guard let item = try load(.secret), item.count == count || item.count == count + ControlID.byteCount
    else { throw .invalidData }
    return item.withBytes { bytes in
      let secret = SecretBytes(copying: bytes.extracting(first: count))
      return (
        SharedSecretBytes(secret), ControlID([UInt8](copying: bytes.extracting(droppingFirst: count)))
      )
    }
  }

  func saveSecret(_ secret: SharedSecretBytes, from operation: ControlID? = nil) throws(KeychainError) {
    let origin = operation?.bytes ?? []
    var writer = SecretWriter(byteCount: secret.count + origin.count)
    secret.withBytes { writer.append($0) }
    writer.append(origin)
    try save(writer.finish(), as: .secret)
  }

  /// Whether this device gets captures as a whole.
  func getsCaptures() throws(KeychainError) -> Bool {
    guard let value = try load(.captures) else { return false }
    let bytes = value.withBytes { [UInt8](copying: $0) }
    guard bytes == [0] || bytes == [1] else { throw .invalidData }
    return bytes == [1]
  }

  func saveGetsCaptures(_ gets: Bool) throws(KeychainError) {
    let value: [UInt8] = [gets ? 1 : 0]
    try save(SecretBytes(copying: value.rawSpan), as: .captures)
  }

  /// The devices that the user was told of; nil before anybody was told of any.
  func toldDevices() throws(KeychainError) -> ToldDevices? {
    guard let item = try load(.told) else { return nil }
    guard let told = item.withBytes({ ToldDevices($0) }) else { throw .invalidData }
    return told
  }

  func save(_ told: ToldDevices) throws(KeychainError) {
    try save(SecretBytes(copying: told.bytes.rawSpan), as: .told)
  }

  /// Which passphrase of this coffer the account has (``PassphraseEquality``).
  func equality() throws(KeychainError) -> PassphraseEquality? {
    guard let item = try load(.equality) else { return nil }
    return item.withBytes { PassphraseEquality($0) }
  }

  func save(_ equality: PassphraseEquality) throws(KeychainError) {
    try save(SecretBytes(copying: equality.bytes.rawSpan), as: .equality)
  }

  // MARK: Keys

  /// The key of the rows in the file.
  func stateKey() throws(KeychainError) -> SharedSecretBytes {
    guard let key = try load(.state), key.count == SymmetricKey.byteCount else { throw .invalidData }
    return SharedSecretBytes(key)
  }

  func makeStateKey() throws(KeychainError) -> SharedSecretBytes {
    let key = SystemRandom.secretBytes(count: SymmetricKey.byteCount)
    let shared = SharedSecretBytes(key.withBytes { SecretBytes(copying: $0) })
    try save(key, as: .state)
    return shared
  }

  /// number (4) ‖ key (32), each epoch's.
  func epochKeys() throws(KeychainError) -> [(number: UInt32, key: SharedSecretBytes)] {
    guard let item = try load(.epochs) else { throw .invalidData }
    let size = 4 + EpochKeys.keyByteCount
    guard item.count % size == 0 else { throw .invalidData }
    return item.withBytes { bytes in
      stride(from: 0, to: bytes.byteCount, by: size).map { start in
        let number = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt32.self)
        let key = SecretBytes(copying: bytes.extracting(start + 4..<start + size))
        return (UInt32(bigEndian: number), SharedSecretBytes(key))
      }
    }
  }

  func save(_ epochKeys: [(number: UInt32, key: SharedSecretBytes)]) throws(KeychainError) {
    var writer = SecretWriter(byteCount: epochKeys.count * (4 + EpochKeys.keyByteCount))
    for (number, key) in epochKeys {
      var bytes: [UInt8] = []
      bytes.append(bigEndian: number)
      writer.append(bytes)
      key.withBytes { writer.append($0) }
    }
    try save(writer.finish(), as: .epochs)
  }

  /// Removes every item, and the keys from the enclave if that answers.
  func removeAll(_ enclaveOfKind: (EnclaveKind) -> (any Enclave)?) throws(KeychainError) {
    for pair in [DeviceKeys.Pair.first, .second] { try removeKeys(pair, enclaveOfKind) }
    for name in Self.names { try keychain.delete(forKey: name) }
  }

  private func load(_ name: Name) throws(KeychainError) -> SecretBytes? {
    try keychain.loadSecret(forKey: name.rawValue, in: .whenUnlockedThisDeviceOnly)
  }

  private func save(_ secret: consuming SecretBytes, as name: Name) throws(KeychainError) {
    try keychain.save(secret, forKey: name.rawValue, accessibility: .whenUnlockedThisDeviceOnly)
  }
}
