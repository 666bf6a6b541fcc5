import { join } from 'node:path'
import type { Child } from '../../test/support/processes/children.ts'
import type { Probe } from '../../test/support/processes/probe.ts'
import { type Call, callerOf, readyPort } from '../../test/support/processes/rpc.ts'
import type { Destination } from './fleet/robot-socket.ts'
import type { Lab } from './lab.ts'
import type { BareServer } from './servers/bare-uws.ts'

const START_LIMIT_MS = 180_000
const PROGRAM = 'src/main.ts'

/** A server that robots can connect to, with the probe of its process. */
export interface Target {
  readonly destination: Destination
  readonly child: Child
  readonly probe: Call<Probe>
  stop(): Promise<void>
}

export async function startBare(
  lab: Lab,
  nodeFlags: readonly string[] = [],
): Promise<Target & { bare: Call<BareServer> }> {
  const child = lab.children.run('lab/bench/servers/bare-uws.ts', { nodeFlags })
  const port = await readyPort(child.process)
  const bare = callerOf<BareServer>(child.process)
  return { ...targetOf(child, { port, readyOn: 'upgrade' }), bare }
}

export async function startWsPeer(lab: Lab, nodeFlags: readonly string[] = []): Promise<Target> {
  const env = { DATABASE_URL: lab.databaseUrl }
  const child = lab.children.run('lab/bench/servers/ws-peer.ts', { env, nodeFlags })
  return targetOf(child, { port: await readyPort(child.process), readyOn: 'welcome' })
}

const targetOf = (child: Child, destination: Destination): Target => ({
  destination,
  child,
  probe: callerOf<Probe>(child.process),
  stop: () => child.stop(),
})

/** `single`: one process with all roles, as `npm start`. `split`: a gateway, and a process with the other roles. */
export type Shape = 'single' | 'split'

/** The target's process is the one with the gateway. */
export interface Wheelhouse extends Target {
  readonly apiUrl: string
  readonly hubUrl: string
}

/** Starts Wheelhouse: `src/main.ts` with an environment. */
export async function startWheelhouse(
  lab: Lab,
  shape: Shape,
  options: {
    heartbeatTimeoutMs?: number
    nodeFlags?: readonly string[]
    /** Settings in addition to those of the benchmark, or in place of them. */
    env?: Readonly<Record<string, string>>
    /** The main program, of this version or of another checkout. */
    program?: string
  } = {},
): Promise<Wheelhouse> {
  const { heartbeatTimeoutMs, nodeFlags = [], env = {}, program = PROGRAM } = options
  const run = (roles: string, flags: readonly string[]) =>
    serving(
      lab.children.run(program, {
        nodeFlags: flags,
        env: {
          ROLES: roles,
          DATABASE_URL: lab.databaseUrl,
          ...(shape === 'split' && lab.redisUrl && { REDIS_URL: lab.redisUrl }),
          SECRET_KEY: lab.secretKey,
          DATA_DIR: join(lab.dataDir, 'wheelhouse'),
          DEMO: 'false',
          RATE_LIMIT_PER_MINUTE: '0',
          RATE_LIMIT_PUBLIC_PER_MINUTE: '0',
          ROBOT_CONNECTS_PER_MINUTE: '0',
          OPERATOR_JOIN_MS: '0', // sessions of the benchmark have no operators at the gateway
          PORT: '0',
          ...(heartbeatTimeoutMs && { HEARTBEAT_TIMEOUT_MS: String(heartbeatTimeoutMs) }),
          ...env,
        },
      }),
    )
  const rest = shape === 'split' ? await run('api,hub,worker', []) : undefined
  const gateway = await run(shape === 'split' ? 'gateway' : 'api,hub,gateway,worker', nodeFlags)
  const port = Number(new URL(gateway.gatewayUrl).port)
  return {
    ...targetOf(gateway.child, { port, readyOn: 'welcome', expectsBeats: heartbeatTimeoutMs === undefined }),
    apiUrl: (rest ?? gateway).baseUrl,
    hubUrl: (rest ?? gateway).hubUrl,
    stop: async () => {
      await gateway.child.stop()
      await rest?.child.stop()
    },
  }
}

/** A server of the REST interface or of the hub. */
export interface RestTarget {
  readonly port: number
  readonly child: Child
  readonly probe: Call<Probe>
  stop(): Promise<void>
}

/** Starts a peer of the REST measurements. */
export async function startRestPeer(
  lab: Lab,
  file: 'lab/bench/servers/koa-raw.ts' | 'lab/bench/servers/koa-orm.ts',
  { prepared = false } = {},
): Promise<RestTarget> {
  const env = { DATABASE_URL: lab.databaseUrl, PREPARED: String(prepared) }
  const child = lab.children.run(file, { env })
  const port = await readyPort(child.process)
  return { port, child, probe: callerOf<Probe>(child.process), stop: () => child.stop() }
}

/** Starts Wheelhouse's api role in a separate process: of this version, or of another checkout. */
export async function startApi(lab: Lab, redisUrl: string, program: string = PROGRAM): Promise<RestTarget> {
  const { child, baseUrl } = await startRole(lab, redisUrl, 'api', [], program)
  return ofRole(child, baseUrl)
}

/** Starts Wheelhouse's hub role in a separate process. */
export async function startHub(
  lab: Lab,
  redisUrl: string,
  nodeFlags: readonly string[] = [],
): Promise<RestTarget> {
  const { child, hubUrl } = await startRole(lab, redisUrl, 'hub', nodeFlags)
  return ofRole(child, hubUrl)
}

/** Starts Wheelhouse's recorder role in a separate process, which stores on the local disk. */
export async function startRecorder(lab: Lab): Promise<Pick<RestTarget, 'probe' | 'stop'>> {
  if (!lab.redisUrl) throw new Error('Recording is measured with redis-server only, which is not installed.')
  const { child } = await startRole(lab, lab.redisUrl, 'recorder')
  return { probe: callerOf<Probe>(child.process), stop: () => child.stop() }
}

const startRole = (
  lab: Lab,
  redisUrl: string,
  role: 'api' | 'hub' | 'recorder',
  nodeFlags: readonly string[] = [],
  program: string = PROGRAM,
) =>
  serving(
    lab.children.run(program, {
      nodeFlags,
      env: {
        ROLES: role,
        DATABASE_URL: lab.databaseUrl,
        REDIS_URL: redisUrl,
        SECRET_KEY: lab.secretKey,
        DATA_DIR: join(lab.dataDir, 'wheelhouse'),
        DEMO: 'false',
        PORT: '0',
        RATE_LIMIT_PER_MINUTE: '0',
        RATE_LIMIT_PUBLIC_PER_MINUTE: '0',
      },
    }),
  )

const ofRole = (child: Child, url: string): RestTarget => ({
  port: Number(new URL(url).port),
  child,
  probe: callerOf<Probe>(child.process),
  stop: () => child.stop(),
})

/** Waits for the line in which Wheelhouse logs its addresses. */
function serving(
  child: Child,
): Promise<{ child: Child; baseUrl: string; hubUrl: string; gatewayUrl: string }> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`Wheelhouse ${why}:\n${child.output()}`))
    const timer = setTimeout(() => fail('does not start'), START_LIMIT_MS)
    child.ended.then(() => fail('ended'))
    child.onLine((line) => {
      if (!line.includes('"msg":"Wheelhouse is serving"')) return
      clearTimeout(timer)
      const { baseUrl, hubUrl, gatewayUrl } = JSON.parse(line)
      resolve({ child, baseUrl, hubUrl, gatewayUrl })
    })
  })
}

/** Returns the shape in which the gateway has a separate process, if there is a Redis. */
export const gatewayShape = (lab: Lab): Shape => (lab.redisUrl ? 'split' : 'single')
