// SPDX-License-Identifier: Apache-2.0

internal import Enclaves
internal import Keychains
internal import Primitives
internal import Storage

extension Failure {
  init(keybag error: KeybagError) {
    switch error {
    case .wrongSecret: self.init(.wrongSecret, "wrong_secret", "this does not open any slot of the coffer")
    case .noSuchSlot:
      self.init(
        .missing, "no_such_slot", "the coffer has no such slot", hint: "'coffer slot list' shows them")
    case .corrupt:
      self.init(.corrupt, "corrupt", "the slots are corrupt or were tampered with", hint: Self.corruptHint)
    case .lastSlot:
      self.init(
        .refused, "last_slot", "this is the last passphrase or recovery phrase of the coffer",
        hint: "add another one first")
    case .enclave(let error): self.init(enclave: error)
    case .notHardware:
      self.init(.refused, "not_hardware", "without a chip that counts tries, a PIN would protect nothing")
    case .deviceHasSlot:
      self.init(
        .inUse, "already_exists",
        "this machine's TPM has a slot already, and two would use up each other's tries",
        hint: "'coffer slot list' shows it; 'coffer slot remove ID' makes room for another PIN")
    case .invalidLabel: self = .invalidName
    case .labelTaken:
      self.init(
        .inUse, "already_exists", "another slot already has this name",
        hint: "'coffer slot list' shows the names")
    case .changedMeanwhile:
      self.init(
        .inUse, "in_use", "the slots have changed since the security key was asked", hint: "try again")
    case .tooManySlots(let limit):
      self.init(.refused, "too_many_slots", "a coffer has at most \(limit) slots")
    case .derivation(.notEnoughMemory(let needed, let available)):
      self.init(
        .noRoom, "not_enough_memory",
        "this key uses memory-intensive protection that exceeds this device's capacity: "
          + "\(needed >> 20) MiB needed, \(available >> 20) MiB available",
        hint: "close other programs, or open the coffer with the recovery phrase")
    case .derivation(.allocationFailed):
      self.init(.noRoom, "not_enough_memory", "not enough memory for the key derivation")
    case .derivation(.parameters):
      self.init(.corrupt, "corrupt", "the slot has invalid parameters for the key derivation")
    }
  }

  init(keychain error: KeychainError) {
    switch error {
    case .locked: self.init(.locked, "locked", "the coffer is locked")
    case .serviceLocked:
      self.init(
        .locked, "keyring_locked", "the desktop's keyring is locked, and this coffer's keychain is in it",
        hint: "unlock the keyring where you manage it, or log in to the desktop; nothing is lost")
    case .itemNotFound: self.init(.missing, "no_such_item", "there is no such item")
    case .duplicateItem: self.init(.inUse, "already_exists", "this item already exists")
    case .secureEnclaveUnavailable:
      self.init(.noHardware, "no_enclave", "this machine has no chip that can hold keys")
    case .serviceLibraryMissing:
      self.init(
        .noHardware, "no_bus_library",
        "the Secret Service is used through the library libsystemd, which is not installed here",
        hint: Self.busHint)
    case .serviceUnavailable:
      #if SecretService
        self.init(
          .noHardware, "no_secret_service", "there is no Secret Service, or it has no default collection",
          hint: "start the desktop's keyring in this session and make a default keyring")
      #else
        self.init(
          .noHardware, "no_secret_service", "this coffer was built without the Secret Service",
          hint: "use a build with the trait SecretService")
      #endif
    // Errors from a service; our own are `.storage` and `.enclave`.
    case .saveFailed(let status), .loadFailed(let status), .deleteFailed(let status),
      .unexpectedError(let status):
      self.init(
        .noHardware, "secret_service_failed", "the Secret Service returned an error (\(status))",
        hint: "nothing is lost; try again, or restart the desktop's keyring")
    case .storage(.inputOutput(let code)):
      self.init(
        .corrupt, "input_output", "the keychain cannot be read or written (\(code))", hint: Self.corruptHint)
    case .storage(.corrupt):
      self.init(.corrupt, "corrupt", "the keychain is corrupt or was tampered with", hint: Self.corruptHint)
    case .storage(let error): self.init(storage: error)
    case .enclave(let error):
      // The coffer is already open, so another way to open it does not help.
      self.init(enclave: error)
      hint = error == .noLibrary ? Self.tssHint : "try again; 'coffer doctor' examines the coffer"
    case .unsorted(let type): self.init(unsorted: type)
    case .invalidData, .encodingFailed, .decodingFailed:
      self.init(.corrupt, "corrupt", "the keychain is corrupt or was tampered with", hint: Self.corruptHint)
    }
  }

  init(pin problem: PINPolicy.Problem) { self.init(.refused, "weak_pin", problem.description) }

  init(phrase error: RecoveryPhraseError) {
    switch error {
    case .wrongWordCount(let expected, let found):
      self.init(.wrongSecret, "bad_phrase", "a recovery phrase has \(expected) words, this has \(found)")
    case .unknownWord(let position):
      self.init(.wrongSecret, "bad_phrase", "word \(position) is not in the list of words")
    case .checksumMismatch:
      self.init(
        .wrongSecret, "bad_phrase",
        "the words do not match their checksum: one is wrong, or two are swapped")
    }
  }
}
