// Writes tools/verify-audit.mjs from packages/protocol/audit-chain.ts, so that there is one implementation of the check; with --check,
// fails if the file is out of date.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const inRoot = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const target = inRoot('tools/verify-audit.mjs')

const head = `#!/usr/bin/env node
// Verifies an export of the audit log of an organization, offline. Needs Node 20 or newer and nothing else.
//
//   node verify-audit.mjs audit.ndjson [--head <hash>]     or from standard input, without a file
//
// Prints "ok N rows, head <hash>", or the first broken row, with exit code 1. With --head, the export must contain this hash, which you
// noted earlier. Made by tools/scripts/audit-verifier.mjs from packages/protocol/audit-chain.ts: do not change it here.
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'

`
const main = `
const { values, positionals } = parseArgs({ options: { head: { type: 'string' } }, allowPositionals: true });
const input = positionals[0] === undefined || positionals[0] === '-' ? process.stdin : createReadStream(positionals[0]);
input.on('error', (cause) => {
    console.error(cause.message);
    process.exit(2);
});
const verdict = await verifyAudit(createInterface({ input, crlfDelay: Infinity }), { head: values.head });
console.log(describeAuditVerdict(verdict));
process.exitCode = verdict.ok ? 0 : 1;
`
const folder = mkdtempSync(join(tmpdir(), 'audit-verifier-'))
const source = inRoot('packages/protocol/audit-chain.ts')
const options =
  '--ignoreConfig --target es2022 --module esnext --lib es2024,dom --types node --skipLibCheck --strict'
const run = spawnSync(
  process.execPath,
  [inRoot('node_modules/typescript/bin/tsc'), source, '--outDir', folder, ...options.split(' ')],
  { cwd: inRoot(''), encoding: 'utf8' },
)
if (run.status !== 0) {
  process.stderr.write(run.stdout + run.stderr)
  process.exit(1)
}
const chain = readFileSync(join(folder, 'audit-chain.js'), 'utf8')
rmSync(folder, { recursive: true })
const program = head + chain.replaceAll(/^export /gm, '') + main
if (!process.argv.includes('--check')) writeFileSync(target, program)
else if (readFileSync(target, 'utf8') !== program) {
  console.error(
    'tools/verify-audit.mjs does not match packages/protocol/audit-chain.ts. Run npm run cli:docs.',
  )
  process.exit(1)
}
