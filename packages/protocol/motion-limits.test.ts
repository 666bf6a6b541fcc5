import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ControlSchema, compileControlSchema } from './control-schema.ts'

interface Step {
  readonly at_ms: number
  readonly data: unknown
  readonly scale?: number
  readonly reset?: true
  readonly measured?: unknown
  readonly expect?: unknown
  readonly problem?: string
}
const cases: { name: string; schema: unknown; steps: Step[] }[] = JSON.parse(
  readFileSync(new URL('./control-limits.cases.json', import.meta.url), 'utf8'),
)

/** Rounds the numbers of a command: sums of rates and times are not exact. */
const rounded = (data: unknown) =>
  JSON.parse(
    JSON.stringify(data, (_, value) => (typeof value === 'number' ? Math.round(value * 1e9) / 1e9 : value)),
  )

test.each(cases)('$name', ({ schema, steps }) => {
  const rules = compileControlSchema(ControlSchema.parse(schema))
  const limiter = rules.createMotionLimiter()
  if (!limiter) throw new Error('the schema has no rates')
  for (const step of steps) {
    const before = structuredClone(step.data)
    if (step.reset) limiter.reset(step.measured)
    const problem = rules.problemOf(step.data)
    expect(problem).toBe(step.problem)
    if (problem !== undefined) continue
    const scale = step.scale ?? 1
    const slowed = scale < 1 ? rules.clamp(step.data, scale) : step.data
    expect(rounded(limiter.limit(slowed, step.at_ms, scale)), `at ${step.at_ms} ms`).toEqual(step.expect)
    expect(step.data, 'the command itself is not changed').toEqual(before)
  }
})
