// SPDX-License-Identifier: Apache-2.0
//
// The table that a group prints: one row for each comparison, with its target where there is one.

/// What a figure is held against.
enum Target {
  case none
  /// At least this many times the peer's speed.
  case speedOfPeer(Double)
  /// At most this many times the peer's time.
  case timeOfPeer(Double)
  /// Less than this many seconds.
  case below(Double)

  var text: String {
    switch self {
    case .none: ""
    case .speedOfPeer(let factor): "speed >= \(factor)"
    case .timeOfPeer(let factor): "time <= \(factor)"
    case .below(let seconds): "< \(Table.time(seconds))"
    }
  }

  func isMet(_ ours: Double, _ peer: Double?) -> Bool? {
    switch self {
    case .none: nil
    case .speedOfPeer(let factor): peer.map { $0 / ours >= factor }
    case .timeOfPeer(let factor): peer.map { ours / $0 <= factor }
    case .below(let seconds): ours < seconds
    }
  }
}

struct Table {
  private var rows: [[String]] = [
    ["what", "median", "min", "peer", "peer's median", "peer's min", "speed/peer", "target", ""]
  ]

  /// One row for each peer, or one row without. The first peer is the one that the target names.
  mutating func add(
    _ what: String, byteCount: Int? = nil, _ ours: Series,
    peers: [(name: String, series: Series)] = [],
    target: Target = .none
  ) {
    func figure(_ seconds: Double) -> String {
      byteCount.map { Self.speed(Double($0) / seconds) } ?? Self.time(seconds)
    }
    let mine = [figure(ours.median), figure(ours.minimum)]
    func verdict(_ peer: Double?) -> [String] {
      [target.text, target.isMet(ours.median, peer).map { $0 ? "ok" : "MISS" } ?? ""]
    }
    if peers.isEmpty { rows.append([what] + mine + ["", "", "", ""] + verdict(nil)) }
    for (index, (name, peer)) in peers.enumerated() {
      let theirs = [
        name, figure(peer.median), figure(peer.minimum), Self.decimal(peer.median / ours.median, 2),
      ]
      rows.append([what] + mine + theirs + (index == 0 ? verdict(peer.median) : ["", ""]))
    }
  }

  func write() {
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    for row in rows {
      let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
      print(cells.joined(separator: " | "))
    }
  }

  static func time(_ seconds: Double) -> String {
    switch seconds {
    case ..<1e-6: decimal(seconds * 1e9, 1) + " ns"
    case ..<1e-3: decimal(seconds * 1e6, 2) + " µs"
    case ..<1: decimal(seconds * 1e3, 2) + " ms"
    default: decimal(seconds, 2) + " s"
    }
  }

  static func speed(_ bytesPerSecond: Double) -> String {
    decimal(bytesPerSecond / 1e6, 0) + " MB/s"
  }

  static func decimal(_ value: Double, _ places: Int) -> String {
    var scale = 1.0
    for _ in 0..<places { scale *= 10 }
    let whole = Int((value * scale).rounded())
    guard places > 0 else { return "\(whole)" }
    let fraction = "\(whole % Int(scale))"
    return "\(whole / Int(scale))." + String(repeating: "0", count: places - fraction.count)
      + fraction
  }
}
