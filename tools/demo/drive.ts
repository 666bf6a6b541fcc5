import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { DEFAULT_DATA_DIR, separateDataDir } from '../../src/core/process/data-dir.ts'

// `npm run drive`: runs `wheelhouse drive` as the demo's operator, whose key `npm start` has stored in its data folder.
// WHEELHOUSE_API_KEY overrides it.

const PROGRAM = fileURLToPath(new URL('../../packages/cli/main.ts', import.meta.url))
const env = process.env

/** Returns the demo's key with the demo's own address, so that no other platform receives it. */
function demoOperator(): Record<string, string> {
  const port = env.PORT || '3000'
  const folders = env.DATA_DIR ? [env.DATA_DIR] : [separateDataDir(DEFAULT_DATA_DIR, port), DEFAULT_DATA_DIR]
  const path = folders.map((folder) => join(folder, 'demo-keys.json')).find((file) => existsSync(file))
  if (env.WHEELHOUSE_API_KEY || path === undefined) return {}
  const { operator } = z.record(z.string(), z.string()).parse(JSON.parse(readFileSync(path, 'utf8')))
  const url = env.WHEELHOUSE_URL ?? `http://localhost:${port}`
  return operator ? { WHEELHOUSE_API_KEY: operator, WHEELHOUSE_URL: url } : {}
}

const child = spawn(process.execPath, [PROGRAM, 'drive', ...process.argv.slice(2)], {
  env: { ...env, ...demoOperator() },
  stdio: 'inherit',
})
// A terminal's Ctrl-C reaches both: this process waits until the child has released the robot.
process.on('SIGINT', () => {})
for (const name of ['SIGTERM', 'SIGHUP'] as const) process.on(name, () => child.kill(name))
const [code] = await once(child, 'exit')
process.exitCode = code ?? 1
