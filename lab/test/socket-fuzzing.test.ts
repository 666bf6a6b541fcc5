import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { isNestedTooDeep } from '@wheelhouse/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { describeInput, type Input, targets } from '../chaos/fuzz/input.ts'
import { createInputs } from '../chaos/fuzz/inputs.ts'
import { readOptions } from '../chaos/fuzz/options.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const SESSION = '00000000-0000-4000-8000-000000000001'

function inputs(seed: number, rounds: number): Input[] {
  const next = createInputs(seed, () => SESSION)
  return Array.from({ length: rounds }, () => targets.map((target) => next(target))).flat()
}

test('the same seed generates the same inputs, another seed different ones', () => {
  const texts = (seed: number) => inputs(seed, 50).map(describeInput)
  expect(texts(5)).toEqual(texts(5))
  expect(texts(5)).not.toEqual(texts(6))
})

test('inputs include the frame that once ended the process, and every required shape', () => {
  const made = inputs(1, 1_000)
  const of = (target: string) =>
    made
      .filter((input) => input.target === target)
      .flatMap(({ steps }) => steps.map(({ data }) => data.toString()))
  const control = of('operator').filter((frame) => frame.includes('"type":"control"'))
  expect(control.some((frame) => isNestedTooDeep(frame, 4_000))).toBe(true)
  for (const shape of ['__proto__', 'constructor', '\\ud800', '1e400', '9007199254740993']) {
    expect(
      made.some((input) => describeInput(input).includes(JSON.stringify(shape).slice(1, -1))),
      shape,
    ).toBe(true)
  }
  const kinds = new Set(made.flatMap(({ steps }) => steps.map(({ kind }) => kind)))
  expect([...kinds].sort()).toEqual(['binary', 'close', 'part', 'ping', 'pong', 'raw', 'text'])
  expect(of('robot').some((frame) => frame.length > 64 * 1024)).toBe(true)
})

test('invalid options are rejected', () => {
  expect(readOptions(['--seed', '5', '--minutes', '10'])).toMatchObject({ seed: 5, minutes: 10 })
  expect(readOptions(['--help'])).toBe('help')
  expect(() => readOptions(['--minutes', '0'])).toThrow('--minutes')
  expect(() => readOptions(['--seed', 'x'])).toThrow('--seed')
})

test('a short run passes', async () => {
  const { PATH = '', HOME = '' } = process.env
  const fuzz = spawn(process.execPath, ['lab/chaos/fuzz/main.ts', '--seed', '3', '--minutes', '0.1'], {
    cwd: root,
    env: { PATH, HOME },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void fuzz.kill())
  const ended = new Promise((resolve) => fuzz.once('close', resolve))
  const output = (await Promise.all([text(fuzz.stdout), text(fuzz.stderr)])).join('')
  expect(await ended, output).toBe(0)
  expect(output).toContain('Passed, seed 3')
  expect(output).toMatch(/[1-9]\d* commands of the driven pair/)
})
