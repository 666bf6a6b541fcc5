import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { waitUntil } from '../../../src/core/concurrency/concurrency.ts'
import type { Launched } from '../../cluster/node.ts'
import { launch, tailOf } from '../../cluster/spawn.ts'

const START_LIMIT_MS = 180_000
const STOP_LIMIT_MS = 90_000
const METRICS_LIMIT_MS = 30_000
const ERROR_LEVEL = 50

/** A whole platform in a separate process, with an embedded database, as `npm start` starts it. */
export interface FuzzedPlatform {
  readonly baseUrl: string
  readonly gatewayUrl: string
  readonly keys: { readonly owner: string; readonly operator: string; readonly admin: string }
  readonly alive: boolean
  /** Returns errors in its log, and failures of handlers that it has counted, since the last call. */
  findings(): Promise<string[]>
  memoryBytes(): Promise<number | undefined>
  lastOutput(): string
  stop(): Promise<void>
}

/** Starts the platform of a checkout, without rate limits unless it is `limited`. */
export async function startPlatform(
  checkout: string,
  dataDir: string,
  { limited = false } = {},
): Promise<FuzzedPlatform> {
  const logFile = join(dataDir, 'platform.log')
  const env = {
    DATA_DIR: join(dataDir, 'data'),
    DEMO: 'true',
    PORT: '0',
    // They follow from PORT, except in a checkout of an earlier version.
    GATEWAY_PORT: '0',
    MEDIA_UDP_PORT: '0',
    RECORDER_PORT: '0',
    npm_lifecycle_event: 'fuzz', // makes it end if this process is killed
    ...(!limited && {
      RATE_LIMIT_PER_MINUTE: '0',
      RATE_LIMIT_PUBLIC_PER_MINUTE: '0',
      ROBOT_CONNECTS_PER_MINUTE: '0',
    }),
  }
  const launched = launch(process.execPath, ['src/main.ts'], { logFile, env, cwd: checkout })
  const serving = await servingLine(launched, logFile)
  const { baseUrl, gatewayUrl } = serving
  const keysFile = join(dataDir, 'data', 'demo-keys.json')
  let linesRead = 0
  let failuresSeen = 0

  /** Returns the text of /metrics; empty when the process does not answer. */
  async function metrics(): Promise<string> {
    const answer = await fetch(`${baseUrl}/metrics`, { signal: AbortSignal.timeout(METRICS_LIMIT_MS) }).catch(
      () => undefined,
    )
    return (await answer?.text().catch(() => '')) ?? ''
  }

  return {
    baseUrl,
    gatewayUrl,
    keys: JSON.parse(readFileSync(keysFile, 'utf8')),
    get alive() {
      return !launched.hasEnded()
    },
    async findings() {
      const lines = logLines(logFile)
      const errors = lines.slice(linesRead).filter((line) => levelOf(line) >= ERROR_LEVEL)
      linesRead = lines.length
      const failures = sumOf(await metrics(), 'wheelhouse_handler_errors_total')
      const more = failures - failuresSeen
      failuresSeen = failures
      return [...(more > 0 ? [`${more} failures of handlers counted`] : []), ...errors]
    },
    memoryBytes: async () => sumOf(await metrics(), 'process_resident_memory_bytes') || undefined,
    lastOutput: () => tailOf(logFile),
    async stop() {
      launched.signal('SIGTERM')
      if (!(await waitUntil(() => launched.hasEnded(), STOP_LIMIT_MS))) launched.signal('SIGKILL')
      await waitUntil(() => launched.hasEnded(), STOP_LIMIT_MS)
      launched.signal('SIGKILL') // ends its PostgreSQL after a crash
    },
  }
}

async function servingLine(launched: Launched, logFile: string) {
  let line: string | undefined
  await waitUntil(() => {
    line = logLines(logFile).find((item) => item.includes('"Wheelhouse is serving"'))
    return line !== undefined || launched.hasEnded()
  }, START_LIMIT_MS)
  if (line !== undefined) return JSON.parse(line) as { baseUrl: string; gatewayUrl: string }
  launched.signal('SIGKILL')
  throw new Error(`The platform did not start:\n${tailOf(logFile)}`)
}

const logLines = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [])

function levelOf(line: string): number {
  return Number(/^\{"level":(\d+)/.exec(line)?.[1] ?? 0)
}

/** Returns the sum of a metric over all its labels. */
function sumOf(text: string, name: string): number {
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}
