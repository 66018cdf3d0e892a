// SPDX-License-Identifier: Apache-2.0
//
// The chip's answers (TPM 2.0 Part 2, section 6.6; TSS 2.0 Overview, section on response codes), sorted.

#if TPM
  extension EnclaveError {
    /// Sorts a response code that is not success.
    init(responseCode code: UInt32) {
      let layer = code >> 16 & 0xFF
      let answer = code & 0xFFFF
      // The answer is from the chip, or from a resource manager that passes it on; otherwise from the
      // connection.
      guard layer == 0 || layer == Self.resourceManagerTPMLayer else {
        self = layer == Self.transportLayer ? .notAnswering : .failed(code: code)
        return
      }
      // Format 1 carries the number of the handle, parameter or session that is at fault.
      if answer & 0x80 != 0 {
        switch answer & 0xBF {
        case 0x8E, 0xA2: self = .wrongPasscode  // AUTH_FAIL, counted; BAD_AUTH, of a key that does not count
        case 0x9F: self = .corrupt  // INTEGRITY; the storage root tells another chip
        case 0x9D: self = .biometryRefused  // POLICY_FAIL
        case 0x9B: self = .biometryRefused  // SIGNATURE
        case 0x97, 0xA7: self = .invalidInput  // POINT, ECC_POINT
        default: self = .failed(code: code)
        }
      } else {
        switch answer {
        case 0x921: self = .lockedOut(secondsLeft: nil)
        case 0x920, 0x922, 0x923: self = .tryLater  // NV_RATE, RETRY, NV_UNAVAILABLE
        default: self = .failed(code: code)
        }
      }
    }

    /// Whether the chip rejected an argument (format 1).
    static func blamesParameter(_ code: UInt32) -> Bool {
      [0, resourceManagerTPMLayer].contains(code >> 16 & 0xFF) && code & 0x80 != 0
    }

    /// Whether the chip says that there is nothing at a handle (TPM_RC_HANDLE, TPM_RC_REFERENCE_H0).
    static func blamesHandle(_ code: UInt32) -> Bool {
      let answer = code & 0xFFFF
      return blamesParameter(code) && answer & 0xBF == 0x8B || answer == 0x910
    }

    /// Whether the chip says that something is defined at an index already (TPM_RC_NV_DEFINED).
    static func blamesIndex(_ code: UInt32) -> Bool { code & 0xFFFF == 0x14C }

    /// Whether the chip, or a resource manager in its place, gave the answer, and not the library.
    var isOfChip: Bool {
      switch self {
      case .failed(let code): [0, Self.resourceManagerTPMLayer].contains(code >> 16 & 0xFF) && code != 0
      case .notAnswering, .noLibrary: false
      default: true
      }
    }

    private static let transportLayer: UInt32 = 0x0A
    private static let resourceManagerTPMLayer: UInt32 = 0x0C
  }
#endif
