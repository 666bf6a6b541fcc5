import { waitUntil } from '../../src/core/concurrency/concurrency.ts'
import { sendTo } from './processes.ts'

const START_LIMIT_MS = 60_000
/** Longer than a whole shutdown may take. */
const STOP_LIMIT_MS = 30_000
const KILL_LIMIT_MS = 10_000

export type NodeKind = 'api' | 'hub' | 'gateway' | 'worker' | 'postgres' | 'redis' | 'proxy'

/** One process of the cluster, with whatever children it has; it can die and come back. */
export interface ClusterNode {
  readonly name: string
  readonly kind: NodeKind
  /** Undefined while it does not run. */
  readonly pid: number | undefined
  /** Where it listens, on 127.0.0.1. */
  readonly port: number
  readonly running: boolean
  readonly paused: boolean
  /** What it writes, of all its lives. */
  readonly logFile: string
  /** SIGKILL, to its children too; settles when all of them are gone. Harmless when it does not run. */
  kill(): Promise<void>
  /** SIGTERM, an orderly end; settles when it is gone. One that does not end in 30 seconds is killed. */
  stop(): Promise<void>
  /** SIGSTOP: connections stay open, and nothing is answered. */
  pause(): void
  /** SIGCONT. Harmless when it is not paused. */
  resume(): void
  /**
   * Starts it again on the same ports and data; settles when it serves.
   * @throws Error with the end of its log when it ends instead, or does not serve within a minute.
   */
  start(): Promise<void>
}

/** A process that has been started. */
export interface Launched {
  readonly pid: number
  hasEnded(): boolean
  /** Sends a signal to the process and its children; those that are gone already are passed over. */
  signal(name: NodeJS.Signals): void
  /** Whether neither it nor a child of it is left. */
  hasExited(): boolean
}

export interface NodeParts {
  readonly name: string
  readonly kind: NodeKind
  readonly port: number
  readonly logFile: string
  launch(): Launched | Promise<Launched>
  serves(): Promise<boolean>
  /** Asks it to end in order; SIGTERM to the process alone unless told otherwise. */
  askToEnd?(pid: number): Promise<void> | void
  /** The end of its log, for errors. */
  lastOutput(): string
}

export interface ManagedNode extends ClusterNode {
  /** Kills without waiting, for when this very process ends. */
  killNow(): void
  /** Called whenever a process has been started, before it serves. */
  onLaunch(listener: () => void): void
}

export function createNode(parts: NodeParts): ManagedNode {
  const { name, kind, port, logFile } = parts
  const askToEnd = parts.askToEnd ?? ((pid) => void sendTo(pid, 'SIGTERM'))
  let launched: Launched | undefined
  let paused = false
  let launchListener = () => {}
  const live = () => (launched && !launched.hasEnded() ? launched : undefined)

  async function kill(): Promise<void> {
    const dying = launched
    if (!dying) return
    dying.signal('SIGKILL')
    paused = false
    if (await waitUntil(() => dying.hasEnded() && dying.hasExited(), KILL_LIMIT_MS)) {
      launched = undefined // its number may go to somebody else's process
      return
    }
    throw new Error(`${name} (process ${dying.pid}) does not go away`)
  }

  function resume(): void {
    if (paused) live()?.signal('SIGCONT')
    paused = false
  }

  return {
    name,
    kind,
    port,
    logFile,
    kill,
    resume,
    get pid() {
      return live()?.pid
    },
    get running() {
      return live() !== undefined
    },
    get paused() {
      return paused && live() !== undefined
    },
    async stop() {
      resume()
      const ending = live()
      if (ending) await askToEnd(ending.pid)
      if (ending) await waitUntil(() => ending.hasEnded(), STOP_LIMIT_MS)
      await kill()
    },
    pause() {
      live()?.signal('SIGSTOP')
      paused = live() !== undefined
    },
    async start() {
      resume()
      if (!live()) {
        launched = await parts.launch()
        launchListener()
      }
      let serving = false
      await waitUntil(async () => {
        serving = await parts.serves()
        return serving || !live()
      }, START_LIMIT_MS)
      if (serving && live()) return
      const what = live() ? 'does not serve' : 'ended at once'
      await kill()
      throw new Error(`${name} ${what}; the end of ${logFile}:\n${parts.lastOutput()}`)
    },
    killNow: () => launched?.signal('SIGKILL'),
    onLaunch: (listener) => {
      launchListener = listener
    },
  }
}
