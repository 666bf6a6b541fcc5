import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { delimiter, join } from 'node:path'

/** Directories of servers that may be missing from PATH. */
const SYSTEM_FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/opt/homebrew/bin', '/opt/homebrew/sbin']
/** A paused or busy server answers late: a shorter limit would make it look as if it had ended. */
const ANSWER_LIMIT_MS = 10_000

/** Returns the full path of an installed program, or undefined. */
export function findProgram(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...SYSTEM_FOLDERS]
  return folders.map((folder) => join(folder, name)).find((file) => existsSync(file))
}

/**
 * Returns the path of a program that must be installed.
 * @throws Error that says how to install it.
 */
export function requireProgram(name: string, debianPackage: string): string {
  const found = findProgram(name)
  if (found) return found
  throw new Error(
    `The cluster needs ${name}, which is not installed. Install it: apt-get install ${debianPackage} (Debian, Ubuntu), ` +
      `brew install ${debianPackage === 'redis-server' ? 'redis' : debianPackage} (macOS).`,
  )
}

/** Returns whether a server on this port of 127.0.0.1 accepts TCP connections. */
export function acceptsConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const settle = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('connect', () => settle(true)).once('error', () => settle(false))
    socket.setTimeout(ANSWER_LIMIT_MS, () => settle(false))
  })
}

/** Returns whether a Redis on this port of 127.0.0.1 answers PING and has loaded its data. */
export function redisAnswers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'))
    const settle = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('data', (reply) => settle(reply.toString().startsWith('+PONG')))
    socket.once('error', () => settle(false)).setTimeout(ANSWER_LIMIT_MS, () => settle(false))
  })
}
