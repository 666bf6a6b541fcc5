import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { Client } from 'pg'
import { databaseUrlFor } from '../database/template.ts'
import { serviceUrl } from '../runner/service-url.ts'
import { WAIT_LIMIT_MS } from '../wait-limit.ts'
import { freePorts } from './free-ports.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const PROGRAM = fileURLToPath(new URL('../../../src/main.ts', import.meta.url))
/** Ends a hang. Several processes that start at once on a busy machine need minutes. */
const START_LIMIT_MS = 2 * WAIT_LIMIT_MS
const AUDIENCE = 'wheelhouse-test'

/** The addresses of a process, from its log. */
export interface Serving {
  readonly baseUrl: string
  readonly hubUrl: string
  readonly gatewayUrl: string
}

export type Wheelhouse = ReturnType<typeof startWheelhouse>

/**
 * Starts a process as `npm start` does, with this environment and only PATH, HOME and the compile cache of the test's own. By
 * default it shares nothing with a platform that runs in the checkout: free ports, an empty folder for its data, and no `.env`.
 * @param wrapper a program with its arguments that executes the given command in an environment that it prepares
 * @param command runs in the checkout instead
 */
export function startWheelhouse(
  env: Record<string, string>,
  wrapper: readonly string[] = [],
  command?: readonly string[],
) {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env
  const [program = process.execPath, ...args] = [...wrapper, ...(command ?? [process.execPath, PROGRAM])]
  const folder = mkdtempSync(join(tmpdir(), 'wheelhouse-process-'))
  const removeFolder = () => rmSync(folder, { recursive: true, force: true })
  const child = spawn(program, args, {
    cwd: command ? ROOT : folder,
    env: {
      ...(PATH && { PATH }),
      ...(HOME && { HOME }),
      ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }),
      ...freePorts,
      DATA_DIR: folder,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const killAtExit = () => {
    child.kill('SIGKILL')
    removeFolder()
  }
  process.once('exit', killAtExit) // no process outlives the test run

  const lines: string[] = []
  let errorOutput = ''
  const listeners = new Set<() => void>()
  const wake = () => {
    for (const listener of listeners) listener()
  }
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line)
    wake()
  })
  child.stderr.on('data', (chunk) => {
    errorOutput += chunk
  })
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('close', (code, signal) => {
      process.off('exit', killAtExit)
      removeFolder()
      resolve({ code, signal })
      wake()
    })
  })
  const output = () => `${lines.join('\n')}\n${errorOutput}`

  /** Settles with the first matching line of standard output; rejects when the process ends without it. */
  function line(fits: (text: string) => boolean, limitMs = START_LIMIT_MS): Promise<string> {
    return new Promise((resolve, reject) => {
      const stop = () => {
        clearTimeout(timer)
        listeners.delete(poll)
      }
      const poll = () => {
        const found = lines.find(fits)
        const over = child.exitCode !== null || child.signalCode !== null
        if (found === undefined && !over) return
        stop()
        if (found !== undefined) resolve(found)
        else reject(new Error(`The process ended early:\n${output()}`))
      }
      const timer = setTimeout(() => {
        stop()
        reject(new Error(`The line did not appear in time:\n${output()}`))
      }, limitMs)
      listeners.add(poll)
      poll()
    })
  }

  return {
    output,
    line,
    exited,
    lines,
    pid: child.pid as number,
    get errorOutput() {
      return errorOutput
    },
    /** Settles when the process serves. */
    serving: async (): Promise<Serving> =>
      JSON.parse(await line((text) => text.includes('"Wheelhouse is serving"'))),
    /** Sends a signal and settles when the process has ended. */
    end: (signal: NodeJS.Signals) => {
      child.kill(signal)
      return exited
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

/** Creates an OpenID Connect provider outside of every process, as in production; it signs in any requested user. */
export async function startOutsideProvider() {
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  const jwks = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256', kid: 'test' }] })
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(jwks)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    env: { IDP_ISSUER: issuer, IDP_JWKS_URL: `${issuer}/jwks`, IDP_AUDIENCE: AUDIENCE },
    tokenFor: (name: string) =>
      new SignJWT({ email: `${name}@test.local`, email_verified: true, name })
        .setProtectedHeader({ alg: 'ES256', kid: 'test' })
        .setSubject(name)
        .setIssuer(issuer)
        .setAudience(AUDIENCE)
        .setIssuedAt()
        .setExpirationTime('1h')
        .sign(privateKey),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

/** Creates an empty database, without the schema. */
export async function createEmptyDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const serverUrl = serviceUrl('databaseUrl')
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await query(serverUrl, `create database ${name}`)
  return {
    url: databaseUrlFor(serverUrl, name),
    drop: async () => void (await query(serverUrl, `drop database if exists ${name} with (force)`)),
  }
}

/** Runs one statement on a separate connection. */
export async function query(url: string, statement: string, values: unknown[] = []) {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(statement, values)).rows
  } finally {
    await client.end()
  }
}
