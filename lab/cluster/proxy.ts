import { fileURLToPath } from 'node:url'
import { requireProgram } from '../../test/support/programs/installed-programs.ts'
import { createNode, type ManagedNode } from './node.ts'
import type { Ports } from './ports.ts'
import { answersOk } from './roles.ts'
import { launch, tailOf } from './spawn.ts'

const CONFIGURATION = fileURLToPath(new URL('../../tools/haproxy.cfg', import.meta.url))

/** Creates the proxy in front of a cluster: HAProxy, with the configuration that docker-compose.yml uses too. */
export function createProxy(options: {
  ports: Ports
  /** A file with the certificate and its key; without it there is no TLS. */
  certificate: string | undefined
  logFile: string
}): ManagedNode {
  const { ports, certificate, logFile } = options
  const program = requireProgram('haproxy', 'haproxy')
  return createNode({
    name: 'proxy',
    kind: 'proxy',
    port: ports.public,
    logFile,
    launch: () =>
      launch(program, ['-db', '-f', CONFIGURATION], {
        logFile,
        env: { ...proxyEnvironment(ports), ...(certificate && { TLS_CERTIFICATE: certificate }) },
      }),
    serves: () => answersOk(`http://127.0.0.1:${ports['proxy-own']}/healthz`),
    lastOutput: () => tailOf(logFile),
  })
}

function proxyEnvironment(ports: Ports): Record<string, string> {
  const at = (name: keyof Ports) => `127.0.0.1:${ports[name]}`
  return {
    PROXY_HOST: '127.0.0.1',
    PUBLIC_PORT: String(ports.public),
    GATEWAY_1_PORT: String(ports['gateway-1-public']),
    GATEWAY_2_PORT: String(ports['gateway-2-public']),
    PROXY_OWN_PORT: String(ports['proxy-own']),
    TLS_PORT: String(ports.tls),
    TURN: at('turn'),
    API_1: at('api-1'),
    API_2: at('api-2'),
    HUB_1: at('hub-1'),
    HUB_2: at('hub-2'),
    GATEWAY_1: at('gateway-1'),
    GATEWAY_2: at('gateway-2'),
  }
}
