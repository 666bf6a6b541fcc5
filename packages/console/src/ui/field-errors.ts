import { ApiError } from '@wheelhouse/sdk'

/**
 * What a refusal says of single fields of a form, by field: `name: must not be empty; tags.0: …`, or
 * `hardware_id: already belongs to a robot. …`. Undefined when it says anything else, which is shown as a whole.
 */
export function fieldErrors<F extends string>(
  error: unknown,
  fields: readonly F[],
): Partial<Record<F, string>> | undefined {
  if (!(error instanceof ApiError) || (error.status !== 400 && error.status !== 409)) return undefined
  const found: Partial<Record<F, string>> = {}
  for (const issue of error.message.split('; ')) {
    const [, name, text] = /^(\w+)(?:\.\d+)?:? (.+)$/.exec(issue) ?? []
    const field = fields.find((known) => known === name)
    if (field === undefined || text === undefined) return undefined
    found[field] = text.charAt(0).toUpperCase() + text.slice(1)
  }
  return found
}
