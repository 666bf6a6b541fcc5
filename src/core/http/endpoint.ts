import Router from '@koa/router'
import { type ErrorCode, type exampleIds, idOf, type Role } from '@wheelhouse/protocol'
import type { Context } from 'koa'
import { z } from 'zod'
import { AppError, badRequest } from '../errors/errors.ts'
import { parseOptions } from './validation-messages.ts'

/** Who is calling, as proven by the credential of this request. */
export interface Caller {
  readonly userId: string
  readonly displayName: string
  readonly roles: readonly Role[]
  /** Another number later on means: the roles, or what an operator is certified for, may not be the same any more. */
  readonly permissionsVersion: number
  readonly credential:
    | {
        readonly kind: 'session'
        readonly expiresAt: Date
        readonly token: string
        readonly fromCookie: boolean
      }
    | { readonly kind: 'api_key'; readonly id: string; readonly expiresAt: Date | null }
}

/** What a route asks of its caller. `sessionOnly` refuses API keys with 403. */
export type Access = 'public' | { readonly role?: Role; readonly sessionOnly?: boolean }

export type Method = 'get' | 'post' | 'patch' | 'delete'

export interface Upload {
  readonly field: string
  readonly types: readonly string[]
  readonly maxBytes: number
}

/** How many entries a list has in all, which a page of it does not tell. */
export type ResponseHeader = 'X-Total-Count'

/** The cases in which a route answers with an error status: code → in which case. */
export type ErrorCasesByCode = Readonly<Partial<Record<ErrorCode, string>>>

export type ErrorResponses = Readonly<
  Partial<Record<400 | 403 | 404 | 408 | 409 | 410 | 413 | 415 | 422 | 429 | 502 | 503, ErrorCasesByCode>>
>

/** Answers besides the usual one that are no error: status → in which case, and its JSON body if it has one. */
export type OtherResponses = Readonly<
  Record<number, readonly [when: string, body?: z.ZodType, errorCode?: ErrorCode]>
>

type Parsed<S extends z.ZodType | undefined> = S extends z.ZodType ? z.output<S> : undefined

/** One route: what validates it, who may call it, what it answers. The description is made from the same. */
export interface Endpoint {
  readonly method: Method
  /** OpenAPI spelling: `/api/client/robots/{id}`. */
  readonly path: string
  readonly summary: string
  readonly access: Access
  readonly params?: z.ZodType
  readonly query?: z.ZodType
  readonly body?: z.ZodType
  /** One file in a multipart body, which `run` reads itself from `http.req`. */
  readonly upload?: Upload
  /** Success status and body; 204 has none. */
  readonly response: readonly [status: number, body?: z.ZodType]
  /** Headers of its own that its answer carries. */
  readonly headers?: readonly ResponseHeader[]
  /** Fields of the example of the answer that differ from those of its schema. */
  readonly example?: Readonly<Record<string, unknown>>
  /** Media types of an answer that is no JSON, e.g. a download; `run` then sets `http.body` itself. */
  readonly media?: readonly string[]
  /** What an `application/json` among them holds. */
  readonly download?: z.ZodType
  /** The errors of this route beyond those that its access and its input imply: status → code → in which case. */
  readonly errors?: ErrorResponses
  readonly otherResponses?: OtherResponses
  readonly run: (input: EndpointInput) => Promise<unknown>
}

interface EndpointInput {
  readonly caller: Caller | undefined
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  readonly http: Context
}

/** Declares a route; infers the handler's input from the schemas and checks its answer against its schema. */
export function endpoint<
  A extends Access,
  R extends readonly [status: number, body?: z.ZodType],
  P extends z.ZodType | undefined = undefined,
  Q extends z.ZodType | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
>(spec: {
  method: Method
  path: string
  summary: string
  access: A
  params?: P
  query?: Q
  body?: B
  upload?: Upload
  response: R
  headers?: readonly ResponseHeader[]
  example?: Partial<R[1] extends z.ZodType ? z.input<R[1]> : never>
  media?: readonly string[]
  download?: z.ZodType
  errors?: ErrorResponses
  otherResponses?: OtherResponses
  run: (input: {
    caller: A extends 'public' ? Caller | undefined : Caller
    params: Parsed<P>
    query: Parsed<Q>
    body: Parsed<B>
    http: Context
  }) => Promise<R[1] extends z.ZodType ? z.input<R[1]> : void>
}): Endpoint {
  return spec as unknown as Endpoint // the erased form: `mount` feeds `run` exactly what the schemas produced
}

/** Stands around the work of a route, e.g. to answer a repeated request without doing the work again. */
export type Interceptor = (
  http: Context,
  spec: Endpoint,
  caller: Caller | undefined,
  work: () => Promise<void>,
) => Promise<void>

export type Authenticate = (http: Context, access: Access) => Promise<Caller | undefined>

export type Handler = (http: Context) => Promise<void>
/** Stands around the whole handling of an endpoint, to look at what it answers. */
export type HandlerWrapper = (spec: Endpoint, handle: Handler) => Handler

/** Builds the router of a set of endpoints: authenticate, validate, run, answer. */
export function mount(
  endpoints: readonly Endpoint[],
  deps: { authenticate: Authenticate; interceptor?: Interceptor; check?: HandlerWrapper },
): Router {
  const { authenticate, interceptor = passThrough, check = unchecked } = deps
  const router = new Router({ sensitive: true, strict: true })
  for (const spec of endpoints) {
    const handle = async (http: Context) => {
      const caller = await authenticate(http, spec.access)
      const input = {
        caller,
        params: spec.params?.parse(http.params, parseOptions),
        query: spec.query?.parse(http.query, parseOptions),
        body: spec.body ? spec.body.parse(jsonBody(http, isOptional(spec.body)), parseOptions) : undefined,
        http,
      }
      await interceptor(http, spec, caller, async () => {
        http.status = spec.response[0] // a route may still set another itself
        const response = await spec.run(input)
        if (spec.response[1]) http.body = response
      })
    }
    router[spec.method](spec.path.replace(/\{(\w+)\}/g, ':$1'), check(spec, handle))
  }
  return router
}

const passThrough: Interceptor = (_http, _spec, _caller, work) => work()
const unchecked: HandlerWrapper = (_spec, handle) => handle

/**
 * Whether a repetition with the same Idempotency-Key gets the first answer. Downloads only read, and the newest
 * upload wins: both may be repeated as they are.
 */
export const supportsIdempotencyKey = ({ method, media, upload }: Endpoint): boolean =>
  method === 'post' && !media && !upload

/** Whether anything was sent behind the headers; `Content-Length: 0` is nothing. */
export function hasBody({ req }: Context): boolean {
  return req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0
}

/** Whether a body may be left out. */
export const isOptional = (body: z.ZodType): boolean => body.safeParse(undefined).success

/** The parsed JSON body. A body of another type is refused rather than read as an empty object. */
function jsonBody(http: Context, optional: boolean): unknown {
  if (optional && !hasBody(http)) return undefined
  const type = http.request.is('json')
  if (type === false)
    throw new AppError(415, 'unsupported_media_type', 'Content-Type must be application/json')
  if (type === null) throw badRequest('A JSON body is required')
  return http.request.body
}

/** Path parameter `id` of one kind of thing. Anything that is no UUID cannot exist, so it reads as 400 naming the parameter. */
export const idParams = (kind: keyof typeof exampleIds) => z.strictObject({ id: idOf(kind) })
