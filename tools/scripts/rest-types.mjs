// Writes packages/sdk/rest-types.d.ts from docs/openapi.json; with --check, fails if the file is out of date.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const target = join(root, 'packages/sdk/rest-types.d.ts')
// The generator needs another version of TypeScript.
const { resolve } = createRequire(join(root, 'test/support/openapi-client/package.json'))
const generator = join(dirname(resolve('openapi-typescript/package.json')), 'bin/cli.js')

const run = spawnSync(process.execPath, [generator, 'docs/openapi.json'], {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 64 * 2 ** 20,
})
if (run.status !== 0) {
  process.stderr.write(run.stdout + run.stderr)
  process.exit(1)
}
if (!process.argv.includes('--check')) writeFileSync(target, run.stdout)
else if (readFileSync(target, 'utf8') !== run.stdout) {
  console.error('packages/sdk/rest-types.d.ts does not match docs/openapi.json. Run npm run openapi.')
  process.exit(1)
}
