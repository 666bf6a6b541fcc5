import type { Context, Middleware } from 'koa'
import SCIMMY from 'scimmy'
import {
  AppError,
  notAllowed,
  notFound,
  routeNotFound,
  toAppError,
  unauthorized,
} from '../../core/errors/errors.ts'
import { clientNetwork } from '../../core/http/client-address.ts'
import { hasBody } from '../../core/http/endpoint.ts'
import { readBody, SCIM_TYPE } from '../../core/http/json-body.ts'
import type { RateLimits } from '../../core/http/rate-limits.ts'
import { requireThreadTime } from '../../core/http/request-authorization.ts'
import type { ThreadTime } from '../../core/process/thread-time.ts'
import type { Provisioner, Scim } from './scim.service.ts'
import {
  declareSchemas,
  errorMessage,
  groupResource,
  isId,
  listMessage,
  parseFilter,
  patchGroup,
  patchUser,
  readGroup,
  readPatch,
  readUser,
  scimError,
  selectsMembers,
  userResource,
} from './scim-messages.ts'
import type { ScimTokens } from './scim-token.service.ts'

/** Entries of a page. */
const MAX_SCIM_PAGE = 200
const DEFAULT_PAGE = 100

interface Deps {
  readonly scim: Scim
  readonly scimTokens: ScimTokens
  readonly baseUrl: string
  readonly rateLimits: RateLimits
  readonly threadTime: Pick<ThreadTime, 'measure' | 'waitMs'>
  readonly report: (cause: unknown) => void
}

interface Request {
  readonly http: Context
  readonly by: Provisioner
  /** The address of the organization's SCIM server. */
  readonly base: string
  readonly id: string | undefined
}

interface Reply {
  readonly status: number
  readonly body?: unknown
  readonly location?: string | undefined
}

const PATH = /^\/scim\/v2\/([^/]+)(?:\/([^/]+)(?:\/([^/]+))?)?\/?$/
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** Serves SCIM 2.0 (RFC 7644) to the identity providers of organizations, below `/scim/v2/{organization}`. */
export function scimRoutes(deps: Deps): Middleware {
  declareSchemas()
  return async (http, next) => {
    if (!http.path.startsWith('/scim/')) return await next()
    try {
      const { status, body, location } = await answer(deps, http)
      http.status = status
      if (location !== undefined) http.set('Location', location)
      send(http, body)
    } catch (cause) {
      const error = toAppError(cause)
      const { status, body } = errorMessage(cause, error)
      if (status >= 500) deps.report(cause)
      http.status = status
      http.set({ ...(cause instanceof AppError ? error.headers : {}) })
      send(http, body)
      http.req.unpipe()
      http.req.resume() // unread bytes would block the next request on the connection
    }
  }
}

function send(http: Context, body: unknown): void {
  if (body === undefined) return
  http.body = JSON.stringify(body)
  http.type = SCIM_TYPE
}

async function answer(deps: Deps, http: Context): Promise<Reply> {
  const [, organizationId, type, id] = PATH.exec(http.path) ?? []
  if (organizationId === undefined || type === undefined) throw routeNotFound()
  const by = await authenticate(deps, http, organizationId)
  requireThreadTime(deps.threadTime, { userId: by.organizationId })
  const method = http.method === 'HEAD' ? 'GET' : http.method
  if (!METHODS.includes(method)) throw notAllowed(method, METHODS)
  const base = `${deps.baseUrl}/scim/v2/${by.organizationId}`
  const request = { http, by, base, id: id && safeDecode(id) }
  if (type === 'Users' || type === 'Groups') {
    if (request.id !== undefined && !isId(request.id)) throw notFound(type === 'Users' ? 'User' : 'Group')
    const resource = type === 'Users' ? users(deps, request) : groups(deps, request)
    const handler = resource[`${method}${id === undefined ? '' : ' one'}`]
    if (!handler)
      throw notAllowed(method, id === undefined ? ['GET', 'POST'] : ['GET', 'PUT', 'PATCH', 'DELETE'])
    return await handler()
  }
  const described = describe(type, request)
  if (method !== 'GET') throw notAllowed(method, ['GET'])
  return { status: 200, body: described }
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw notFound('Resource')
  }
}

/** Returns who sends a request. A token of another organization is as unknown as any other text. @throws 401 */
async function authenticate(deps: Deps, http: Context, organizationId: string): Promise<Provisioner> {
  const token = /^Bearer +([\w-]{1,100}) *$/i.exec(http.get('Authorization'))?.[1]
  const by = token === undefined ? undefined : await deps.scimTokens.resolve(token, organizationId)
  if (!by) {
    await deps.rateLimits.consume(http, 'failed-auth', clientNetwork(http))
    throw unauthorized(
      'token_invalid',
      'Send a SCIM token of this organization as Authorization: Bearer <token>.',
    )
  }
  await deps.rateLimits.consume(http, 'default', `scim:${by.tokenId}`)
  return by
}

/** Returns the JSON body of a request. @throws 400, 413, 415 */
async function bodyOf(http: Context): Promise<unknown> {
  if (!hasBody(http)) throw scimError(400, 'invalidSyntax', 'A JSON body is required.')
  if (!http.request.is('json', SCIM_TYPE))
    throw new AppError(
      415,
      'unsupported_media_type',
      `Content-Type must be ${SCIM_TYPE} or application/json.`,
    )
  await readBody(http, async () => {})
  return http.request.body
}

/** Returns a parameter of the query, the first one if it is repeated. */
function parameter({ query }: Context, name: string): string | undefined {
  const value = query[name]
  return Array.isArray(value) ? value[0] : value
}

const selectionOf = (http: Context) => ({
  attributes: parameter(http, 'attributes'),
  excludedAttributes: parameter(http, 'excludedAttributes'),
})

function pageOf(http: Context) {
  const filter = parameter(http, 'filter')
  return {
    filter: filter === undefined ? undefined : parseFilter(filter),
    startIndex: Math.max(1, integer(http, 'startIndex', 1)),
    count: Math.min(MAX_SCIM_PAGE, Math.max(0, integer(http, 'count', DEFAULT_PAGE))),
  }
}

function integer(http: Context, name: string, byDefault: number): number {
  const text = parameter(http, name)
  if (text === undefined || text === '') return byDefault
  if (!/^-?\d{1,9}$/.test(text)) throw scimError(400, 'invalidValue', `${name} must be a whole number.`)
  return Number(text)
}

type Handlers = Readonly<Record<string, (() => Promise<Reply>) | undefined>>

function users({ scim, threadTime }: Deps, { http, by, base, id = '' }: Request): Handlers {
  const measure = <T>(work: () => T): T => threadTime.measure('SCIM users', by.organizationId, work)
  const view = (row: Parameters<typeof userResource>[0]) =>
    measure(() => userResource(row, base, selectionOf(http)))
  const location = (userId: string) => `${base}/Users/${userId}`
  return {
    GET: async () => {
      const page = measure(() => pageOf(http))
      const { rows, total } = await scim.users(by.organizationId, page)
      return { status: 200, body: listMessage(rows.map(view), { startIndex: page.startIndex, total }) }
    },
    'GET one': async () => ({ status: 200, body: view(await scim.user(by.organizationId, id)) }),
    POST: async () => {
      const body = await bodyOf(http)
      const row = await scim.createUser(
        by,
        measure(() => readUser(body)),
      )
      return { status: 201, body: view(row), location: location(row.id) }
    },
    'PUT one': async () => {
      const body = await bodyOf(http)
      const input = measure(() => readUser(body))
      return { status: 200, body: view(await scim.updateUser(by, id, () => input)), location: location(id) }
    },
    'PATCH one': async () => {
      const body = await bodyOf(http)
      const operations = measure(() => readPatch(body))
      const row = await scim.updateUser(by, id, (current) => measure(() => patchUser(current, operations)))
      return { status: 200, body: view(row) }
    },
    'DELETE one': async () => {
      await scim.removeUser(by, id)
      return { status: 204 }
    },
  }
}

function groups({ scim, threadTime }: Deps, { http, by, base, id = '' }: Request): Handlers {
  const measure = <T>(work: () => T): T => threadTime.measure('SCIM groups', by.organizationId, work)
  const selection = selectionOf(http)
  const view = (row: Parameters<typeof groupResource>[0]) =>
    measure(() => groupResource(row, base, selection))
  const location = (groupId: string) => `${base}/Groups/${groupId}`
  return {
    GET: async () => {
      const page = measure(() => pageOf(http))
      const { rows, total } = await scim.groups(by.organizationId, page, selectsMembers(selection))
      return { status: 200, body: listMessage(rows.map(view), { startIndex: page.startIndex, total }) }
    },
    'GET one': async () => ({
      status: 200,
      body: view(await scim.group(by.organizationId, id, selectsMembers(selection))),
    }),
    POST: async () => {
      const body = await bodyOf(http)
      const row = await scim.createGroup(
        by,
        measure(() => readGroup(body)),
      )
      return { status: 201, body: view(row), location: location(row.id) }
    },
    'PUT one': async () => {
      const body = await bodyOf(http)
      const input = measure(() => readGroup(body))
      return { status: 200, body: view(await scim.updateGroup(by, id, () => input)), location: location(id) }
    },
    'PATCH one': async () => {
      const body = await bodyOf(http)
      const operations = measure(() => readPatch(body))
      const row = await scim.updateGroup(by, id, (current) => measure(() => patchGroup(current, operations)))
      return { status: 200, body: view(row) }
    },
    'DELETE one': async () => {
      await scim.removeGroup(by, id)
      return { status: 204 }
    },
  }
}

const CONFIG = {
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: MAX_SCIM_PAGE },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: false },
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'Bearer token',
      description: 'A SCIM token of the organization.',
      specUri: 'https://www.rfc-editor.org/info/rfc6750',
      primary: true,
    },
  ],
}

/** Returns what the server supports (RFC 7644, section 4). @throws 403, 404 */
function describe(type: string, { http, base, id }: Request): object {
  const { User, Group, EnterpriseUser } = SCIMMY.Schemas
  if (type === 'ServiceProviderConfig' && id === undefined)
    return {
      schemas: [SCIMMY.Schemas.ServiceProviderConfig.id],
      ...CONFIG,
      meta: { resourceType: 'ServiceProviderConfig', location: `${base}/ServiceProviderConfig` },
    }
  if (type !== 'Schemas' && type !== 'ResourceTypes') throw routeNotFound()
  if (http.query.filter !== undefined)
    throw new AppError(403, 'action_not_allowed', 'Schemas and resource types cannot be filtered.')
  const entries =
    type === 'Schemas'
      ? [User, EnterpriseUser, Group].map(({ definition }) => definition.describe(`${base}/Schemas`))
      : [User, Group].map(({ definition }) => ({
          schemas: [SCIMMY.Schemas.ResourceType.id],
          id: definition.name,
          name: definition.name,
          endpoint: `/${definition.name}s`,
          description: definition.description,
          schema: definition.id,
          ...(definition.name === 'User' && {
            schemaExtensions: [{ schema: EnterpriseUser.id, required: false }],
          }),
          meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/${definition.name}` },
        }))
  if (id === undefined) return listMessage(entries, { startIndex: 1, total: entries.length })
  const found = entries.find((entry) => entry.id === id)
  if (!found) throw notFound(type === 'Schemas' ? 'Schema' : 'Resource type')
  return found
}
