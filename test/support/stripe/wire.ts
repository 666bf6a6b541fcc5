import type { IncomingMessage } from 'node:http'
import { z } from 'zod'

/** A request as the provider parses it: v1 uses forms, v2 JSON. */
export interface StripeRequest {
  readonly method: string
  readonly path: string
  readonly idempotencyKey: string | undefined
  readonly params: Record<string, unknown>
}

/** An answer without an object. */
export class StripeRefusal extends Error {
  readonly status: number
  readonly body: { error: Record<string, unknown> }

  constructor(status: number, error: Record<string, unknown>) {
    super(String(error.message))
    this.status = status
    this.body = { error }
  }
}

export const invalid = (message: string, more: Record<string, unknown> = {}) =>
  new StripeRefusal(400, { type: 'invalid_request_error', message, ...more })

export const missing = (what: string, id: string) =>
  new StripeRefusal(404, {
    type: 'invalid_request_error',
    code: 'resource_missing',
    param: 'id',
    message: `No such ${what}: '${id}'`,
  })

export async function readRequest(request: IncomingMessage): Promise<StripeRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString()
  const url = new URL(request.url ?? '/', 'http://stripe')
  const key = request.headers['idempotency-key']
  const json = url.pathname.startsWith('/v2/') && text !== ''
  return {
    method: request.method ?? 'GET',
    path: url.pathname,
    idempotencyKey: typeof key === 'string' ? key : undefined,
    params: { ...fromForm(url.search.slice(1)), ...(json ? JSON.parse(text) : fromForm(text)) },
  }
}

/** Parses `a[b][0]=c` as nested objects and lists. */
function fromForm(text: string): Record<string, unknown> {
  const root: Record<string, unknown> = {}
  for (const [name, value] of new URLSearchParams(text)) {
    const path = name.split(/[[\]]+/).filter((part) => part !== '')
    let at = root
    for (const part of path.slice(0, -1)) {
      at[part] ??= {}
      at = at[part] as Record<string, unknown>
    }
    at[path.at(-1) as string] = value
  }
  return listed(root) as Record<string, unknown>
}

function listed(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, inner]) => [key, listed(inner)] as const)
  const isList = entries.length > 0 && entries.every(([key], index) => key === String(index))
  return isList ? entries.map(([, inner]) => inner) : Object.fromEntries(entries)
}

/** Compares parameters with those that the provider knows, and refuses others. */
export function checked<S extends z.ZodType>(schema: S, params: unknown): z.output<S> {
  const { success, data, error } = schema.safeParse(params)
  if (success) return data
  const [issue] = error.issues
  if (issue?.code === 'unrecognized_keys') {
    const param = [...issue.path, issue.keys[0]].join('.')
    throw invalid(`Received unknown parameter: ${param}`, { code: 'parameter_unknown', param })
  }
  const param = issue?.path.join('.') ?? ''
  throw invalid(`Invalid ${param}: ${issue?.message}`, { code: 'parameter_invalid', param })
}

/** Parameters that forms send as text. */
export const formInteger = z
  .string()
  .regex(/^-?\d+$/)
  .transform(Number)
export const formBoolean = z.enum(['true', 'false']).transform((text) => text === 'true')
export const metadata = z.record(z.string().max(40), z.string().max(500))
