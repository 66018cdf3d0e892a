// SPDX-License-Identifier: Apache-2.0
//
// Values of options that are chosen by name.

public import ArgumentParser
internal import Enclaves
public import Identities
public import Keychains
public import Vaults

extension PassphrasePolicy: ExpressibleByArgument {}

extension Vault.Order: ExpressibleByArgument {}

extension RevocationCause: ExpressibleByArgument {}

/// Where an attestation key can be made.
enum AttestationPlace: String, ExpressibleByArgument, CaseIterable {
  case tpm, software

  var kind: EnclaveKind {
    switch self {
    case .tpm: .tpm
    case .software: .software
    }
  }
}

extension EnclaveKind {
  var name: String {
    switch self {
    case .tpm: "tpm"
    case .secureEnclave: "secure-enclave"
    case .software: "software"
    case .tutorial: "tutorial"
    }
  }
}

/// Where a keychain can be.
enum KeychainName: String, ExpressibleByArgument, CaseIterable {
  case file
  case secretService = "secret-service"

  var place: KeychainPlace {
    switch self {
    case .file: .file
    case .secretService: .secretService
    }
  }
}

/// The key derivations that can be chosen by name.
enum KDFName: String, ExpressibleByArgument, CaseIterable {
  case pbkdf2, argon2id

  var kdf: SlotKDF {
    switch self {
    case .pbkdf2: .pbkdf2
    case .argon2id: CommandRun.current.environment.derivation
    }
  }
}
