// SPDX-License-Identifier: Apache-2.0
//
// Where the keys of a coffer are made. What is in hardware is not replaced by software, unless somebody says so
// (Specs/enclaves.md, "Kinds").

public import Enclaves
internal import KeyCustody
internal import Keychains
internal import ProtectedData
internal import Syncing

extension Coffer {
  /// The enclave for new keys of this coffer that are not private parts: the chip if one answers, else software if
  /// the keys of before were in software too.
  ///
  /// - Parameter kind: as the user says; nil if they say nothing.
  /// - Throws: `CofferError.hardwareRequired` when the keys of before are in hardware, which does not answer;
  ///   `EnclaveError`.
  public func enclaveForNewKeys(_ kind: EnclaveKind?) throws -> any Enclave {
    try machine.enclaveForNewKeys(kind, after: try formerKind())
  }

  /// The same for the keys that this device has in its account.
  public func enclaveForAccountKeys(_ kind: EnclaveKind?) throws -> any Enclave {
    let former = try account.enclaveKind()
    return try machine.enclaveForNewKeys(kind, after: former?.isHardware == true ? former : formerKind())
  }

  /// The kind that protected data is bound to. If that is not known any more, what is known of other keys counts.
  private func formerKind() throws -> EnclaveKind? {
    if let kind = try ProtectedDomains.enclaveKind(keychain) { return kind }
    let others = try [device()?.enclave] + PrivateKeyCustody.places(keychain).map(\.kind)
    return others.compactMap(\.self).first(where: \.isHardware)
  }
}

extension Machine {
  /// The enclave for new keys in the place of others.
  /// - Parameters:
  ///   - kind: as the user says; nil for the chip if one answers, else software.
  ///   - former: the kind of the keys of before; nil if it is not known.
  /// - Throws: `CofferError.hardwareRequired`; `EnclaveError`.
  func enclaveForNewKeys(_ kind: EnclaveKind?, after former: EnclaveKind?) throws -> any Enclave {
    if let kind {
      guard let enclave = enclave(kind) else { throw EnclaveError.unavailable }
      try enclave.checkAvailability()
      return enclave
    }
    let found = try enclaveForNewKeys()
    guard found.kind.isHardware || former?.isHardware != true else { throw CofferError.hardwareRequired }
    return found
  }
}

/// The kinds of enclaves that the keys of a coffer are in.
struct KeyKinds {
  /// What is kept, and where; in an order that never changes.
  var places: [(what: String, kind: EnclaveKind)] = []

  /// Whether not all of them are in one kind.
  var isMixed: Bool { Set(places.map(\.kind)).count > 1 }

  /// One sentence without its end.
  var words: String { places.map { "\($0.what) in \($0.kind.place)" }.joined(separator: ", ") }
}

extension Coffer {
  /// Nothing is opened or asked.
  func keyKinds() throws -> KeyKinds {
    var kinds = KeyKinds()
    if let kind = try ProtectedDomains.enclaveKind(keychain) {
      kinds.places.append(("protected data", kind))
    }
    let found = try PrivateKeyCustody.places(keychain).compactMap(\.kind)
    for kind in EnclaveKind.allCases {
      let count = found.count { $0 == kind }
      guard count > 0 else { continue }
      kinds.places.append((count == 1 ? "1 private key" : "\(count) private keys", kind))
    }
    if let kind = try device()?.enclave { kinds.places.append(("the key for captures", kind)) }
    if let kind = try account.enclaveKind() {
      kinds.places.append(("the account's keys of this device", kind))
    }
    return kinds
  }
}

extension EnclaveKind {
  /// For people.
  fileprivate var place: String {
    switch self {
    case .tpm: "a TPM"
    case .secureEnclave: "a Secure Enclave"
    case .software: "software"
    case .tutorial: "the tutorial"
    }
  }
}
