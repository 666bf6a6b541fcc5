import { type ControlRules, ControlSchema, compileControlSchema } from '@wheelhouse/protocol'

/** Compiled schemas in this process; of more than that, the most recently used. */
const MAX_COMPILED = 256

/** By the JSON text of the schema; null for one that this version does not understand. */
const compiled = new Map<string, ControlRules | null>()

/** Returns the rules of a control schema, compiled once for all sessions; null without one. Not for each frame. */
export function controlRulesOf(schema: ControlSchema | null): ControlRules | null {
  if (schema === null) return null
  const text = JSON.stringify(schema)
  const known = compiled.get(text)
  const parsed = known === undefined ? ControlSchema.safeParse(schema) : undefined
  const rules = known ?? (parsed?.success ? compileControlSchema(parsed.data) : null)
  compiled.delete(text)
  compiled.set(text, rules)
  const oldest = compiled.keys().next().value
  if (compiled.size > MAX_COMPILED && oldest !== undefined) compiled.delete(oldest)
  return rules
}
