import type { Lab } from '../../bench/lab.ts'

/** Lifetime of every command. Wheelhouse's default deadman, which also limits the age of commands without a lifetime. */
export const TTL_MS = 250
/** Commands that every operator sends, the whole time. */
export const COMMANDS_HZ = 50

/** A command. Its time is that of the machine's monotonic clock, which both ends read. */
export interface Command {
  readonly seq: number
  readonly sent_ms: number
  readonly linear_mps: number
  readonly angular_radps: number
}

/** Where one end of a pair connects. */
export interface EndAddress {
  readonly url: string
  /** The credential of this end, if the transport needs one. */
  readonly token?: string
  readonly baseUrl?: string
  readonly sessionId?: string
}

/** The network at the platform, where the servers listen. */
export interface Site {
  readonly lab: Lab
  /** The address that operators and robots reach. */
  readonly host: string
}

/** The ends of all pairs of one run. */
export interface OpenedPairs {
  readonly robots: readonly EndAddress[]
  /** Returns the operators' addresses. The robots must be connected. */
  operators(): Promise<EndAddress[]>
}

/** The running servers of a transport. */
export interface Served {
  /** Creates pairs for one run. Earlier pairs are closed. */
  open(pairs: number): Promise<OpenedPairs>
  stop(): Promise<void>
}

/** Reports of an operator's end. */
export interface OperatorEvents {
  /** Counts a command that the server refused. */
  onRefused(why: string): void
  /** Counts a lost connection. */
  onLost(): void
}

export interface OperatorEnd {
  /** Sends a command. Returns false if the end dropped it. */
  send(command: Command): boolean
  close(): Promise<void>
}

/** Commands and halts that the robot executes. */
export interface RobotEvents {
  execute(command: Command): void
  halt(reason: string): void
}

export interface RobotEnd {
  close(): Promise<void>
}

/** A transport under test. `serve` runs at the site, both ends in separate processes behind the links. */
export interface Transport {
  readonly name: string
  /** Wheelhouse with its defaults, Wheelhouse without data channels, or a peer that is measured for comparison. */
  readonly role: 'default' | 'fallback' | 'peer'
  serve(site: Site): Promise<Served>
  connectOperator(address: EndAddress, events: OperatorEvents): Promise<OperatorEnd>
  /** Connects a robot that executes what arrives, and halts when the transport says so. */
  connectRobot(address: EndAddress, events: RobotEvents): Promise<RobotEnd>
  /** The robot's end halts after this time without a command. Null: the transport does this itself. */
  readonly silenceHaltMs: number | null
}
