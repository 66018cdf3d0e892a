// SPDX-License-Identifier: Apache-2.0

/// An operation that is stopped at every call that changes the disk.
///
/// A scenario is prepared once. Everything after starts from a copy of what that left, or from what a crash
/// left, so it must hold in memory only what is the same for all runs: keys, and what was stored.
public protocol CrashScenario: AnyObject {
  /// What has been opened.
  associatedtype Store

  /// The kind of store, for the table.
  var store: String { get }
  /// The operation, for the table; unique within its kind of store.
  var operation: String { get }

  /// Where a sample is taken: of the states after crashes and of the runs with failing calls, every so many are
  /// judged. 1 unless judging takes long; without a common factor with the other strides.
  var stride: Int { get }

  /// Makes what the operation starts from in `home`, an empty folder that is there, and closes it.
  func prepare(_ home: String) throws

  /// Opens what is in `home`, as the next command would after a crash.
  func open(_ home: String) throws -> Store

  /// The operation. When it returns, the person is told that it is done.
  func operate(_ store: Store) throws

  /// Compares all that is there with what there was before the operation, and with what there is after it. What
  /// the next command would do to recover is done first.
  ///
  /// - Returns: which of both it is, in every respect.
  /// - Throws: ``CrashFinding`` when it is neither; any error when something cannot be read.
  func judge(_ store: Store) throws -> CrashVerdict

  func close(_ store: Store)
}

/// What a store holds after a crash.
public enum CrashVerdict: String, Sendable {
  /// What it held before the operation.
  case before
  /// What it holds after the operation.
  case after
}

/// What no crash may leave.
public enum CrashFinding: Error, Equatable {
  /// Something that was there is not, or cannot be read any more; or what was acknowledged.
  case lost(String)
  /// Some of the operation and not the rest.
  case mixed(String)
}

extension CrashScenario {
  public var stride: Int { 1 }
}

/// Every scenario whose store is not open: the operation and the judgement open it themselves.
extension CrashScenario where Store == String {
  public func open(_ home: String) throws -> String { home }
  public func close(_ store: String) {}
}
