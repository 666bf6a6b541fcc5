import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect } from 'vitest'

interface Options {
  readonly args?: readonly string[]
  readonly env: Record<string, string | undefined>
  /** SIGTERM then: a demo that hangs says where. */
  readonly limitMs: number
}

/** A demo as a process of its own; `done` is its exit code and what it said, also cut into the steps it plays. */
export function startDemo(program: string, { args = [], env, limitMs }: Options) {
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...process.env, LOG_LEVEL: 'silent', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: limitMs,
  })
  const exited = once(child, 'exit')
  const run = async () => {
    const output = await text(child.stdout)
    const [code] = await exited
    return { code: code as number | null, output, steps: output.split(/^Step \d+ +/m).slice(1) }
  }
  return { child, done: run() }
}

/** What must be said in a step, whatever the order within it. */
export type Step = readonly [title: string, ...lines: string[]]

/** Fails unless the steps are those of the story, in its order. */
export function expectSteps(steps: readonly string[], scenario: readonly Step[]): void {
  expect(steps).toHaveLength(scenario.length)
  for (const [index, [title, ...lines]] of scenario.entries()) {
    expect(steps[index]).toMatch(new RegExp(`^${title}`))
    for (const line of lines) expect(steps[index]).toContain(line)
  }
}
