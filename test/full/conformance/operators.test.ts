import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { operatorRules, testOperator } from '../../../packages/cli/conformance/operator-rules.ts'
import { launchCommand } from '../../../packages/cli/conformance/program-under-test.ts'
import type { Selection } from '../../../packages/cli/conformance/rule.ts'
import { failuresOf, idsWith } from '../../support/conformance/run-kit.ts'

// Runs the kit on an operator program of the SDK, and on some with one mistake each.

const program = (name: string) =>
  fileURLToPath(new URL(`../../support/conformance/${name}.ts`, import.meta.url))

const run = (name: string, selection: Selection, mistake = '') =>
  testOperator(
    {
      launcher: launchCommand([process.execPath, program(name)], { ...process.env, MISTAKE: mistake }),
      stopSignal: 'SIGUSR2',
      // Only ends a hang.
      connectLimitMs: 60_000,
      signal: new AbortController().signal,
    },
    selection,
  )

/** The rules that a mistake violates. Most are one. */
const mistakes: Readonly<Record<string, readonly string[]>> = {
  'never drives': ['connects'],
  'uses its ticket again': ['reconnects'],
  'drives before the first state': ['first-state'],
  'sends too few commands': ['rate'],
  'sets no lifetime': ['lifetime'],
  'repeats its seq': ['sequence'],
  'has a clock that jumps': ['clock'],
  'drives under a stop': ['stopped'],
  'drives in a paused session': ['paused'],
  'drives while somebody else has control': ['control-change'],
  'never drives again': ['control-change'],
  'ignores limits': ['limits'],
  'declares limits without applying them': ['limits'],
  'requests a stop once': ['stop-repeated'],
  'answers every frame': ['flood'],
  'dies of malformed text': ['survives'],
  'gives up after 4408': ['reconnects'],
  'reconnects in a tight loop': ['backoff'],
  'gives up when the robot is offline': ['offline-robot'],
  'returns after 4410': ['closed-for-good'],
  'sends NaN': ['finite-numbers'],
  'sends malformed frames': ['well-formed'],
  'sends a frame that is too large': ['frame-limits'],
}

test('the operator of the SDK keeps every rule', async () => {
  const verdicts = await run('simulated-operator', {})
  expect(failuresOf(verdicts)).toEqual([])
  expect(idsWith(verdicts, 'not tested')).toEqual([])
})

test.concurrent.each(Object.entries(mistakes))('an operator program that %s', async (mistake, rules) => {
  const verdicts = await run('wrong-operator', { only: rules }, mistake)
  expect(idsWith(verdicts, 'failed'), JSON.stringify(verdicts, null, 1)).toEqual(rules)
})

test('every rule has a program that violates it', () => {
  // `picture` only says whether the program reports an age: it may drive without a picture.
  const violated = new Set([...Object.values(mistakes).flat(), 'picture'])
  expect(operatorRules.map(({ id }) => id).filter((id) => !violated.has(id))).toEqual([])
})
