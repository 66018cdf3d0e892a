// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 3.7.1: keys from passwords. The password and what is derived from it stay in memory for
// secrets.

internal import Primitives
internal import Secrets

extension StringToKey {
  /// The key for a password.
  ///
  /// - Parameter byteCount: how many octets of key; at least 4 for Argon2.
  /// - Throws: ``OpenPGPError/unsupported(_:)`` for an unknown specifier or hash;
  ///   ``OpenPGPError/overLimit(_:)`` when Argon2 asks for more than ``Limits`` allows;
  ///   ``OpenPGPError/notEnoughMemory(neededByteCount:availableByteCount:)``;
  ///   ``OpenPGPError/malformed(_:)`` with `stringToKey` for costs that Argon2 does not have.
  func deriveKey(password: RawSpan, byteCount: Int) throws(OpenPGPError) -> SecretBytes {
    switch self {
    case .simple(let hash):
      return try Self.hashed(hash, salt: [], password: password, octetCount: 0, byteCount: byteCount)
    case .salted(let hash, let salt):
      return try Self.hashed(hash, salt: salt, password: password, octetCount: 0, byteCount: byteCount)
    case .iterated(let hash, let salt, let codedCount):
      return try Self.hashed(
        hash, salt: salt, password: password, octetCount: Self.octetCount(coded: codedCount),
        byteCount: byteCount)
    case .argon2(let salt, let passes, let lanes, let memoryExponent):
      let costs = try Self.costs(passes: passes, lanes: lanes, memoryExponent: memoryExponent)
      return try Self.argon2(password: password, salt: salt, costs: costs, byteCount: byteCount)
    case .unknown(let type, _): throw .unsupported(.stringToKey(type))
    }
  }

  // MARK: Hashing

  /// Sections 3.7.1.1 to 3.7.1.3: the hash of salt and password, over and over until `octetCount` octets have
  /// been hashed, and at least once. Where a digest is shorter than the key, further hashes begin with one, two
  /// and more zeros.
  private static func hashed(
    _ hash: HashAlgorithm, salt: [UInt8], password: RawSpan, octetCount: Int, byteCount: Int
  ) throws(OpenPGPError) -> SecretBytes {
    guard let digestByteCount = hash.digestByteCount, HashContext.isAvailable(hash) else {
      throw .unsupported(.hashAlgorithm(hash.rawValue))
    }
    let unitByteCount = salt.count + password.byteCount
    let total = max(octetCount, unitByteCount)
    let unit = repeated(salt: salt, password: password, total: total)
    let digestCount = (byteCount + digestByteCount - 1) / digestByteCount
    var key = SecretBytes(zeroed: digestCount * digestByteCount)
    for number in 0..<digestCount {
      let start = number * digestByteCount
      key.withMutableBytes { key in
        unit.withBytes { unit in
          var place = key._mutatingExtracting(start..<start + digestByteCount)
          digest(hash, zeroCount: number, unit: unit, total: total, into: &place)
        }
      }
    }
    key.shorten(to: byteCount)
    return key
  }

  private static func digest(
    _ hash: HashAlgorithm, zeroCount: Int, unit: RawSpan, total: Int, into place: inout MutableRawSpan
  ) {
    var context = HashContext(hash)
    context.update([UInt8](repeating: 0, count: zeroCount))
    var left = total
    while left > 0 {
      let count = min(left, unit.byteCount)
      context.update(unit.extracting(first: count))
      left -= count
    }
    context.finish(into: &place)
  }

  /// Salt and password as often as they fit into a piece that is worth a call of the hash.
  private static func repeated(salt: [UInt8], password: RawSpan, total: Int) -> SecretBytes {
    let unitByteCount = salt.count + password.byteCount
    let count = total == unitByteCount ? 1 : max(1, hashedPieceByteCount / max(unitByteCount, 1))
    var writer = SecretWriter(byteCount: unitByteCount * count)
    for _ in 0..<count {
      writer.append(salt)
      writer.append(password)
    }
    return writer.finish()
  }

  /// The call of a hash costs as much as some hundred octets; this fits the processor's nearest cache.
  private static let hashedPieceByteCount = 16 << 10

  // MARK: Argon2

  /// KiB that are written in all passes together; 0 for refused parameters, and for other types.
  var argon2PassedKiB: Int {
    guard case .argon2(_, let passes, let lanes, let memoryExponent) = self,
      let costs = try? Self.costs(passes: passes, lanes: lanes, memoryExponent: memoryExponent)
    else { return 0 }
    return costs.passes * costs.memoryKiB
  }

  /// Section 3.7.1.4; what no machine can be asked for is refused before anything is tried.
  private static func costs(
    passes: UInt8, lanes: UInt8, memoryExponent: UInt8
  ) throws(OpenPGPError) -> Argon2idParameters {
    // "m MUST be a value between 3+ceil(log2(p)) and 31", so that each lane has eight blocks.
    guard passes >= 1, lanes >= 1, memoryExponent <= 31, 1 << Int(memoryExponent) >= 8 * Int(lanes) else {
      throw .malformed(.stringToKey)
    }
    guard memoryExponent <= Limits.argon2MemoryExponent,
      Int(passes) << Int(memoryExponent) <= Limits.argon2PassedKiB
    else { throw .overLimit(.argon2Memory) }
    do throws(Argon2idError) {
      return try Argon2idParameters(
        memoryKiB: 1 << Int(memoryExponent), passes: Int(passes), lanes: Int(lanes), within: .greatest)
    } catch {
      throw .overLimit(.argon2Memory)
    }
  }

  /// Whether this machine has the memory for a derivation now; nothing is derived. Other types need none to speak
  /// of, and parameters that are refused are left to ``deriveKey(password:byteCount:)``.
  /// - Throws: ``OpenPGPError/notEnoughMemory(neededByteCount:availableByteCount:)``.
  func checkMemory() throws(OpenPGPError) {
    guard case .argon2(_, let passes, let lanes, let memoryExponent) = self,
      let costs = try? Self.costs(passes: passes, lanes: lanes, memoryExponent: memoryExponent)
    else { return }
    let memory = MemoryGuard.current()
    let needed = costs.memoryKiB << 10
    guard memory.allows(byteCount: needed) else {
      throw .notEnoughMemory(neededByteCount: needed, availableByteCount: memory.availableByteCount)
    }
  }

  private static func argon2(
    password: RawSpan, salt: [UInt8], costs: Argon2idParameters, byteCount: Int
  ) throws(OpenPGPError) -> SecretBytes {
    var key = SecretBytes(zeroed: byteCount)
    let error = key.withMutableBytes { key -> Argon2idError? in
      do throws(Argon2idError) {
        try Argon2id.derive(
          password: password, salt: salt.rawSpan, parameters: costs, into: &key)
        return nil
      } catch {
        return error
      }
    }
    switch error {
    case nil: return key
    case .notEnoughMemory(let needed, let available)?:
      throw .notEnoughMemory(neededByteCount: needed, availableByteCount: available)
    case .allocationFailed?:
      throw .notEnoughMemory(
        neededByteCount: costs.memoryKiB << 10,
        availableByteCount: MemoryGuard.current().availableByteCount)
    case .parameters?: throw .malformed(.stringToKey)
    }
  }
}
