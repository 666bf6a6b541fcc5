import { isDeepStrictEqual } from 'node:util'
import type { Context } from 'koa'
import { z } from 'zod'
import { toAppError } from '../errors/errors.ts'
import type { Endpoint, Handler } from './endpoint.ts'
import { errorResponsesOf, otherResponsesOf } from './error-responses.ts'

const ErrorBody = z.strictObject({ error: z.string().min(1) })

/**
 * Validates every response of an endpoint against its declaration. Undeclared statuses and keys that the schema does
 * not name are errors too. An error becomes a 500, so that every test notices it.
 */
export function validateResponses(spec: Endpoint, handle: Handler): Handler {
  const errorCases = errorResponsesOf(spec)
  const fault = (http: Context, what: string, cause?: unknown) =>
    new Error(`${http.method} ${spec.path} ${what}`, { cause })
  return async (http) => {
    try {
      await handle(http)
    } catch (cause) {
      const { status, code } = toAppError(cause)
      const declared = errorCases.get(status)
      if (!declared) throw fault(http, `responds with the undeclared status ${status}`, cause)
      if (!declared.has(code))
        throw fault(http, `responds with the undeclared error ${status} ${code}`, cause)
      throw cause
    }
    const problem = problemOf(spec, http, errorCases.has(http.status))
    if (problem !== undefined) throw fault(http, `answers ${http.status} with ${problem}`)
  }
}

/** Returns why the response in `http` does not match the declaration; undefined when it matches. */
function problemOf(spec: Endpoint, http: Context, isError: boolean): string | undefined {
  const otherResponse = otherResponsesOf(spec)[http.status]
  // A part of a download has its media type.
  if (otherResponse && http.status !== 206) return mismatch(otherResponse[1], http)
  if (isError) return mismatch(ErrorBody, http)
  if (http.status !== spec.response[0] && !otherResponse) return 'an undeclared status'
  const type = http.response.type
  const download = spec.media?.includes(type) && (type !== 'application/json' || !spec.response[1])
  return download ? undefined : mismatch(spec.response[1], http)
}

function mismatch(schema: z.ZodType | undefined, http: Context): string | undefined {
  if (!schema) return http.body == null ? undefined : `a body of the undeclared type ${http.response.type}`
  if (http.response.type !== 'application/json') return `${http.response.type || 'nothing'} instead of JSON`
  const sent: unknown = typeof http.body === 'string' ? JSON.parse(http.body) : toPlainJson(http.body)
  return differenceFrom(schema, sent)
}

const toPlainJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

/** Returns how a JSON value differs from the description of a schema; undefined when it is equal. */
export function differenceFrom(schema: z.ZodType, sent: unknown): string | undefined {
  const { success, data, error } = schema.safeParse(sent)
  if (!success) return z.prettifyError(error)
  const described = toPlainJson(data)
  return isDeepStrictEqual(described, sent)
    ? undefined
    : `a value that the schema does not describe: ${pathOfDifference(sent, described)}`
}

/** Returns the path of the first value that differs. */
function pathOfDifference(sent: unknown, described: unknown): string {
  if (!isRecord(sent) || !isRecord(described)) return ''
  const keys = new Set([...Object.keys(sent), ...Object.keys(described)])
  for (const key of keys) {
    if (isDeepStrictEqual(sent[key], described[key])) continue
    const rest = pathOfDifference(sent[key], described[key])
    return rest === '' ? key : `${key}.${rest}`
  }
  return ''
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null
