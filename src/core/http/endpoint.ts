import Router from '@koa/router'
import {
  type ApiKeyScope,
  type ErrorCode,
  type exampleIds,
  idOf,
  type OrganizationAction,
  type Role,
} from '@wheelhouse/protocol'
import type { Context } from 'koa'
import { z } from 'zod'
import { AppError, badRequest } from '../errors/errors.ts'
import type { Caller } from '../permissions/caller.ts'
import type { ThreadTime } from '../process/thread-time.ts'
import { sendRevalidated } from './conditional-get.ts'
import { parseOptions } from './validation-messages.ts'

/**
 * The callers that a route allows. `sessionOnly` rejects API keys with 403, and `person`, for what belongs to a person and to no
 * organization, service accounts and keys of teams. `action` is checked in the organization that the request acts for. `scope` is what an API key needs for a route without an action; by default `read` to read and `admin` otherwise.
 */
export type Access =
  | 'public'
  | {
      readonly role?: Role
      readonly action?: OrganizationAction
      readonly scope?: ApiKeyScope
      readonly sessionOnly?: boolean
      readonly person?: boolean
    }

export type { Caller } from '../permissions/caller.ts'

/** Rate limits that a public route can have instead of the one for its method. */
export type PublicLimit = 'video' | 'replay' | 'pairing'

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** Media types of bodies that are read as text. */
export const TEXT_TYPES = ['application/sdp', 'application/trickle-ice-sdpfrag'] as const
export type TextType = (typeof TEXT_TYPES)[number]

export interface Upload {
  readonly field: string
  readonly types: readonly string[]
  readonly maxBytes: number
}

/**
 * Additional headers of responses. Of a paged list: the total number of entries, and the cursor of the next page if there is one.
 * Of a created resource: its address, its version and related servers.
 */
export type ResponseHeader = 'X-Total-Count' | 'X-Next-Cursor' | 'Location' | 'ETag' | 'Link'

/** The cases of one error status: code → when it occurs. */
export type ErrorCasesByCode = Readonly<Partial<Record<ErrorCode, string>>>

export type ErrorResponses = Readonly<
  Partial<
    Record<
      400 | 401 | 403 | 404 | 408 | 409 | 410 | 412 | 413 | 415 | 416 | 422 | 428 | 429 | 502 | 503,
      ErrorCasesByCode
    >
  >
>

/** Successful responses other than the declared one: status → when it occurs, and its JSON body if it has one. */
export type OtherResponses = Readonly<
  Record<number, readonly [when: string, body?: z.ZodType, errorCode?: ErrorCode]>
>

type Parsed<S extends z.ZodType | undefined> = S extends z.ZodType ? z.output<S> : undefined

/**
 * The declaration of one route: its schemas, its access and its responses. The OpenAPI description is generated from
 * it.
 */
export interface Endpoint {
  readonly method: Method
  /** OpenAPI spelling: `/api/client/robots/{id}`. */
  readonly path: string
  readonly summary: string
  readonly access: Access
  /** The rate limit of a public route that verifies a credential itself. Default: the one of public reads or writes. */
  readonly publicLimit?: PublicLimit
  readonly params?: z.ZodType
  readonly query?: z.ZodType
  readonly body?: z.ZodType
  /** The media type of a body that is text. `run` gets it as `text`. */
  readonly textBody?: TextType
  /** One file in a multipart body. `run` reads it from `http.req`. */
  readonly upload?: Upload
  /** Success status and body. 204 has no body. */
  readonly response: readonly [status: number, body?: z.ZodType]
  /** Additional headers of the response. */
  readonly headers?: readonly ResponseHeader[]
  /** Fields of the response example that differ from the example of the schema. */
  readonly example?: Readonly<Record<string, unknown>>
  /** Media types of a response other than JSON, e.g. a download. `run` then sets `http.body`. */
  readonly media?: readonly string[]
  /** Whether the response is a list with an ETag, so that clients can revalidate a stored copy. */
  readonly list?: boolean
  /** The schema of a download whose media type is `application/json`. */
  readonly download?: z.ZodType
  /** The errors of this route in addition to those of its access and its input: status → code → when it occurs. */
  readonly errors?: ErrorResponses
  readonly otherResponses?: OtherResponses
  readonly run: (input: EndpointInput) => Promise<unknown>
}

interface EndpointInput {
  readonly caller: Caller | undefined
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  readonly text: string
  readonly http: Context
}

/** Declares a route. Infers the input of the handler from the schemas, and checks the type of its result. */
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
  publicLimit?: PublicLimit
  params?: P
  query?: Q
  body?: B
  textBody?: TextType
  upload?: Upload
  response: R
  headers?: readonly ResponseHeader[]
  example?: Partial<R[1] extends z.ZodType ? z.input<R[1]> : never>
  media?: readonly string[]
  list?: boolean
  download?: z.ZodType
  errors?: ErrorResponses
  otherResponses?: OtherResponses
  run: (input: {
    caller: A extends 'public' ? Caller | undefined : Caller
    params: Parsed<P>
    query: Parsed<Q>
    body: Parsed<B>
    /** The body of an endpoint with `textBody`; empty for others. */
    text: string
    http: Context
  }) => Promise<R[1] extends z.ZodType ? z.input<R[1]> : void>
}): Endpoint {
  return spec as unknown as Endpoint // the erased form: `mount` passes `run` exactly what the schemas produced
}

/** Wraps the work of a route, e.g. to replay the stored response to a repeated request. */
export type Interceptor = (
  http: Context,
  spec: Endpoint,
  caller: Caller | undefined,
  work: () => Promise<void>,
) => Promise<void>

export type Authenticate = (
  http: Context,
  access: Access,
  publicLimit?: PublicLimit,
) => Promise<Caller | undefined>

export type Handler = (http: Context) => Promise<void>
/** Wraps the complete handling of an endpoint. */
export type HandlerWrapper = (spec: Endpoint, handle: Handler) => Handler

/** Builds the router of a list of endpoints. Each request is authenticated and validated before `run`. */
export function mount(
  endpoints: readonly Endpoint[],
  deps: {
    authenticate: Authenticate
    interceptor?: Interceptor
    wrappers?: readonly HandlerWrapper[]
    threadTime?: ThreadTime | undefined
  },
): Router {
  const { authenticate, interceptor = passThrough, wrappers = [], threadTime } = deps
  const router = new Router({ sensitive: true, strict: true })
  for (const spec of endpoints) {
    const name = `${spec.method.toUpperCase()} ${spec.path}`
    const handle: Handler = async (http) => {
      const caller = await authenticate(http, spec.access, spec.publicLimit)
      const step = <T>(work: () => T): T =>
        threadTime ? threadTime.measure(name, caller?.userId, work) : work()
      const input = step(() => ({
        caller,
        params: spec.params?.parse(http.params, parseOptions),
        query: spec.query?.parse(http.query, parseOptions),
        body: spec.body ? spec.body.parse(jsonBody(http, isOptional(spec.body)), parseOptions) : undefined,
        text: spec.textBody ? textBody(http, spec.textBody) : '',
        http,
      }))
      await interceptor(http, spec, caller, async () => {
        http.status = spec.response[0] // a route may set another status
        const response = await step(() => spec.run(input))
        if (spec.list) sendRevalidated(http, response)
        else if (spec.response[1]) http.body = response
      })
    }
    const wrapped = wrappers.reduce((handler, wrap) => wrap(spec, handler), handle)
    router[spec.method](spec.path.replace(/\{(\w+)\}/g, ':$1'), wrapped)
  }
  return router
}

const passThrough: Interceptor = (_http, _spec, _caller, work) => work()

/**
 * Returns whether a repeated request with the same Idempotency-Key gets the stored response. Downloads and uploads do
 * not need it: downloads only read, and the newest upload replaces the previous one.
 */
export const supportsIdempotencyKey = ({ method, media, upload }: Endpoint): boolean =>
  method === 'post' && !media && !upload

/** Returns whether the request has a body. `Content-Length: 0` means no body. */
export function hasBody({ req }: Context): boolean {
  return req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0
}

/** Returns whether a request may omit the body. */
export const isOptional = (body: z.ZodType): boolean => body.safeParse(undefined).success

/** Returns the parsed JSON body. Rejects a body of another media type, instead of reading it as an empty object. */
function jsonBody(http: Context, optional: boolean): unknown {
  if (optional && !hasBody(http)) return undefined
  const type = http.request.is('json')
  if (type === false)
    throw new AppError(415, 'unsupported_media_type', 'Content-Type must be application/json')
  if (type === null) throw badRequest('A JSON body is required')
  return http.request.body
}

/** Returns the body of a request whose media type is text. */
function textBody(http: Context, type: TextType): string {
  if (!http.request.is(type)) {
    http.set('Accept-Post', type)
    throw new AppError(415, 'unsupported_media_type', `Content-Type must be ${type}`)
  }
  return String(http.request.body ?? '')
}

/**
 * Returns the schema of the path parameter `id` of one resource. Text that is not a UUID is a 400 that names the
 * parameter.
 */
export const idParams = (kind: keyof typeof exampleIds) => z.strictObject({ id: idOf(kind) })
