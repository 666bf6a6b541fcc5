import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { acceptsConnections, findProgram } from '../../test/support/programs/installed-programs.ts'
import { createNode, type ManagedNode } from './node.ts'
import { launch, tailOf } from './spawn.ts'

/** The TURN server of a cluster, and the settings with which the platform hands out its credentials. */
export interface ClusterTurn {
  readonly node: ManagedNode
  readonly env: { readonly TURN_URLS: string; readonly TURN_SECRET: string }
}

/**
 * Creates the TURN server of a cluster: coturn, with a secret of this run. Returns undefined where it is not installed: a cluster on one
 * machine works without it.
 */
export function createTurn(options: {
  dataDir: string
  port: number
  /** The port of the proxy's TLS, through which the server is reached too; undefined without one. */
  tlsPort: number | undefined
  logFile: string
}): ClusterTurn | undefined {
  const { port, tlsPort, logFile } = options
  const program = findProgram('turnserver')
  if (!program) return undefined
  const secret = randomBytes(32).toString('hex')
  const directory = join(options.dataDir, 'turn')
  mkdirSync(directory, { recursive: true })
  const configuration = join(directory, 'turnserver.conf')
  // In a file, because every user of the machine can read the arguments of a process.
  writeFileSync(configuration, configurationOf({ port, secret, directory }), { mode: 0o600 })
  const node = createNode({
    name: 'turn',
    kind: 'turn',
    port,
    logFile,
    launch: () => launch(program, ['-c', configuration], { logFile, env: {} }),
    serves: () => acceptsConnections(port),
    lastOutput: () => tailOf(logFile),
  })
  const urls = [`turn:127.0.0.1:${port}?transport=udp`]
  if (tlsPort !== undefined) urls.push(`turns:localhost:${tlsPort}?transport=tcp`)
  return { node, env: { TURN_URLS: urls.join(','), TURN_SECRET: secret } }
}

function configurationOf({ port, secret, directory }: { port: number; secret: string; directory: string }) {
  return `${[
    `listening-port=${port}`,
    'listening-ip=127.0.0.1',
    'relay-ip=127.0.0.1',
    // It relays to the media processes only, which listen on this machine.
    'allow-loopback-peers',
    'allowed-peer-ip=127.0.0.1',
    'denied-peer-ip=0.0.0.0-255.255.255.255',
    'no-tcp-relay',
    'use-auth-secret',
    `static-auth-secret=${secret}`,
    'realm=wheelhouse',
    'no-cli',
    'no-tls',
    'no-dtls',
    'log-file=stdout',
    'simple-log',
    `pidfile=${join(directory, 'turnserver.pid')}`,
    `userdb=${join(directory, 'turndb')}`,
  ].join('\n')}\n`
}
