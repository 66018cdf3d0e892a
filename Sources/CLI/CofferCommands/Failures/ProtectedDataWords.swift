// SPDX-License-Identifier: Apache-2.0
//
// Messages about damaged protected data. None of them contains a value.

internal import ProtectedData

extension FrameworkFault {
  /// For programs; stable.
  var code: String { rawValue.snakeCased }

  /// For people, lower case, without a full stop.
  var sentence: String {
    switch self {
    case .registryMissing: "the list of domains is gone"
    case .registryCorrupt: "the list of domains is damaged"
    case .registryTampered: "the list of domains is not the one that was written"
    case .resetInterrupted: "a reset of all of them was interrupted"
    case .registryRolledBack: "the list of domains is an earlier version"
    case .ledgerBehind: "the count of changes is an earlier version"
    case .ledgerMissing: "the count of changes is gone"
    case .ledgerCorrupt: "the count of changes is damaged"
    case .rootSecretMissing: "the root secret is gone"
    case .rootSecretCorrupt: "the root secret is damaged"
    case .rootSecretDowngraded: "the root secret is in an old format that is no longer accepted"
    case .formatFloorInconsistent: "the marker of the format contradicts the list of domains"
    case .bindingKeyMissing: "the key in this machine's enclave is gone"
    case .bindingKeyUnusable: "the key does not belong to this machine's enclave, or is damaged"
    }
  }
}

extension DomainFault {
  /// For programs; stable.
  var code: String { rawValue.snakeCased }

  /// For people, lower case, without a full stop.
  var sentence: String {
    switch self {
    case .absent: "missing: a reset of it was interrupted"
    case .missing: "gone"
    case .keyCorrupt: "its key is damaged"
    case .payloadCorrupt: "damaged"
    case .rolledBack: "an earlier version"
    case .ledgerBehind: "newer than the count of changes"
    case .unknownSchema: "written by a newer program"
    case .malformed: "not valid"
    }
  }
}

extension String {
  /// `rolledBack` as `rolled_back`.
  fileprivate var snakeCased: String {
    reduce(into: "") { text, character in
      if character.isUppercase { text += "_" }
      text += character.lowercased()
    }
  }
}
