import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect } from 'vitest'

interface Options {
  readonly args?: readonly string[]
  readonly env: Record<string, string | undefined>
  /** SIGTERM after this time: the demo prints in which step it hangs. */
  readonly limitMs: number
}

/** Runs a demo in a process; `done` is its exit code and its output, also split into its steps. */
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

/** The lines that a step must contain, in any order. */
export type Step = readonly [title: string, ...lines: string[]]

/** Fails unless the steps are the expected ones, in order. */
export function expectSteps(steps: readonly string[], scenario: readonly Step[]): void {
  expect(steps).toHaveLength(scenario.length)
  for (const [index, [title, ...lines]] of scenario.entries()) {
    expect(steps[index]).toMatch(new RegExp(`^${title}`))
    for (const line of lines) expect(steps[index]).toContain(line)
  }
}
