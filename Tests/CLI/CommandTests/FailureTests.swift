// SPDX-License-Identifier: Apache-2.0
//
// What a layer below knows reaches the exit code: full is full, whoever was writing.

import Editing
import Enclaves
import KeyCustody
import Keychains
import Pictures
import ProtectedData
import Storage
import Testing
import UserAuthentication
import Vaults

@testable import CofferCommands

@Suite("From an error to the exit code")
struct FailureTests {
  @Test(
    "An error of the file is told as such when the keychain, or the vault above it, met it",
    arguments: [
      (.full, 8, "full"), (.inUse, 9, "in_use"), (.notPermitted, 6, "not_permitted"),
      (.readOnly, 6, "read_only"), (.inputOutput(code: 10), 5, "input_output"),
      (.corrupt(part: .page), 5, "corrupt"), (.outdated(.keychain), 5, "outdated"),
      (.staleLog, 5, "foreign_log"),
    ] as [(StorageError, Int32, String)])
  func file(error: StorageError, exit: Int32, code: String) {
    for error: any Error in [
      error, KeychainError.storage(error), VaultError.keychainNotAvailable(.storage(error)),
    ] {
      let failure = Failure(error)
      #expect(failure.exit.rawValue == exit && failure.code == code, "\(error)")
    }
  }

  @Test(
    "Why a depth map was not drawn",
    arguments: [
      (.unknownFormat, 7, "unknown_depth"), (.tooLarge, 7, "capture_too_large"), (.corrupt, 5, "corrupt"),
      (.crashed, 10, "decoder_failed"), (.noSandbox, 10, "decoder_failed"), (.notBuilt, 10, "decoder_failed"),
    ] as [(PictureError, Int32, String)])
  func depth(error: PictureError, exit: Int32, code: String) {
    let failure = Failure(drawingDepth: error)
    #expect(failure.exit.rawValue == exit && failure.code == code, "\(error)")
  }

  @Test(
    "Why a message was not edited",
    arguments: [
      (.noEditor, 10, "no_editor"), (.notFound(program: "edit -w"), 10, "no_editor"),
      (.failed(status: 1), 7, "editor_failed"), (.didNotWait, 7, "editor_did_not_wait"),
      (.fileMissing, 7, "editor_failed"), (.tooLarge(limit: 64 << 20), 7, "message_too_large"),
      (.notIsolated(.readOnly, errno: 38), 10, "editor_not_isolated"), (.interrupted, 10, "editor_ended"),
    ] as [(EditorError, Int32, String)])
  func editor(error: EditorError, exit: Int32, code: String) {
    let failure = Failure(error)
    #expect(failure.exit.rawValue == exit && failure.code == code, "\(error)")
  }

  @Test("A number is what a service answered, and never one of ours")
  func services() {
    for error in [
      KeychainError.saveFailed(-5), .loadFailed(-71), .deleteFailed(-5), .unexpectedError(13),
    ] {
      #expect(Failure(error).code == "secret_service_failed")
    }
  }

  @Test("A chip that does not answer is not a corrupt keychain")
  func chip() {
    let failure = Failure(KeychainError.enclave(.notAnswering))
    #expect(failure.exit == .noHardware && failure.code == "chip_not_answering")
    #expect(Failure(KeychainError.enclave(.lockedOut(secondsLeft: 60))).code == "pin_locked_out")
  }

  @Test(
    "A missing library is named, with the package that has it, and nothing is said of chip, reader or service"
  )
  func libraries() {
    let chip: [any Error] = [
      EnclaveError.noLibrary, KeychainError.enclave(.noLibrary), ProtectedDataError.enclave(.noLibrary),
      CustodyError.enclave(.noLibrary), CustodyError.guardRefused(.noLibrary),
    ]
    let bus: [any Error] = [
      AuthenticationError.readerUnavailable(.noLibrary), KeychainError.serviceLibraryMissing,
      VaultError.keychainNotAvailable(.serviceLibraryMissing),
    ]
    for (errors, code, package) in [
      (chip, "no_tss_library", "libtss2-esys"), (bus, "no_bus_library", "libsystemd0"),
    ] {
      for error in errors {
        let failure = Failure(error)
        #expect(failure.exit == .noHardware && failure.code == code, "\(error): \(failure.code)")
        #expect(failure.hint?.contains(package) == true, "\(error): \(failure.hint ?? "")")
      }
    }
  }

  @Test("What no layer promises is a bug, and tells its type and nothing else")
  func unsorted() {
    struct Surprise: Error { let secret = "words of the user" }
    for error: any Error in [Surprise(), KeychainError.unsorted(type: "Surprise")] {
      let failure = Failure(error)
      #expect(failure.exit == .bug && failure.code == "internal")
      #expect(failure.message == "internal error: Surprise")
    }
  }
}
