// SPDX-License-Identifier: Apache-2.0

/// How much may come out of the compressed data of one message, however often it is compressed within itself:
/// the outermost input counts.
final class CompressionBudget {
  private var outermost: ObjectIdentifier?
  private var inputCount = 0

  /// Counts what one step of decompression has used and given.
  /// - Throws: ``OpenPGPError/overLimit(_:)`` with `compressionRatio`.
  func spend(input: Int, output: Int, by layer: InflatingSource) throws(OpenPGPError) {
    if outermost == nil { outermost = ObjectIdentifier(layer) }
    if outermost == ObjectIdentifier(layer) { inputCount += input }
    layer.producedCount += output
    let allowed = Limits.compressionAllowance + inputCount * Limits.compressionRatio
    guard layer.producedCount <= allowed else { throw .overLimit(.compressionRatio) }
  }
}
