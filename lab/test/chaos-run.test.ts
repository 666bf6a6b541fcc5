import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** Ends a hang. Half a minute of faults, the start of fourteen processes and settling take far less. */
const LIMIT_MS = 1_800_000

test('every invariant holds after half a minute of kills, pauses and cuts under load', {
  timeout: LIMIT_MS,
}, async () => {
  const bench = execFile(
    process.execPath,
    ['lab/chaos/main.ts', '--minutes', '0.5', '--pace', '2', '--seed', '20261121', '--robots', '10'],
    {
      cwd: ROOT,
      encoding: 'utf8',
      maxBuffer: 16 * 2 ** 20,
    },
  )
  let output = ''
  for (const stream of [bench.stdout, bench.stderr]) {
    stream?.on('data', (text: string) => {
      output += text
    })
  }
  onTestFinished(async () => {
    if (bench.exitCode === null && bench.kill('SIGTERM')) await once(bench, 'exit')
  })
  const [code] = await once(bench, 'exit')
  expect(code, output).toBe(0)
  expect(output).toContain('seed 20261121; repeat with: npm run chaos -- --seed 20261121')
  expect(output).toMatch(/^Faults: [1-9]/m)
  const acknowledged = (performAction: string) =>
    Number(new RegExp(`^ {2}${performAction} +(\\d+)`, 'm').exec(output)?.[1])
  for (const performAction of ['start', 'end', 'chat over REST', 'chat over the hub', 'stop at the gateway'])
    expect(acknowledged(performAction), performAction).toBeGreaterThan(0)
  const invariants = output.split('Invariants:')[1]?.match(/^ {2}holds /gm) ?? []
  expect(invariants.length).toBeGreaterThanOrEqual(12)
  expect(output).toContain('Passed, seed 20261121.')
})
