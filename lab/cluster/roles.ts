import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createNode, type ManagedNode } from './node.ts'
import type { Ports } from './ports.ts'
import { launch, tailOf } from './spawn.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PROBE_LIMIT_MS = 10_000

const roles = ['api', 'hub', 'gateway', 'worker', 'recorder'] as const
type Role = (typeof roles)[number]
const portVariable = {
  api: 'PORT',
  hub: 'HUB_PORT',
  gateway: 'GATEWAY_PORT',
  worker: 'WORKER_PORT',
  recorder: 'WORKER_PORT',
} as const

export interface RolesOptions {
  readonly ports: Ports
  readonly logDir: string
  /** Shared settings: stores, secrets, public addresses. */
  readonly shared: Record<string, string>
  /** Whether the first api runs the demo. */
  readonly demo: boolean
}

/** Creates two processes of every role, each started as `npm start` starts it. */
export function createRoles(options: RolesOptions): ManagedNode[] {
  return roles.flatMap((role) => ([1, 2] as const).map((number) => createRole(role, number, options)))
}

function createRole(role: Role, number: 1 | 2, { ports, logDir, shared, demo }: RolesOptions): ManagedNode {
  const name = `${role}-${number}` as const
  const port = ports[name]
  const logFile = join(logDir, `${name}.log`)
  // Robots connect to the proxy; operators connect to the public address of the gateway that holds their robot.
  const gatewayPort = role === 'gateway' ? ports[`gateway-${number}-public`] : ports.public
  const env = {
    // The workers also forward the cameras.
    ROLES: role === 'worker' ? 'worker,media' : role,
    MEDIA_UDP_PORT: '0',
    ...(role === 'recorder' && { RECORDER_PORT: String(ports[`recorder-${number}-streams`]) }),
    [portVariable[role]]: String(port),
    GATEWAY_URL: `ws://localhost:${gatewayPort}`,
    // The proxy listens on this machine only, so other machines cannot exploit the trust in it.
    TRUST_PROXY: '1',
    ALLOW_INSECURE_DEV: 'true',
    DEMO: String(demo && name === 'api-1'),
    npm_lifecycle_event: 'cluster', // makes them end if the cluster's own process is killed
    ...shared,
  }
  return createNode({
    name,
    kind: role,
    port,
    logFile,
    launch: () => launch(process.execPath, ['src/main.ts'], { logFile, env, cwd: ROOT }),
    serves: () => answersOk(`http://127.0.0.1:${port}/readyz`),
    lastOutput: () => tailOf(logFile),
  })
}

/** Returns whether an address answers 200. */
export async function answersOk(url: string): Promise<boolean> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(PROBE_LIMIT_MS) })
    await answer.body?.cancel()
    return answer.status === 200
  } catch {
    return false
  }
}
