import { isDeepStrictEqual } from 'node:util'
import type { Context } from 'koa'
import { z } from 'zod'
import { toAppError } from '../errors/errors.ts'
import type { Endpoint, Handler } from './endpoint.ts'
import { errorResponsesOf } from './error-responses.ts'

const ErrorBody = z.strictObject({ error: z.string().min(1) })

/**
 * Holds every answer of an endpoint against its declaration, strictly: a status that it does not name and a key
 * that its schema does not name are faults too. A fault becomes a 500, so that no test overlooks it.
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
      if (!declared) throw fault(http, `refuses with ${status}, which it does not declare`, cause)
      if (!declared.has(code))
        throw fault(http, `refuses with ${status} ${code}, which it does not declare`, cause)
      throw cause
    }
    const problem = problemOf(spec, http, errorCases.has(http.status))
    if (problem !== undefined) throw fault(http, `answers ${http.status} with ${problem}`)
  }
}

/** What is wrong with the answer that stands in `http`, if anything. */
function problemOf(spec: Endpoint, http: Context, isError: boolean): string | undefined {
  const otherResponse = spec.otherResponses?.[http.status]
  if (otherResponse) return mismatch(otherResponse[1], http)
  if (isError) return mismatch(ErrorBody, http)
  if (http.status !== spec.response[0]) return 'a status that it does not declare'
  const type = http.response.type
  const download = spec.media?.includes(type) && (type !== 'application/json' || !spec.response[1])
  return download ? undefined : mismatch(spec.response[1], http)
}

function mismatch(schema: z.ZodType | undefined, http: Context): string | undefined {
  if (!schema)
    return http.body == null ? undefined : `a body of ${http.response.type}, which it does not declare`
  if (http.response.type !== 'application/json') return `${http.response.type || 'nothing'} instead of JSON`
  const sent: unknown = typeof http.body === 'string' ? JSON.parse(http.body) : toPlainJson(http.body)
  return differenceFrom(schema, sent)
}

const toPlainJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

/** In what a JSON value is not exactly what a schema describes; undefined when it is. */
export function differenceFrom(schema: z.ZodType, sent: unknown): string | undefined {
  const { success, data, error } = schema.safeParse(sent)
  if (!success) return z.prettifyError(error)
  const described = toPlainJson(data)
  return isDeepStrictEqual(described, sent)
    ? undefined
    : `what no schema describes: ${pathOfDifference(sent, described)}`
}

/** Path of the first value that differs. */
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
