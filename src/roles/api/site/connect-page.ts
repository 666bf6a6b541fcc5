import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Context, Middleware } from 'koa'
import { notAllowed, notFound } from '../../../core/errors/errors.ts'

const HOME = '/connect/'
/** The address in the QR code of a phone. Browsers keep its fragment, with the pairing code, when it redirects. */
const PHONE = '/phone-robot'
const EXAMPLES_FOLDER = fileURLToPath(new URL('../../../../examples/', import.meta.url))

/** The files of a robot in a page. */
const pageFiles = ['robot.html', 'robot.js', 'simulated-robot.js', 'link.js', 'pairing.js', 'style.css']
/** A robot in Python, which needs one package, and the token instead of a code. */
const PYTHON = 'robot.py'
/** The modules of a robot in a terminal, each after those that it imports. */
const PROGRAM_MODULES = [
  'browser/link.js',
  'browser/simulated-robot.js',
  'browser/pairing.js',
  'node/robot.js',
]
const PROGRAM = 'robot.mjs'

/** Scripts come from this origin. The gateway, which robots connect to, may have another one. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self' ws: wss:",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/**
 * Serves robots that need no installation: `/phone-robot`, a robot in a page, and `/connect/robot.mjs`, a program for Node in one
 * file, which knows the address of this platform. Both need a pairing code. `/connect/robot.py` is the robot in Python.
 */
export function connectPage({ baseUrl }: { readonly baseUrl: string }): Middleware {
  return async (http, next) => {
    if (http.path !== PHONE && !http.path.startsWith(HOME)) return await next()
    if (http.method !== 'GET' && http.method !== 'HEAD') throw notAllowed(http.method, ['GET', 'HEAD'])
    if (http.path === PHONE) return http.redirect(`${HOME}robot.html`)
    const name = http.path.slice(HOME.length)
    if (name === PROGRAM) send(http, 'text/javascript', await programFor(baseUrl))
    else if (name === PYTHON) send(http, 'text/plain', await read(`python/${PYTHON}`))
    else if (pageFiles.includes(name)) send(http, extensionOf(name), await read(`browser/${name}`))
    else throw notFound('File')
  }
}

const extensionOf = (name: string) => name.slice(name.lastIndexOf('.') + 1)
const read = (name: string) => readFile(EXAMPLES_FOLDER + name, 'utf8')

function send(http: Context, type: string, body: string): void {
  http.set('Content-Security-Policy', POLICY)
  http.set('Cache-Control', 'no-cache')
  http.type = type
  http.body = body
}

/** Returns the program for Node with the address of this platform. */
async function programFor(baseUrl: string): Promise<string> {
  const modules = await Promise.all(PROGRAM_MODULES.map(read))
  return joinModules(modules).replace(
    /^const DEFAULT_PLATFORM = .*$/m,
    () => `const DEFAULT_PLATFORM = ${JSON.stringify(baseUrl)}`,
  )
}

/** Joins modules into one file: removes their imports of each other, and the keyword `export`. */
const joinModules = (modules: readonly string[]): string =>
  modules
    .map((text) => text.replace(/^import .* from '\.{1,2}\/.*'\n/gm, '').replace(/^export /gm, ''))
    .join('\n')
