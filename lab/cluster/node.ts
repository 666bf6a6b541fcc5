import { waitUntil } from '../../src/core/concurrency/concurrency.ts'
import { sendTo } from '../../test/support/processes/process-table.ts'

const START_LIMIT_MS = 180_000
/** Longer than an orderly shutdown may take, also on a busy machine. */
export const STOP_LIMIT_MS = 90_000
const KILL_LIMIT_MS = 60_000

export type NodeKind =
  | 'api'
  | 'hub'
  | 'gateway'
  | 'worker'
  | 'recorder'
  | 'postgres'
  | 'redis'
  | 'storage'
  | 'turn'
  | 'proxy'

/** One process of the cluster, with its children; it can end and be started again. */
export interface ClusterNode {
  readonly name: string
  readonly kind: NodeKind
  /** Undefined while it is not running. */
  readonly pid: number | undefined
  /** Its port on 127.0.0.1. */
  readonly port: number
  readonly running: boolean
  readonly paused: boolean
  /** The log of all its runs. */
  readonly logFile: string
  /** Sends SIGKILL to it and its children; settles when all have ended. Harmless when it is not running. */
  kill(): Promise<void>
  /** Sends SIGTERM; settles when it has ended. Kills it after one and a half minutes. */
  stop(): Promise<void>
  /** Sends SIGSTOP: connections stay open, and it answers no request. */
  pause(): void
  /** Sends SIGCONT. Harmless when it is not paused. */
  resume(): void
  /**
   * Starts it again on the same ports and data; settles when it serves.
   * @throws Error with the end of its log when it ends, or does not serve within three minutes.
   */
  start(): Promise<void>
}

/** A process that has been started. */
export interface Launched {
  readonly pid: number
  hasEnded(): boolean
  /** Sends a signal to the process and its children; skips those that have ended. */
  signal(name: NodeJS.Signals): void
  /** Returns whether it and all its children have ended. */
  hasExited(): boolean
}

export interface NodeParts {
  readonly name: string
  readonly kind: NodeKind
  readonly port: number
  readonly logFile: string
  launch(): Launched | Promise<Launched>
  serves(): Promise<boolean>
  /** Requests an orderly end. Default: SIGTERM to the process without its children. */
  askToEnd?(pid: number): Promise<void> | void
  /** Returns the end of its log, for errors. */
  lastOutput(): string
}

export interface ManagedNode extends ClusterNode {
  /** Kills without waiting, for the exit of this process. */
  killNow(): void
  /** Runs after each start of the process, before it serves. */
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
      launched = undefined // the system may reuse its number
      return
    }
    throw new Error(`${name} (process ${dying.pid}) does not end`)
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
        const launching = parts.launch()
        // At once where possible: a process that is not noted would survive a kill of the cluster.
        launched = launching instanceof Promise ? await launching : launching
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
