import { ApiError } from '@wheelhouse/sdk'

/**
 * Returns the errors of form fields in a rejected request, by field: `name: must not be empty; tags.0: …`, or
 * `hardware_id: cannot be registered. …`. Returns undefined for any other error, which the form shows as a whole.
 */
export function fieldErrors<F extends string>(
  error: unknown,
  fields: readonly F[],
): Partial<Record<F, string>> | undefined {
  if (!(error instanceof ApiError) || (error.status !== 400 && error.status !== 409)) return undefined
  const errors: Partial<Record<F, string>> = {}
  for (const issue of error.message.split('; ')) {
    const [, name, text] = /^(\w+)(?:\.\d+)?:? (.+)$/.exec(issue) ?? []
    const field = fields.find((known) => known === name)
    if (field === undefined || text === undefined) return undefined
    errors[field] = text.charAt(0).toUpperCase() + text.slice(1)
  }
  return errors
}
