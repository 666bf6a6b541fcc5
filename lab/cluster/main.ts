import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { waitUntil } from '../../src/core/concurrency/concurrency.ts'
import { type Cluster, startCluster } from './cluster.ts'
import { DEFAULT_PORT } from './ports.ts'

const DEMO_LIMIT_MS = 60_000

const usage = `npm run cluster -- [options]

Wheelhouse on many nodes, on this machine and without containers: PostgreSQL, Redis, two processes each of api, hub,
gateway, worker and recorder, HAProxy in front, and coturn where it is installed. If DATABASE_URL and REDIS_URL are set, the
cluster uses those servers.

    --port <number>       the public port, first of 21 consecutive ports; 0 selects free ports (${DEFAULT_PORT})
    --data-dir <path>     directory of data, keys and logs (.data/cluster)
    --no-demo             without the demo's accounts and robots
`

const print = (text: string) => void process.stdout.write(`${text}\n`)

function readOptions() {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: String(DEFAULT_PORT) },
      'data-dir': { type: 'string' },
      demo: { type: 'boolean', default: true },
      help: { type: 'boolean', default: false },
    },
    allowNegative: true,
  })
  const { help, demo, port, 'data-dir': dataDir } = values
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_500)
    throw new Error(`--port must be a number from 0 to 65500, not ${port}`)
  const { DATABASE_URL, REDIS_URL } = process.env
  return {
    help,
    demo,
    port: Number(port),
    ...(dataDir !== undefined && { dataDir }),
    ...(DATABASE_URL && { databaseUrl: DATABASE_URL }),
    ...(REDIS_URL && { redisUrl: REDIS_URL }),
  }
}

async function usageInstructions(cluster: Cluster, demo: boolean): Promise<string> {
  const rows = cluster.nodes.map(
    ({ name, pid, port }) => `    ${name.padEnd(10)} 127.0.0.1:${String(port).padEnd(6)} process ${pid}`,
  )
  return `
  Wheelhouse runs on ${cluster.nodes.length} nodes behind ${cluster.baseUrl}, all of them processes on this machine:

${rows.join('\n')}

  Logs:      ${cluster.logDir}
  Database:  ${cluster.databaseUrl}
  Proxy:     ${cluster.proxyMetricsUrl}
  Sign in:   ${cluster.baseUrl}/auth/login (with any e-mail address)
${demo ? await demoInstructions(cluster) : ''}
  Try a failure: kill -9 a process. Ctrl-C stops the cluster; its data remains for the next start.
`
}

/** Returns the instructions that the first api prints when its demo is ready. */
async function demoInstructions({ logDir }: Cluster): Promise<string> {
  const instructionsOf = () => {
    const log = readFileSync(join(logDir, 'api-1.log'), 'utf8')
    return /^ {2}Or run the main scenario.*?(?=^ {2}npm run demo)/ms.exec(log)?.[0]
  }
  await waitUntil(() => instructionsOf() !== undefined, DEMO_LIMIT_MS)
  return `\n${(instructionsOf() ?? '').trimEnd()}\n`
}

async function main(): Promise<void> {
  const { help, ...options } = readOptions()
  if (help) return print(usage)
  let asked = false
  let running: Cluster | undefined
  const end = async () => {
    if (asked) process.exit(130) // the second signal kills the processes
    asked = true
    print('\nStopping. A second Ctrl-C kills the processes.')
    await running?.stop().catch((cause: unknown) => fail('The cluster did not stop in order.', cause))
    process.exit(running ? 0 : 130)
  }
  process.on('SIGINT', end)
  process.on('SIGTERM', end)
  running = await startCluster({ ...options, print })
  print(await usageInstructions(running, options.demo))
}

function fail(what: string, cause: unknown): never {
  process.stderr.write(`\n${what}\n${cause instanceof Error ? cause.message : String(cause)}\n`)
  process.exit(1)
}

main().catch((cause: unknown) => fail('The cluster did not start.', cause))
