// SPDX-License-Identifier: Apache-2.0

public import Captures
internal import Keychains

/// The captures of a coffer, and what signs new ones.
public struct CaptureAccess: Sendable {
  public let store: CaptureStore
  let keychain: KeychainService
  let machine: Machine
  let counter: RollbackCounter

  /// What signs on this machine.
  /// - Throws: `CofferError.deviceNotRegistered` after the machine was forgotten; `EnclaveError`.
  public func signer() throws -> any CaptureSigner { try AttestationSigner(keychain, machine: machine) }

  /// Lets the chip's counter follow what was changed without an open coffer, which has nobody to note it.
  public func noteChange() { counter.countUpIfDue() }
}

extension Coffer {
  /// The captures, and what signs new ones.
  public var captureAccess: CaptureAccess {
    CaptureAccess(store: captures, keychain: keychain, machine: machine, counter: counter)
  }
}
