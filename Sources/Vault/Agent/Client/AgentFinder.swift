// SPDX-License-Identifier: Apache-2.0
//
// The agents of one coffer, wherever they listen (Specs/agent.md, "Finding"). The place may have changed
// since one was started: another XDG_RUNTIME_DIR, another mode of a folder, another name of the home. A
// command must not say "locked" meanwhile.

internal import Keychains
public import Secrets

/// Looks for the agents of one coffer, and asks all of them.
///
/// An agent belongs to this coffer if it listens at the place of the coffer's home, or says that it holds the
/// coffer's keys.
public struct AgentFinder: Sendable {
  private let home: String
  private let binding: AgentBinding?
  private let runtime: String?
  private let variables: AgentVariables

  /// - Parameters:
  ///   - home: the coffer's folder, which may be gone.
  ///   - binding: identifies the coffer's keys; nil when it is not known.
  ///   - variables: of the environment.
  public init(home: String, binding: AgentBinding?, variables: AgentVariables = .ofProcess) {
    self.init(home: home, binding: binding, runtime: nil, variables: variables)
  }

  /// - Parameter runtime: replaces `$XDG_RUNTIME_DIR` and its fallbacks.
  init(home: String, binding: AgentBinding?, runtime: String?, variables: AgentVariables = .ofProcess) {
    self.variables = variables
    self.home = AgentPlace.knownPath(home)
    self.binding = binding
    self.runtime = runtime
  }

  // MARK: Asking

  /// The keys that an agent of this coffer gives: with the when-unlocked key, if one of them has it.
  /// - Returns: nil when no agent that answers has a requested key.
  public func keys(_ selection: AgentKeySelection) -> AgentKeys? {
    guard let binding else { return nil }
    var found: AgentKeys?
    for place in places() {
      // An agent that does not answer is not an error: every command works without one.
      guard let agent = try? AgentClient.find(place.socket),
        let keys = try? agent.keys(selection, binding: binding)
      else { continue }
      if selection == .afterFirstUnlock || keys.keys.whenUnlocked != nil { return keys }
      found = found ?? keys
    }
    return found
  }

  /// Whether anything listens where an agent of this coffer would.
  public var hasAnswer: Bool {
    let (agents, isSomeFull) = agents()
    return isSomeFull || !agents.isEmpty
  }

  /// The state of a coffer's agents.
  public struct Sight: Equatable, Sendable {
    /// The state of the agent with the most keys; nil when none answers.
    public var status: AgentStatus?
    /// Whether there is an agent that cannot be asked. It may have the keys.
    public var hasSilentAgent = false

    /// Without any agent.
    public init() {}

    init(status: AgentStatus?, hasSilentAgent: Bool) {
      (self.status, self.hasSilentAgent) = (status, hasSilentAgent)
    }
  }

  /// Looks at the agents.
  public func look() -> Sight {
    let (agents, isSomeFull) = agents()
    var sight = Sight(status: nil, hasSilentAgent: isSomeFull)
    var processes: [Int32] = []
    for agent in agents {
      processes.append(agent.client.processID)
      guard let status = agent.status ?? (try? agent.client.status()) else {
        sight.hasSilentAgent = true
        continue
      }
      // The keys of a coffer that was in this home before.
      guard status.binding == nil || status.binding == binding else { continue }
      if Self.rank(status) > Self.rank(sight.status) { sight.status = status }
    }
    if !RunningAgents.lasting(home, except: processes).isEmpty { sight.hasSilentAgent = true }
    return sight
  }

  private static func rank(_ status: AgentStatus?) -> Int {
    switch status?.state {
    case nil: 0
    case .neverUnlocked: 1
    case .locked: 2
    case .unlocked: 3
    }
  }

  // MARK: The passcode of private keys

  /// The passcode of private keys that an agent of this coffer keeps; nil when none does.
  public func passcode() -> SharedSecretBytes? {
    guard let binding else { return nil }
    for place in places() {
      if let agent = try? AgentClient.find(place.socket), let found = try? agent.passcode(binding: binding) {
        return found
      }
    }
    return nil
  }

  /// Lets the agents of this coffer that are unlocked keep the passcode of private keys.
  public func keep(_ passcode: SharedSecretBytes, seconds: Int) {
    guard let binding else { return }
    for place in places() {
      guard let agent = try? AgentClient.find(place.socket) else { continue }
      // An agent that does not take it only means that the user is asked again.
      try? agent.keep(passcode, seconds: seconds, binding: binding)
    }
  }

  // MARK: Taking keys away

  /// Lets every agent erase the passcode of private keys.
  /// - Throws: `AgentError.unreachable` or `.notAnswering` when there is one that cannot be asked and may still
  ///   have it, after all others have been.
  public func dropPasscode() throws(AgentError) {
    guard let binding else { return }
    let nothing = SharedSecretBytes(SecretBytes(zeroed: AgentHeader.keyByteCount))
    _ = try tellAll { agent throws(AgentError) in
      do throws(AgentError) { try agent.keep(nothing, seconds: 0, binding: binding) } catch {
        // It has nothing of this coffer.
        guard error == .otherCoffer else { throw error }
      }
    }
  }

  /// Lets every agent erase the when-unlocked key.
  /// - Returns: whether there was an agent.
  /// - Throws: `AgentError.unreachable` or `.notAnswering` when there is one that cannot be asked, after all
  ///   others have been.
  public func lock() throws(AgentError) -> Bool {
    try tellAll { agent throws(AgentError) in try agent.lock() }
  }

  /// Tells every agent, and again if one has just begun to listen.
  /// - Returns: whether there was an agent.
  private func tellAll(
    _ request: (AgentClient) throws(AgentError) -> Void
  ) throws(AgentError) -> Bool {
    var told = tell(request)
    // An agent that is ending or has just begun to listen does not count as one that cannot be asked.
    var unreached = RunningAgents.lasting(home, except: told.reached)
    if !unreached.isEmpty, told.silent.isEmpty {
      told = tell(request)
      unreached.removeAll { told.reached.contains($0) }
    }
    if let last = told.silent.last ?? unreached.last { throw .unreachable(processID: last) }
    if told.isSomeFull { throw .notAnswering }
    return !told.reached.isEmpty
  }

  /// Lets every agent erase both keys and end; one that cannot be asked is ended by a signal.
  /// - Returns: whether there was an agent.
  /// - Throws: `AgentError.unreachable` or `.notAnswering` when one could not be ended.
  public func end() throws(AgentError) -> Bool {
    let told = tell { agent throws(AgentError) in try agent.logout() }
    let silent = Set(told.silent).union(RunningAgents.serving(home)).subtracting(told.reached).sorted()
    let left = silent.filter { !RunningAgents.end($0, home) }
    if let last = left.last { throw .unreachable(processID: last) }
    if told.isSomeFull, silent.isEmpty { throw .notAnswering }
    return !told.reached.isEmpty || !silent.isEmpty
  }

  private struct Told {
    /// The processes that did it.
    var reached: [Int32] = []
    /// The processes that did not answer.
    var silent: [Int32] = []
    var isSomeFull = false
  }

  /// Tells every agent that can be found.
  private func tell(_ request: (AgentClient) throws(AgentError) -> Void) -> Told {
    let (agents, isSomeFull) = agents()
    var told = Told(isSomeFull: isSomeFull)
    for agent in agents {
      do throws(AgentError) {
        try request(agent.client)
        told.reached.append(agent.client.processID)
      } catch {
        told.silent.append(agent.client.processID)
      }
    }
    return told
  }

  // MARK: Finding

  private struct Place {
    let socket: String
    /// Whether the agent of this home listens there, whatever keys it has.
    let isOfHome: Bool
  }

  private struct Found {
    let client: AgentClient
    /// Its state, if it was asked before.
    let status: AgentStatus?
  }

  /// The agents of this coffer to which there is a connection, and whether one of its home takes nobody in.
  private func agents() -> (found: [Found], isSomeFull: Bool) {
    var (found, isSomeFull): ([Found], Bool) = ([], false)
    for place in places() {
      let connected: AgentClient?
      do throws(AgentError) { connected = try AgentClient.find(place.socket) } catch {
        isSomeFull = isSomeFull || place.isOfHome
        continue
      }
      guard let client = connected, !found.contains(where: { $0.client.processID == client.processID })
      else { continue }
      if place.isOfHome {
        found.append(Found(client: client, status: nil))
      } else if let binding, let status = try? client.status(), status.binding == binding {
        found.append(Found(client: client, status: status))
      }
    }
    return (found, isSomeFull)
  }

  /// Every socket at which an agent may listen, those of this home first.
  private func places() -> [Place] {
    let name = AgentPlace.name(of: home)
    let own = AgentPlace.sockets(home: home, runtime: runtime, variables)
    let listed = Self.listeningSockets().filter { !own.contains($0) }
    let ofHome = listed.filter { AgentPlace.homeName(of: $0) == name }
    let others = listed.filter { AgentPlace.homeName(of: $0) != name }
    return (own + ofHome).map { Place(socket: $0, isOfHome: true) }
      + others.map { Place(socket: $0, isOfHome: false) }
  }

  /// The paths with the name of an agent's socket at which somebody listens, as the kernel lists them.
  private static func listeningSockets() -> [String] {
    guard let table = RunningAgents.contents("/proc/net/unix") else { return [] }
    var paths: [String] = []
    for line in table.split(separator: 0x0A) {
      // number: references protocol flags type state inode path, where the path may have spaces.
      let fields = line.split(separator: 0x20, maxSplits: 7, omittingEmptySubsequences: true)
      guard fields.count == 8, fields[3].elementsEqual("00010000".utf8),
        fields[4].elementsEqual("0005".utf8), let path = String(validating: fields[7], as: UTF8.self),
        path.hasPrefix("/"), AgentPlace.homeName(of: path) != nil, !paths.contains(path)
      else { continue }
      paths.append(path)
    }
    return paths
  }
}
