// SPDX-License-Identifier: Apache-2.0

public import Secrets

/// Pictures as text for a terminal.
public enum TerminalPicture {
  /// The size of a character in pixels. The environment does not tell it; the terminal may.
  public struct Cell: Equatable, Sendable {
    /// Pixels, at least 1.
    public var width: Int
    /// Pixels, at least 1.
    public var height: Int

    /// The size of characters on most screens.
    public static let usual = Cell(width: 10, height: 20)
    /// Half blocks: one column, two rows.
    static let halfBlock = Cell(width: 1, height: 2)

    /// A character of this many pixels; ``text(of:_:columns:rows:cell:)`` refuses sizes below 1.
    public init(width: Int, height: Int) {
      self.width = width
      self.height = height
    }
  }

  /// The bytes to write to a terminal to show `raster` on at most `columns` × `rows` characters, in its
  /// proportions and never larger than it is. They end in a line feed; with ``TerminalGraphics/none``
  /// there are none.
  ///
  /// They are content, so they are in memory that is erased.
  /// - Throws: ``PictureError/invalidSize`` when there is no room; ``PictureError/tooLarge`` for more than
  ///   ``sideLimit`` columns or rows.
  public static func text(
    of raster: consuming Raster, _ graphics: TerminalGraphics, columns: Int, rows: Int, cell: Cell = .usual
  ) throws(PictureError) -> SecretBytes {
    if graphics == .none { return SecretBytes(zeroed: 0) }
    let cell = graphics == .halfBlocks || graphics == .halfBlocks256 ? Cell.halfBlock : cell
    guard columns > 0, rows > 0, cell.width > 0, cell.height > 0 else { throw .invalidSize }
    guard columns <= sideLimit, rows <= sideLimit, cell.width <= sideLimit, cell.height <= sideLimit
    else { throw .tooLarge }
    let fitted = try raster.fitted(width: columns * cell.width, height: rows * cell.height)
    return switch graphics {
    case .kitty: KittyText.make(fitted, cell)
    case .sixel: SixelText.make(fitted)
    case .halfBlocks: HalfBlockText.make(fitted, in256Colours: false)
    case .halfBlocks256: HalfBlockText.make(fitted, in256Colours: true)
    case .none: SecretBytes(zeroed: 0)
    }
  }

  /// No terminal has more columns or rows, nor larger characters.
  public static let sideLimit = 10_000
}
