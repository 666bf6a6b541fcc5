import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/support/database/database.ts'
import { expectSteps, type Step, startDemo } from '../../test/support/processes/demo-process.ts'

const program = fileURLToPath(new URL('../payments/main.ts', import.meta.url))
const PROCESS_LIMIT_MS = 600_000

let database: TestDatabase
let dataDir: string
beforeEach(async () => {
  database = await createTestDatabase()
  dataDir = await mkdtemp(join(tmpdir(), 'wheelhouse-demo-'))
})
afterEach(async () => {
  await database.drop()
  await rm(dataDir, { recursive: true })
})

const start = () =>
  startDemo(program, {
    env: { DATABASE_URL: database.url, DEMO: 'true', DATA_DIR: dataDir, STRIPE_SECRET_KEY: undefined },
    limitMs: PROCESS_LIMIT_MS,
  })

const scenario: readonly Step[] = [
  ['A client saves a payment method', 'billing_ready false', 'setup_intent.succeeded', 'billing_ready true'],
  [
    'An operator sets up a payout account',
    'payout_ready false',
    'still required: nothing',
    'payout_ready true',
  ],
  [
    'An operator drives',
    'the robot obeys',
    'it costs 30.00 EUR',
    'it earned 21.00 EUR',
    '21.00 EUR pending, 0.00 EUR available',
  ],
  [
    'The month is over',
    'over 30.00 EUR, charge_automatically',
    '60 min, 30.00 EUR',
    '30.00 EUR, PAID',
    '0.00 EUR pending, 21.00 EUR available',
  ],
  [
    'The operator is paid',
    'payout of 21.00 EUR: PENDING',
    '0.00 EUR available, 21.00 EUR pending, payout PENDING',
    'notification payout.paid',
    '0.00 EUR available, 0.00 EUR pending, payout PAID',
    'made one transfer of 21.00 EUR',
  ],
  ['Stripe reverses a part', 'notification payout.reversed', 'the repeated event changed nothing'],
  ['The ledger', 'both show 30.00 EUR from clients and 16.00 EUR to operators'],
]

/** Returns the other non-empty cells of the table row with this first cell. */
const cellsOf = (output: string, title: string) =>
  output
    .split('\n')
    .filter((line) => line.trim().startsWith(`${title} `))
    .map((line) => line.trim().split(/ +/).slice(1))

test('runs the money flows, ends by itself, and accounts for every cent', async () => {
  const { code, output, steps } = await start().done
  expect(code, output).toBe(0)
  expectSteps(steps, scenario)
  expect(cellsOf(output, 'session_charge')).toEqual([['30.00', '-21.00', '-9.00', '0.00']])
  expect(cellsOf(output, 'earnings_released')).toEqual([['21.00', '-21.00', '0.00']])
  expect(cellsOf(output, 'payout_reserved')).toEqual([['21.00', '-21.00', '0.00']])
  expect(cellsOf(output, 'payout_paid')).toEqual([['21.00', '-21.00', '0.00']])
  expect(cellsOf(output, 'payout_reversed')).toEqual([['-5.00', '5.00', '0.00']])
  expect(cellsOf(output, 'balance')).toEqual([['-5.00', '-9.00', '14.00', '0.00']])
  expect(cellsOf(output, 'invoice_paid')).toEqual([['-30.00', '30.00', '0.00']])
  expect(output).toMatch(/tr_\d+ +21\.00 +5\.00 +acct_\d+/)
  expect(output).toContain('Every cent is accounted for.')
  expect(output).not.toContain('\u001b')
})

test('an interrupted demo ends cleanly, with a message and exit code 1', async () => {
  const { child, done } = start()
  let sent = ''
  child.stdout.on('data', (chunk) => {
    sent += chunk
    if (!sent.includes('hub connect\n')) return
    sent = ''
    child.kill('SIGINT') // while it waits for the hub
  })
  const { code, output } = await done
  expect(output).toContain('The demo received SIGINT.')
  expect(code).toBe(1)
})
