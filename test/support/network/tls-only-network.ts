import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { requireProgram } from '../programs/installed-programs.ts'
import { waitFor } from '../world/wait.ts'
import { createTestCertificate } from './certificate.ts'
import { inNamespace, ip } from './namespaces.ts'

const run = promisify(execFile)
const SECRET = 'a secret for tests only'
const namespace = `wheelhouse-tls-${process.pid}`
const link = `whs${process.pid % 100_000}`
const net = `10.79.${process.pid % 250}`
/** The address of this machine in the network of the clients. Only the proxy listens there, with TLS at port 443. */
const SERVER = `${net}.1`
/** The name of the gateway, which the hosts file of the network has. */
const GATEWAY = 'gateway-1.test'
/** `ip netns exec` puts the files of this folder over those of /etc. */
const etc = `/etc/netns/${namespace}`
/** Where media processes listen: an address to which the clients have no route. */
const MEDIA = `10.80.${process.pid % 250}.1`

const CONFIGURATION = fileURLToPath(new URL('../../../tools/haproxy.cfg', import.meta.url))

/** Creates a network whose clients reach port 443 of one address of this machine over TCP, and nothing else. Returns false where that is not allowed. */
export async function isTlsOnlyNetworkAllowed(): Promise<boolean> {
  try {
    await ip('netns', 'add', namespace)
    await ip('link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace)
    await ip('addr', 'add', `${SERVER}/24`, 'dev', link)
    await ip('addr', 'add', `${MEDIA}/32`, 'dev', link)
    await ip('link', 'set', link, 'up')
    await ip('-n', namespace, 'addr', 'add', `${net}.2/24`, 'dev', 'eth0')
    await mkdir(etc, { recursive: true })
    await writeFile(`${etc}/hosts`, `127.0.0.1 localhost\n${SERVER} ${GATEWAY}\n`)
    for (const device of ['lo', 'eth0']) await ip('-n', namespace, 'link', 'set', device, 'up')
    // As in real networks; what is not the proxy's port 443 is unreachable all the same.
    await ip('-n', namespace, 'route', 'add', 'default', 'via', SERVER)
    await ip('-n', namespace, 'route', 'add', 'unreachable', MEDIA)
    return true
  } catch {
    await deleteNetwork()
    return false
  }
}

async function deleteNetwork(): Promise<void> {
  await ip('netns', 'del', namespace).catch(() => {})
  await rm(etc, { recursive: true, force: true })
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  await new Promise((done) => server.close(done))
  return port
}

/** Starts a server in the background. Its disposal ends it. */
function startServer(program: string, args: readonly string[], env: Record<string, string>) {
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output = `${output}${chunk}`.slice(-20_000)
    })
  return {
    output: () => output,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'close')
    },
  }
}

/**
 * Starts the proxy of a cluster with TLS, and a TURN server behind it. `env` are the settings of a world whose only address is that of
 * the proxy; its media role needs a node of its own, with `mediaEnv`.
 */
export async function startTlsOnlyNetwork() {
  const closers: (() => unknown)[] = [deleteNetwork]
  const use = <T extends AsyncDisposable>(part: T): T => {
    closers.push(() => part[Symbol.asyncDispose]())
    return part
  }
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer()
  }
  const certificate = use(await createTestCertificate(SERVER, GATEWAY))
  const [api, gateway, turnPort] = [await freePort(), await freePort(), await freePort()]
  const turn = use(
    startServer(
      requireProgram('turnserver', 'coturn'),
      [
        ...[
          '-n',
          '--no-cli',
          '--no-tls',
          '--no-dtls',
          '--no-udp',
          '--log-file=stdout',
          '--simple-log',
          '--realm=test',
        ],
        ...['--listening-ip=127.0.0.1', `--listening-port=${turnPort}`, `--relay-ip=${SERVER}`],
        ...['--use-auth-secret', `--static-auth-secret=${SECRET}`],
      ],
      {},
    ),
  )
  const proxy = use(
    startServer(requireProgram('haproxy', 'haproxy'), ['-db', '-f', CONFIGURATION], {
      PROXY_HOST: SERVER,
      TLS_PORT: '443',
      TLS_CERTIFICATE: certificate.file,
      TURN: `127.0.0.1:${turnPort}`,
      PUBLIC_PORT: String(await freePort()),
      GATEWAY_1_PORT: String(await freePort()),
      GATEWAY_2_PORT: String(await freePort()),
      PROXY_OWN_PORT: String(await freePort()),
      API_1: `127.0.0.1:${api}`,
      API_2: `127.0.0.1:${api}`,
      HUB_1: `127.0.0.1:${api}`,
      HUB_2: `127.0.0.1:${api}`,
      GATEWAY_1_NAME: GATEWAY,
      GATEWAY_1: `127.0.0.1:${gateway}`,
      GATEWAY_2: `127.0.0.1:${gateway}`,
    }),
  )
  // The tests of this process trust the certificate of the proxy, which nobody has signed.
  const { NODE_TLS_REJECT_UNAUTHORIZED: before } = process.env
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  closers.push(() => {
    if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
    else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before
  })
  let client = 2
  return {
    namespace,
    /** The address of the gateway for programs outside the network. */
    gatewayUrl: `ws://127.0.0.1:${gateway}`,
    /** What programs in the network trust. */
    authority: certificate.authority,
    env: {
      PORT: String(api),
      HUB_PORT: String(api),
      GATEWAY_PORT: String(gateway),
      BASE_URL: `https://${SERVER}`,
      GATEWAY_URL: `wss://${GATEWAY}`,
      ALLOW_INSECURE_DEV: 'true',
      TRUST_PROXY: '1',
      TURN_URLS: `turns:${SERVER}:443?transport=tcp`,
      TURN_SECRET: SECRET,
    },
    mediaEnv: { HOST: MEDIA },
    output: () => `${proxy.output()}\n${turn.output()}`,
    /** Writes a program that runs a browser in the network, which trusts the certificate: WebRTC does not ignore errors of certificates. */
    async browser(folder: string, program: string): Promise<string> {
      const store = join(folder, '.pki/nssdb')
      await mkdir(store, { recursive: true })
      const certutil = requireProgram('certutil', 'libnss3-tools')
      await run(certutil, ['-d', `sql:${store}`, '-N', '--empty-password'])
      const { authority } = certificate
      await run(certutil, ['-d', `sql:${store}`, '-A', '-t', 'C,,', '-n', 'wheelhouse', '-i', authority])
      const path = join(folder, 'browser')
      const command = [...inNamespace(namespace), 'env', `HOME=${folder}`, program].join(' ')
      await writeFile(path, `#!/bin/sh\nexec ${command} "$@"\n`, { mode: 0o755 })
      return path
    },
    /** Gives the clients another address, as when they change their network: all of their connections fall silent. */
    async changeAddress(): Promise<void> {
      await ip('-n', namespace, 'addr', 'del', `${net}.${client}/24`, 'dev', 'eth0')
      client++
      await ip('-n', namespace, 'addr', 'add', `${net}.${client}/24`, 'dev', 'eth0')
    },
    /** Settles when the proxy answers for the platform. */
    ready: () =>
      waitFor(
        async () =>
          void (await fetch(`https://${SERVER}/readyz`).then(
            (answer) => answer.ok || Promise.reject(answer),
          )),
      ),
    [Symbol.asyncDispose]: close,
  }
}
