// SPDX-License-Identifier: Apache-2.0
//
// Argon2id (RFC 9106) by libargon2, in pages of its own: out of core dumps, huge where the kernel can,
// erased by the library before they are given back.

internal import CArgon2
internal import CSystem
internal import Glibc

/// The costs of an Argon2id derivation.
public struct Argon2idParameters: Equatable, Sendable {
  /// Memory, in KiB (m).
  public let memoryKiB: Int
  /// Passes over the memory (t).
  public let passes: Int
  /// Lanes, each with a thread of its own as far as there are not too many (p).
  public let lanes: Int

  /// 64 MiB, three passes, four lanes: the second recommendation of RFC 9106, section 4.
  public static let recommended = Argon2idParameters(uncheckedMemoryKiB: 64 << 10, passes: 3, lanes: 4)

  /// The most that a stored slot may ask for: 4 GiB, 64 passes, 64 lanes. A parser's bound, so that a
  /// changed file cannot occupy the machine for hours; the memory guard decides below it.
  public static let limit = Argon2idParameters(uncheckedMemoryKiB: 4 << 20, passes: 64, lanes: 64)

  /// The most that is computed at all: 4 GiB, and as many passes and lanes as one octet can ask for. A caller
  /// that allows this must bound the product of memory and passes.
  public static let greatest = Argon2idParameters(uncheckedMemoryKiB: 4 << 20, passes: 255, lanes: 255)

  /// - Throws: `Argon2idError.parameters` outside RFC 9106, section 3.1, or above `limit`.
  public init(
    memoryKiB: Int, passes: Int, lanes: Int, within limit: Argon2idParameters = .limit
  ) throws(Argon2idError) {
    guard (1...limit.lanes).contains(lanes), (1...limit.passes).contains(passes),
      (8 * lanes...limit.memoryKiB).contains(memoryKiB)
    else { throw .parameters }
    self.init(uncheckedMemoryKiB: memoryKiB, passes: passes, lanes: lanes)
  }

  private init(uncheckedMemoryKiB: Int, passes: Int, lanes: Int) {
    memoryKiB = uncheckedMemoryKiB
    self.passes = passes
    self.lanes = lanes
  }
}

/// Why an Argon2id derivation was not done.
@nonexhaustive
public enum Argon2idError: Error, Equatable, Sendable {
  /// Costs outside the standard's bounds or ours.
  case parameters
  /// It would take more than three quarters of what is available.
  case notEnoughMemory(neededByteCount: Int, availableByteCount: Int)
  /// The memory was available a moment ago, but could not be allocated.
  case allocationFailed
}

/// Argon2id, version 1.3.
public enum Argon2id {
  /// Derives as many bytes as `output` has room for (at least 4).
  ///
  /// - Parameters:
  ///   - password: the message P of RFC 9106.
  ///   - parameters: the costs.
  ///   - output: receives the tag.
  ///   - salt: at least 8 bytes.
  ///   - secret: the optional key K of RFC 9106; usually empty.
  ///   - associatedData: the optional X of RFC 9106; usually empty.
  ///   - memory: what may be used; the default measures now.
  public static func derive(
    password: RawSpan, salt: RawSpan, secret: RawSpan = RawSpan(), associatedData: RawSpan = RawSpan(),
    parameters: Argon2idParameters, memory: MemoryGuard = .current(), into output: inout MutableRawSpan
  ) throws(Argon2idError) {
    let needed = parameters.memoryKiB << 10
    guard memory.allows(byteCount: needed) else {
      throw .notEnoughMemory(neededByteCount: needed, availableByteCount: memory.availableByteCount)
    }
    guard salt.byteCount >= 8, output.byteCount >= 4 else { throw .parameters }
    let result = unsafe password.withUnsafeBytes { password in
      unsafe salt.withUnsafeBytes { salt in
        unsafe secret.withUnsafeBytes { secret in
          unsafe associatedData.withUnsafeBytes { associatedData in
            unsafe output.withUnsafeMutableBytes { output in
              var context = unsafe argon2_context(
                out: output.baseAddress?.assumingMemoryBound(to: UInt8.self),
                outlen: UInt32(output.count),
                pwd: bytes(password), pwdlen: UInt32(password.count),
                salt: bytes(salt), saltlen: UInt32(salt.count),
                secret: bytes(secret), secretlen: UInt32(secret.count),
                ad: bytes(associatedData), adlen: UInt32(associatedData.count),
                t_cost: UInt32(parameters.passes), m_cost: UInt32(parameters.memoryKiB),
                lanes: UInt32(parameters.lanes),
                threads: UInt32(min(parameters.lanes, Argon2idParameters.limit.lanes)),
                version: UInt32(ARGON2_VERSION_13.rawValue), allocate_cbk: allocate, free_cbk: release,
                flags: 0)
              return unsafe argon2id_ctx(&context)
            }
          }
        }
      }
    }
    switch result {
    case ARGON2_OK.rawValue: return
    case ARGON2_MEMORY_ALLOCATION_ERROR.rawValue, ARGON2_THREAD_FAIL.rawValue: throw .allocationFailed
    default: throw .parameters
    }
  }

  /// libargon2 takes mutable pointers and writes only when a flag asks it to erase; none does here.
  private static func bytes(_ buffer: UnsafeRawBufferPointer) -> UnsafeMutablePointer<UInt8>? {
    unsafe UnsafeMutableRawPointer(mutating: buffer.baseAddress)?.assumingMemoryBound(to: UInt8.self)
  }
}

private func allocate(
  _ memory: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?, _ byteCount: Int
) -> Int32 {
  let pages = unsafe mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
  guard let pages = unsafe pages, unsafe pages != MAP_FAILED else { return -1 }
  unsafe coffer_prepare_scratch(pages, byteCount)
  unsafe memory?.pointee = pages.assumingMemoryBound(to: UInt8.self)
  return 0
}

private func release(_ memory: UnsafeMutablePointer<UInt8>?, _ byteCount: Int) {
  if let memory = unsafe memory { unsafe munmap(memory, byteCount) }
}
