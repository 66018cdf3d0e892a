// SPDX-License-Identifier: Apache-2.0
//
// The machine that the coffer is on: the enclaves and security keys it has. Nothing is contacted before one is used.

public import Agent
public import Enclaves
public import Keychains
public import SecurityKeys

/// The enclaves of this machine.
public struct Machine: Sendable {
  /// The kernel's TPM with a resource manager, as a configuration for the TPM 2.0 TCTI loader.
  public static let defaultTCTI = "device:/dev/tpmrm0"

  private let enclaves: [any Enclave]
  /// Finds the security keys that are plugged in; nil in a build without them.
  public let securityKeys: (any SecurityKeyFinder)?
  /// How agents are found and started.
  public private(set) var agentVariables = AgentVariables.ofProcess

  /// - Parameter tcti: the TCTI configuration of the TPM, such as `device:/dev/tpmrm0` or `swtpm:path=/run/tpm.sock`.
  public init(tcti: String = Machine.defaultTCTI) {
    #if TPM
      enclaves = [TPMEnclave(tcti: tcti), SoftwareEnclave()]
    #else
      enclaves = [SoftwareEnclave()]
    #endif
    securityKeys = SecurityKeyFinders.system
  }

  /// A machine with these enclaves, for tests.
  package init(enclaves: [any Enclave], securityKeys: (any SecurityKeyFinder)? = nil) {
    self.enclaves = enclaves
    self.securityKeys = securityKeys
  }

  /// This machine with other security keys, for tests.
  package func with(securityKeys: any SecurityKeyFinder) -> Machine {
    var machine = Machine(enclaves: enclaves, securityKeys: securityKeys)
    machine.agentVariables = agentVariables
    return machine
  }

  /// This machine, where agents are found and started with these variables.
  public func with(agentVariables: AgentVariables) -> Machine {
    var machine = self
    machine.agentVariables = agentVariables
    return machine
  }

  /// The enclave of that kind, whether or not it answers now; nil when this program knows none.
  public func enclave(_ kind: EnclaveKind) -> (any Enclave)? { enclaves.first { $0.kind == kind } }

  /// The chip, whether or not it answers now; nil when this program knows none.
  public var chip: (any Enclave)? { enclaves.first { $0.kind.isHardware } }

  /// How many wrong PINs the chip takes until it locks; nil when it does not say.
  public var pinTriesLeft: Int? {
    #if TPM
      try? (chip as? TPMEnclave)?.lockoutStatus().triesLeft
    #else
      nil
    #endif
  }

  /// The way to open coffers with the chip.
  /// - Throws: `KeybagError.enclave(.unavailable)` when this program knows no chip.
  public func chipSlot() throws(KeybagError) -> TPMSlot {
    guard let chip else { throw .enclave(.unavailable) }
    return TPMSlot(chip)
  }

  /// The chip if it answers, else the enclave in software. Only for creating keys.
  public func enclaveForNewKeys() throws(EnclaveError) -> any Enclave {
    if let chip {
      do throws(EnclaveError) {
        try chip.checkAvailability()
        return chip
      } catch {
        guard error == .unavailable else { throw error }
      }
    }
    guard let other = enclaves.first(where: { !$0.kind.isHardware }) else { throw .unavailable }
    return other
  }
}
