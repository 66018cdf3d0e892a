// SPDX-License-Identifier: Apache-2.0
//
// What is said of damaged protected data. None of it names a value.

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
    case .registryRolledBack: "the list of domains is an older one"
    case .ledgerBehind: "the count of changes is an older one"
    case .ledgerMissing: "the count of changes is gone"
    case .ledgerCorrupt: "the count of changes is damaged"
    case .rootSecretMissing: "the root secret is gone"
    case .rootSecretCorrupt: "the root secret is damaged"
    case .rootSecretDowngraded: "the root secret is of a former format, which was given up"
    case .formatFloorInconsistent: "the marker of the format contradicts the list of domains"
    case .bindingKeyMissing: "the key in this machine's enclave is gone"
    case .bindingKeyUnusable: "the key is not of this machine's enclave, or is damaged"
    }
  }
}

extension DomainFault {
  /// For programs; stable.
  var code: String { rawValue.snakeCased }

  /// For people, lower case, without a full stop.
  var sentence: String {
    switch self {
    case .absent: "not there: a reset of it was interrupted"
    case .missing: "gone"
    case .keyCorrupt: "its key is damaged"
    case .payloadCorrupt: "damaged"
    case .rolledBack: "an older one"
    case .ledgerBehind: "newer than the count of changes"
    case .unknownSchema: "written by a newer program"
    case .malformed: "not what it can be"
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
